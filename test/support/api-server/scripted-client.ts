import type { CallOptions, Client, ListQuery, ListResult, WatchQuery } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { TransportError, type TransportStream } from '#kubernetes/transport/transport.ts';

/** A refusal shaped like the client's error. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly status: number;
  readonly retryAfter: number | undefined;

  constructor(status: number, retryAfter?: number) {
    super(`the server answered ${status}`);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** One watch answer that a test feeds, cuts, ends and breaks. */
export class ScriptedWatch implements TransportStream {
  readonly status = 200;
  readonly headers = {};
  readonly query: WatchQuery;
  #queue: Uint8Array[] = [];
  #end: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;
  #isLeft = false;

  constructor(query: WatchQuery, signal?: AbortSignal) {
    this.query = query;
    signal?.addEventListener('abort', () => {
      this.#queue = [];
      this.break(new TransportError('the watch was aborted', 'aborted'));
    });
  }

  /** Reports whether the reader has left, or the answer has ended. */
  get isOver(): boolean {
    return this.#isLeft || this.#end !== undefined;
  }

  /** Sends one event. */
  send(type: string, object: unknown): void {
    this.sendBytes(Buffer.from(lineOf(type, object)));
  }

  /** Sends a bookmark at `revision`, which marks the end of the initial events where `isEnd`. */
  bookmark(revision: number | string, isEnd = false): void {
    const annotations = isEnd ? { 'k8s.io/initial-events-end': 'true' } : {};
    this.send('BOOKMARK', { metadata: { resourceVersion: String(revision), annotations } });
  }

  /** Sends one chunk as it is. */
  sendBytes(chunk: Uint8Array): void {
    if (this.isOver) return;
    this.#queue.push(chunk);
    this.#wake?.();
  }

  /** Ends the answer cleanly. */
  end(): void {
    this.#end ??= {};
    this.#wake?.();
  }

  /** Breaks the connection. */
  break(error: Error = new TransportError('the connection was reset', 'connection')): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  get chunks(): AsyncIterable<Uint8Array> {
    return this.#read();
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#queue.shift();
        if (chunk !== undefined) yield chunk;
        else if (this.#end?.error !== undefined) throw this.#end.error;
        else if (this.#end !== undefined) return;
        else await this.#more();
      }
    } finally {
      this.#isLeft = true;
    }
  }

  #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    return promise;
  }
}

/** Returns one watch event as it is on the wire. */
export function lineOf(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** What a {@link ScriptedClient} does when it is asked; a test may replace either at any time. */
export interface ListWatchScript {
  list(query: ListQuery): ListResult | Promise<ListResult>;
  /** Takes the request before the stream is returned; throws to refuse. */
  watch(query: WatchQuery, stream: ScriptedWatch): void;
}

/** A client that only lists and watches, as its script says. */
export class ScriptedClient implements Client {
  script: ListWatchScript;
  /** The queries of all calls, oldest first. */
  readonly calls: (
    | { readonly verb: 'list'; readonly query: ListQuery }
    | { readonly verb: 'watch'; readonly query: WatchQuery }
  )[] = [];
  readonly watches: ScriptedWatch[] = [];

  constructor(script: ListWatchScript) {
    this.script = script;
  }

  /** Returns the newest watch. @throws when there was none */
  get watching(): ScriptedWatch {
    const last = this.watches.at(-1);
    if (last === undefined) throw new Error('Cannot find a watch as none was opened');
    return last;
  }

  async list(
    _type: ResourceType,
    query: ListQuery,
    options: CallOptions = {},
  ): Promise<ListResult> {
    this.calls.push({ verb: 'list', query });
    options.beforeSend?.();
    return this.script.list(query);
  }

  async watch(
    _type: ResourceType,
    query: WatchQuery,
    options: CallOptions = {},
  ): Promise<TransportStream> {
    this.calls.push({ verb: 'watch', query });
    options.beforeSend?.();
    const stream = new ScriptedWatch(query, options.signal);
    this.script.watch(query, stream);
    this.watches.push(stream);
    return stream;
  }

  get(): Promise<KubernetesObject> {
    return notScripted('get');
  }

  create(): Promise<KubernetesObject> {
    return notScripted('create');
  }

  replace(): Promise<KubernetesObject> {
    return notScripted('replace');
  }

  patch(): Promise<KubernetesObject> {
    return notScripted('patch');
  }

  delete(): Promise<undefined> {
    return notScripted('delete');
  }

  raw(): Promise<null> {
    return notScripted('raw');
  }
}

function notScripted(method: string): Promise<never> {
  return Promise.reject(new Error(`Cannot ${method} as the script has only lists and watches`));
}
