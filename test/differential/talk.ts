/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the conversation */
/** Scripted conversations with an API server, and what was said in them (LN-3). */

import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import type { Method, Transport } from '#kubernetes/transport/transport.ts';

/** One answer, parsed where it is JSON. */
export interface Said {
  readonly status: number;
  readonly body: any;
}

/** A watch in a conversation. */
export interface TalkWatch {
  /** Waits until `count` events have come, bookmarks of the minute not counted, or the watch is over. */
  seen(count: number): Promise<readonly { readonly type: string; readonly object: any }[]>;
}

/** What a conversation speaks through; each answer goes into the transcript. */
export interface Talk {
  /** A namespace of this conversation alone. */
  readonly namespace: string;
  send(
    method: Method,
    path: string,
    ...rest: readonly [body?: JsonValue | undefined, headers?: Readonly<Record<string, string>>]
  ): Promise<Said>;
  watch(path: string): Promise<TalkWatch>;
  /** As {@link send}, without a trace in the transcript: for what only waits. */
  ask(method: Method, path: string, body?: JsonValue): Promise<Said>;
  /** Puts `answer` into the transcript. */
  note(said: string, answer: JsonObject): void;
  /** Lets a moment of real time pass. */
  pause(): Promise<void>;
}

/** A script; keyed by a sentence elsewhere. */
export type Conversation = (talk: Talk) => Promise<void>;

/** What was said, in order. */
export interface Transcript {
  readonly steps: readonly { readonly said: string; readonly answer: JsonObject }[];
}

/** How long a conversation waits for an event before it gives up. */
const patience = seconds(5);
const headersOfInterest = ['content-type', 'warning', 'retry-after'];

/** Holds `conversation` with one server. */
export async function hold(
  conversation: Conversation,
  server: { readonly transport: Transport; readonly clock: Clock; readonly namespace: string },
): Promise<Transcript> {
  const recording = new Recording(server);
  await recording.prepare();
  try {
    await conversation(recording);
  } catch (error) {
    recording.note('broke off', { error: errorOf(error).message });
  }
  recording.end();
  return recording;
}

class Recording implements Talk, Transcript {
  readonly steps: { readonly said: string; readonly answer: JsonObject }[] = [];
  readonly namespace: string;
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #ending = new AbortController();

  constructor(server: { transport: Transport; clock: Clock; namespace: string }) {
    this.namespace = server.namespace;
    this.#transport = server.transport;
    this.#clock = server.clock;
  }

  /**
   * No controller runs here: what they would make is made by hand. The account's token is mounted nowhere, as the
   * embedded cluster has no ServiceAccount admission.
   */
  async prepare(): Promise<void> {
    const { namespace } = this;
    await this.#ask('POST', '/api/v1/namespaces', [{ metadata: { name: namespace } }]);
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await this.#ask('POST', accounts, [
      { metadata: { name: 'default' }, automountServiceAccountToken: false },
    ]);
  }

  async send(
    method: Method,
    path: string,
    ...rest: readonly [body?: JsonValue | undefined, headers?: Readonly<Record<string, string>>]
  ): Promise<Said> {
    const { answer, said } = await this.#ask(method, path, rest);
    this.note(`${method} ${path}`, answer);
    return said;
  }

  async ask(method: Method, path: string, body?: JsonValue): Promise<Said> {
    const { said } = await this.#ask(method, path, body === undefined ? [] : [body]);
    return said;
  }

  pause(): Promise<void> {
    return this.#clock.sleep(seconds(0.1));
  }

  async watch(path: string): Promise<TalkWatch> {
    const { signal } = this.#ending;
    const stream = await this.#transport.stream({ method: 'GET', path, signal });
    const events: { type: string; object: any }[] = [];
    let isOver = false;
    let wake = (): void => undefined;
    const read = async (): Promise<void> => {
      const decoder = new TextDecoder();
      let rest = '';
      for await (const chunk of stream.chunks) {
        const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) events.push(JSON.parse(line));
        wake();
      }
    };
    read()
      .catch(() => undefined)
      .finally(() => {
        isOver = true;
        wake();
      });
    let told = 0;
    return {
      seen: async (count) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const late = this.#clock.timer(patience, resolve);
        wake = () => {
          if (isOver || events.length >= count) resolve();
        };
        wake();
        await promise;
        late.cancel();
        const news = events.slice(told, count);
        told = Math.max(told, count);
        this.note(`WATCH ${path}`, { status: stream.status, events: news });
        return events;
      },
    };
  }

  note(said: string, answer: JsonObject): void {
    this.steps.push({ said: said.replaceAll(this.namespace, '{ns}'), answer });
  }

  end(): void {
    this.#ending.abort();
  }

  async #ask(
    method: Method,
    path: string,
    [body, headers = {}]: readonly [
      body?: JsonValue | undefined,
      headers?: Readonly<Record<string, string>>,
    ],
  ): Promise<{ readonly answer: JsonObject; readonly said: Said }> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await this.#transport.request({
      method,
      path,
      headers: { 'content-type': type, accept: 'application/json', ...headers },
      timeout: seconds(20),
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = Buffer.from(response.body).toString();
    const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
    const parsed: JsonValue = isJson ? JSON.parse(text) : text;
    const chosen = headersOfInterest.flatMap((name) => {
      const value = response.headers[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    const answer = { status: response.status, ...Object.fromEntries(chosen), body: parsed };
    return { answer, said: { status: response.status, body: parsed } };
  }
}
