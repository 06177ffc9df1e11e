import type { Dispatcher } from 'undici';
import type { Clock, Timer } from '#base/clock.ts';
import { messageOf } from '#base/error-of.ts';
import { type ByteRequest, TransportError, type TransportFailure } from './transport.ts';

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** The status and headers of an answer; header names in lower case. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
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
 * One request of the undici transport from its call to its outcome: deadline, abort, the time of sending,
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
  #controller: Dispatcher.DispatchController | undefined;
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

  /**
   * Notes that the request is about to be written to the socket. What this throws keeps undici from writing it, and leaves
   * the connection to others.
   */
  start(controller: Dispatcher.DispatchController): void {
    if (this.#isSettled) throw new Error('the request was given up before it was sent');
    try {
      this.request.beforeSend?.();
    } catch (error) {
      this.settle(() => this.#rejectRaw(error));
      throw error instanceof Error ? error : new Error('beforeSend refused', { cause: error });
    }
    this.#controller = controller;
  }

  /** Takes the headers, which arrived. */
  answered(status: number, headers: Headers): void {
    const plain: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(', ') : value;
    }
    this.#head = { status, headers: plain };
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
    const failure = this.#controller === undefined ? 'not-sent' : 'connection';
    this.settle(() => this.#reject(this.#error(failure, cause)));
  }

  /** Destroys the connection of a reader that has left, unless the answer has ended. */
  cancel(): void {
    this.settle(() => this.#controller?.abort(new Error('the reader left')));
  }

  /** Ends the exchange from our side, as if its connection had broken. */
  breakOff(cause: unknown): void {
    const error = this.#error('connection', cause);
    this.settle(() => {
      this.#reject(error);
      this.#controller?.abort(error);
    });
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    if (!this.#isSettled) this.#controller?.resume();
  }

  #stop(failure: TransportFailure, cause: unknown): void {
    const controller = this.#controller;
    const error = this.#error(controller === undefined ? 'not-sent' : failure, cause, failure);
    this.settle(() => {
      this.#reject(error);
      controller?.abort(error);
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
      return cause instanceof Error ? messageOf(cause) : String(cause);
  }
}
