import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { errorOf, messageOf } from '#base/error-of.ts';
import { causeOf } from '#kubernetes/transport/http-failure.ts';
import { request } from './http-request.ts';
import type { NoAnswer } from './pod-http.ts';
import { PodLine } from './pod-line.ts';
import type { Hop } from './redirect.ts';

/** What one request to a pod goes out with. */
export interface RoundTripContext {
  readonly headers: Readonly<Record<string, string>>;
  /** URL of the proxy to go through. */
  readonly proxy: string | undefined;
  /** Longest body that is read, in bytes. */
  readonly maxBody: number;
  /** Ends the request; its reason is why. */
  readonly ending: AbortSignal;
}

/** The answer to one request, a redirect too, or why there is none. */
export type HopAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly location: string;
      readonly contentType: string;
      readonly body: string;
    }
  | { readonly kind: NoAnswer; readonly why: string; readonly isSent: boolean };

/** Sends `hop` over a connection of its own, which is gone when this resolves. Never rejects. */
export async function roundTrip(hop: Hop, context: RoundTripContext): Promise<HopAnswer> {
  try {
    return await new RoundTrip(hop, context).answer;
  } catch (error) {
    return { kind: 'unreachable', why: messageOf(errorOf(error)), isSent: false };
  }
}

class RoundTrip {
  readonly answer: Promise<HopAnswer>;
  readonly #line: PodLine;
  readonly #context: RoundTripContext;
  readonly #resolve: (answer: HopAnswer) => void;
  readonly #chunks: Buffer[] = [];
  #length = 0;
  #isSent = false;
  #answered: IncomingMessage | undefined;

  constructor(hop: Hop, context: RoundTripContext) {
    const { promise, resolve } = Promise.withResolvers<HopAnswer>();
    // Not within an event of the request: node:http goes on with the connection after it. Were that gone at once, as TLS
    // through a tunnel can be, it would free its parser twice, and give one parser to two of the next connections.
    this.answer = promise.finally(() => this.#line.destroy());
    this.#resolve = resolve;
    this.#context = context;
    this.#line = new PodLine(hop, context.proxy === undefined ? undefined : new URL(context.proxy));
    context.ending.addEventListener('abort', this.#giveUp, { once: true });
    if (context.ending.aborted) this.#giveUp();
    else void this.#send(hop);
  }

  async #send(hop: Hop): Promise<void> {
    try {
      this.#sendOver(await this.#line.open(), hop);
    } catch (error) {
      this.#fail(errorOf(error));
    }
  }

  #sendOver(socket: Socket, { method, host }: Hop): void {
    const { path, headers } = this.#line;
    const sent = request({
      method,
      path,
      // Host stands first (RFC 9112, 3.2), and no header of the call replaces one of the line.
      headers: { host, ...this.#context.headers, ...headers },
      createConnection: () => socket,
    });
    this.#isSent = true;
    sent.once('response', (answer) => this.#read(answer));
    // An answer like any other, to us; without a listener no event would come at all.
    sent.once('upgrade', (answer) => this.#read(answer));
    sent.on('error', (error) => this.#fail(error));
    sent.end();
  }

  #read(answer: IncomingMessage): void {
    const { statusCode: status = 0, headers } = answer;
    if (status < 200) {
      this.#fail(new Error(`it answers ${status}, which is no final status`));
      return;
    }
    this.#answered = answer;
    answer.on('data', (chunk: Buffer) => this.#take(chunk));
    answer.on('error', (error) => this.#fail(error));
    answer.once('end', () => {
      const { location = '', 'content-type': contentType = '' } = headers;
      const body = Buffer.concat(this.#chunks).toString();
      this.#end({ kind: 'answered', status, location, contentType, body });
    });
  }

  readonly #giveUp = (): void => {
    const kind = this.#context.ending.reason === 'timed-out' ? 'timed-out' : 'aborted';
    this.#end({ kind, why: '', isSent: this.#isSent });
  };

  #take(chunk: Buffer): void {
    this.#length += chunk.byteLength;
    if (this.#length <= this.#context.maxBody) {
      this.#chunks.push(chunk);
      return;
    }
    const why = `the answer is longer than ${this.#context.maxBody} bytes`;
    this.#end({ kind: 'too-large', why, isSent: true });
  }

  #fail(error: Error): void {
    // What comes after a whole answer, such as bytes that belong to none, takes nothing from it.
    if (this.#answered?.complete === true) return;
    const why = causeOf(error);
    if (this.#isSent) this.#end({ kind: 'broken', why, isSent: true });
    // A proxy that refuses says nothing of the pod.
    else if (isRefusal(error) && this.#context.proxy === undefined) {
      this.#end({ kind: 'refused', why, isSent: false });
    } else this.#end({ kind: 'unreachable', why, isSent: false });
  }

  /** Ends with the first outcome; the end of the connection has events, too. */
  #end(answer: HopAnswer): void {
    this.#context.ending.removeEventListener('abort', this.#giveUp);
    this.#resolve(answer);
  }
}

function isRefusal(error: Error): boolean {
  return 'code' in error && error.code === 'ECONNREFUSED';
}
