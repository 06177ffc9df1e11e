import { errorOf, messageOf } from '#base/error-of.ts';
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
  readonly #chunks: Uint8Array[] = [];
  #length = 0;
  #isSent = false;
  #head = { status: 0, location: '', contentType: '' };

  constructor(hop: Hop, context: RoundTripContext) {
    const { promise, resolve } = Promise.withResolvers<HopAnswer>();
    this.answer = promise;
    this.#resolve = resolve;
    this.#context = context;
    this.#line = new PodLine(hop, context.proxy === undefined ? undefined : new URL(context.proxy));
    context.ending.addEventListener('abort', this.#giveUp, { once: true });
    if (context.ending.aborted) this.#giveUp();
    else this.#dispatch(hop);
  }

  #dispatch(hop: Hop): void {
    const { path, headers } = this.#line;
    const request = {
      path,
      method: hop.method,
      headers: { ...this.#context.headers, ...headers },
      body: null,
    };
    this.#line.client.dispatch(request, {
      onRequestStart: () => {
        this.#isSent = true;
      },
      onResponseStart: (_, status, answered) => {
        const location = textHeader(answered['location']);
        this.#head = { status, location, contentType: textHeader(answered['content-type']) };
      },
      onResponseData: (_, chunk) => this.#take(chunk),
      onResponseEnd: () => {
        const body = Buffer.concat(this.#chunks).toString();
        this.#end({ kind: 'answered', ...this.#head, body });
      },
      onResponseError: (_, error) => this.#fail(error),
    });
  }

  readonly #giveUp = (): void => {
    const kind = this.#context.ending.reason === 'timed-out' ? 'timed-out' : 'aborted';
    this.#end({ kind, why: '', isSent: this.#isSent });
  };

  #take(chunk: Uint8Array): void {
    this.#length += chunk.byteLength;
    if (this.#length <= this.#context.maxBody) {
      this.#chunks.push(chunk);
      return;
    }
    const why = `the answer is longer than ${this.#context.maxBody} bytes`;
    this.#end({ kind: 'too-large', why, isSent: true });
  }

  #fail(error: unknown): void {
    const why = messageOf(errorOf(error));
    if (this.#isSent) this.#end({ kind: 'broken', why, isSent: true });
    // A proxy that refuses says nothing of the pod.
    else if (isRefusal(error) && this.#context.proxy === undefined) {
      this.#end({ kind: 'refused', why, isSent: false });
    } else this.#end({ kind: 'unreachable', why, isSent: false });
  }

  /** Ends with the first outcome; undici goes on telling of the end of the connection. */
  #end(answer: HopAnswer): void {
    this.#context.ending.removeEventListener('abort', this.#giveUp);
    this.#resolve(answer);
    this.#line.destroy();
  }
}

function textHeader(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}
