import type { IncomingMessage } from 'node:http';
import type { Clock, Timer } from '#base/clock.ts';
import { causeOf } from './http-failure.ts';
import { type ByteRequest, TransportError, type TransportFailure } from './transport.ts';

/** The status and headers of an answer; header names in lower case. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Something that is under way for an exchange. */
interface Underway {
  readonly destroy: (cause?: Error) => unknown;
}

interface ExchangeContext {
  readonly clock: Clock;
  /** Origin of the server, for messages. */
  readonly server: string;
  /** Aborts when the transport closes. */
  readonly closing: AbortSignal;
  readonly reject: (error: unknown) => void;
}

/**
 * One request of the HTTP transport from its call to its outcome: deadline, abort, the time of sending,
 * and exactly one settlement. Knows whether anything can have left the process (`not-sent`).
 */
export class Exchange {
  readonly request: ByteRequest;
  readonly #server: string;
  readonly #signals: readonly AbortSignal[];
  readonly #onAbort: () => void;
  #reject: (error: TransportError) => void;
  #rejectRaw: (error: unknown) => void;
  #deadline: Timer | undefined;
  #sent: Underway | undefined;
  #answer: IncomingMessage | undefined;
  #hasStarted = false;
  #head: AnswerHead = { status: 0, headers: {} };
  #isSettled = false;

  constructor(request: ByteRequest, context: ExchangeContext) {
    this.request = request;
    this.#server = context.server;
    this.#reject = context.reject;
    this.#rejectRaw = context.reject;
    const { signal, timeout } = request;
    this.#signals = signal === undefined ? [context.closing] : [signal, context.closing];
    this.#onAbort = () =>
      this.#stop('aborted', signal?.aborted === true ? signal.reason : undefined);
    if (this.#signals.some((each) => each.aborted)) {
      this.#onAbort();
      return;
    }
    for (const each of this.#signals) each.addEventListener('abort', this.#onAbort, { once: true });
    if (timeout !== undefined) {
      this.#deadline = context.clock.timer(timeout, () => this.#stop('timeout', undefined), {
        owner: 'request deadline',
        background: true,
      });
    }
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  get head(): AnswerHead {
    return this.#head;
  }

  /** Takes what ends the exchange where it is given up: first its wait for a place, then its request. */
  begin(sent: Underway): void {
    this.#sent = sent;
  }

  /** Notes that the request is about to be written to the socket. @returns whether it may be */
  start(): boolean {
    if (this.#isSettled) return false;
    try {
      this.request.beforeSend?.();
    } catch (error) {
      this.settle(() => this.#rejectRaw(error));
    }
    // The check may also have given the request up by its signal, or by closing the transport.
    this.#hasStarted = !this.isSettled;
    return this.#hasStarted;
  }

  /** Takes the headers, which arrived. */
  answered(answer: IncomingMessage): void {
    const { statusCode = 0, headers } = answer;
    const plain: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(', ') : value;
    }
    this.#answer = answer;
    this.#head = { status: statusCode, headers: plain };
  }

  /** Ends the deadline, and hands failures to the reader: from the headers of a stream on. */
  continueAs(fail: (error: TransportError) => void): void {
    this.#deadline?.cancel();
    this.#reject = fail;
  }

  /** Runs `outcome` if this is the first outcome, and lets go of deadline and signals. */
  settle(outcome: () => void): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#deadline?.cancel();
    for (const each of this.#signals) each.removeEventListener('abort', this.#onAbort);
    outcome();
  }

  /** Notes that the connection failed, or there was none. */
  fail(cause: unknown): void {
    const failure = this.#hasStarted ? 'connection' : 'not-sent';
    this.settle(() => this.#reject(this.#error(failure, cause)));
  }

  /** Destroys the connection of a reader that has left, unless the answer has ended. */
  cancel(): void {
    this.settle(() => this.#sent?.destroy(new Error('the reader left')));
  }

  /** Ends the exchange from our side, as if its connection had broken. */
  breakOff(cause: unknown): void {
    const error = this.#error('connection', cause);
    this.settle(() => {
      this.#reject(error);
      this.#sent?.destroy(error);
    });
  }

  pause(): void {
    this.#answer?.pause();
  }

  resume(): void {
    if (!this.#isSettled) this.#answer?.resume();
  }

  #stop(failure: TransportFailure, cause: unknown): void {
    const error = this.#error(this.#hasStarted ? failure : 'not-sent', cause, failure);
    this.settle(() => {
      this.#reject(error);
      this.#sent?.destroy(error);
    });
  }

  #error(
    failure: TransportFailure,
    cause: unknown,
    seen: TransportFailure = failure,
  ): TransportError {
    const { method, path } = this.request;
    const why = explain(seen, cause, this.request);
    const sent = failure === 'not-sent' ? ', it was not sent' : '';
    const options = cause === undefined ? {} : { cause };
    return new TransportError(
      `Cannot ${method} ${path} at ${this.#server}: ${why}${sent}`,
      failure,
      options,
    );
  }
}

function explain(failure: TransportFailure, cause: unknown, request: ByteRequest): string {
  switch (failure) {
    case 'timeout':
      return `no whole answer within ${request.timeout ?? 0} ms`;
    case 'aborted':
      return 'the call was aborted';
    default:
      return cause instanceof Error ? causeOf(cause) : String(cause);
  }
}
