import { CallLanes } from '#base/async/call-lanes.ts';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { type Millis, type Monotonic, millis, monotonic, seconds } from '#base/units.ts';
import { type AllowedHosts, hostVerdict } from '#kubernetes/outgoing/allowed-hosts.ts';
import type { AddressRules } from '#kubernetes/outgoing/refused-address.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import type { ServerTrust } from '#kubernetes/transport/server-trust.ts';
import type { TransportResponse } from '#kubernetes/transport/transport.ts';
import { AnswerRoom } from '../http/answer-room.ts';
import { type Server, ServerPools } from '../http/server-pools.ts';
import {
  type Failure,
  failed,
  failureOf,
  type Mask,
  readingOf,
  shortened,
} from './prometheus-answer.ts';
import { type Hop, hopAfter, mostHops } from './prometheus-hop.ts';
import { type PrometheusUrl, queryTarget, readPrometheusUrl } from './prometheus-url.ts';
import { type QueryHeader, sentHeaders } from './query-headers.ts';
import type { QueryReading } from './reading.ts';
import { withoutSecret } from './without-secret.ts';

/** What is asked of a Prometheus server, and how it is reached. */
export interface PrometheusQuery extends ServerTrust {
  /** Base of the server, as a user wrote it. */
  readonly url: string;
  /** PromQL, as a user wrote it. */
  readonly expr: string;
  /** Sent with it; none of a name twice. @default none */
  readonly headers?: readonly QueryHeader[];
}

/** A query with what is secret. */
export interface PrometheusQuestion extends PrometheusQuery {
  /** Value of an `Authorization` header, see `parseCredentials`; goes before what the URL names. */
  readonly authorization?: string;
  /** Values of the headers that have a key of the Secret, by that key. */
  readonly secretValues?: Readonly<Record<string, string>>;
}

/** Settings of {@link createPrometheus}. Addresses of this host, of its link and of metadata services are not called. */
export interface PrometheusOptions extends AddressRules {
  readonly clock: Clock;
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are looked up. */
  readonly env: Environment;
  /** The only hosts that are asked; none in the list: all of them. @default all of them */
  readonly hosts?: AllowedHosts;
  /** From when a question has its turn to the last byte of its answer, redirects and all. @default 5 s */
  readonly timeout?: Millis;
  /** Longest answer that is read, in bytes. An object takes many times the bytes that name it in an answer. @default 64 KiB */
  readonly longestAnswer?: number;
  /** Longest that all answers which are read at the same time are together, in bytes. @default 1 MiB */
  readonly answerRoom?: number;
  /** Questions that one server is asked at once with the same credentials. @default 8 */
  readonly concurrency?: number;
}

/** How a question is followed. */
export interface Asking {
  /** Gives the question up. */
  readonly signal: AbortSignal;
  /** Told when the question has its turn. */
  readonly sent?: () => void;
}

/** Prometheus servers, asked over the network. */
export interface Prometheus {
  /** Asks, and reads the whole answer. Never rejects: what goes wrong is a reading, too. */
  read(question: PrometheusQuestion, asking: Asking): Promise<QueryReading>;
  /** Gives up all questions, and ends all connections. */
  close(): Promise<void>;
}

const userAgent = 'rollout-operator';

/** Returns what asks Prometheus servers by their HTTP API, as the peer does. */
export function createPrometheus(options: PrometheusOptions): Prometheus {
  return new HttpPrometheus(options);
}

class HttpPrometheus implements Prometheus {
  readonly #clock: Clock;
  readonly #timeout: Millis;
  readonly #longestAnswer: number;
  readonly #hosts: AllowedHosts | undefined;
  readonly #room: AnswerRoom;
  readonly #lanes: CallLanes;
  readonly #pools: ServerPools;
  readonly #closing = new AbortController();

  constructor(options: PrometheusOptions) {
    const {
      clock,
      env,
      hosts,
      permitsLoopback = false,
      timeout = seconds(5),
      longestAnswer = 65_536,
      answerRoom = 1_048_576,
      concurrency = 8,
    } = options;
    this.#clock = clock;
    this.#hosts = hosts;
    this.#timeout = timeout;
    this.#longestAnswer = longestAnswer;
    this.#room = new AnswerRoom(answerRoom);
    this.#lanes = new CallLanes(concurrency);
    this.#pools = new ServerPools({
      clock,
      env,
      connections: concurrency,
      addresses: { permitsLoopback },
    });
  }

  async read(question: PrometheusQuestion, asking: Asking): Promise<QueryReading> {
    const found = readPrometheusUrl(question.url);
    switch (found.kind) {
      case 'malformed':
        return failed(
          'BadConfiguration',
          `Cannot ask Prometheus, as its URL is invalid: ${found.why}`,
        );
      case 'unusable':
        return failed('Unreachable', `Cannot ask Prometheus by its URL: ${found.why}`);
      default: {
        const where = `${found.url.origin}${found.url.path}`;
        const refused = this.#refusalOf(found.url);
        const read = refused ?? (await this.#inTurn(question, found.url, asking));
        if (read.kind !== 'error') return read;
        return failed(read.reason, `Cannot ask ${shortened(where)}: ${read.message}`);
      }
    }
  }

  #refusalOf({ origin }: PrometheusUrl): Failure | undefined {
    if (this.#hosts === undefined || this.#hosts.entries.length === 0) return undefined;
    const verdict = hostVerdict(this.#hosts, new URL(origin));
    return verdict.kind === 'refused' ? failed('BadConfiguration', verdict.why) : undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#pools.close();
  }

  async #inTurn(
    question: PrometheusQuestion,
    url: PrometheusUrl,
    asking: Asking,
  ): Promise<QueryReading> {
    const { isInsecure = false, authorities, secretValues = {} } = question;
    const authorization = question.authorization ?? url.authorization;
    const headers = sentHeaders(question.headers ?? [], secretValues);
    if (headers === undefined) return withoutValue;
    const signal = AbortSignal.any([asking.signal, this.#closing.signal]);
    const trust = { isInsecure, ...(authorities !== undefined && { authorities }) };
    const server: Server = {
      key: keyOf([url.origin, authorization, isInsecure, authorities, headers]),
      trust,
    };
    const leave = await this.#lanes.enter(server.key, signal);
    if (leave === undefined) return givenUp;
    this.#pools.enter(server);
    asking.sent?.();
    try {
      const start = { url: new URL(url.origin), target: queryTarget(url, question.expr), headers };
      const hop = authorization === undefined ? start : { ...start, authorization };
      const deadline = monotonic(this.#clock.monotonic() + this.#timeout);
      const masked = (text = ''): string =>
        withoutSecret(text, authorization, Object.values(secretValues));
      return await this.#follow(hop, { server, signal, deadline, masked });
    } finally {
      this.#pools.leave(server);
      leave();
    }
  }

  async #follow(first: Hop, way: Way): Promise<QueryReading> {
    let hop = first;
    for (let hops = 1; ; hops += 1) {
      const answer = await this.#send(hop, way);
      if ('kind' in answer) return answer;
      const { status, headers } = answer;
      const { location = '' } = headers;
      const next = hopAfter(hop, { status, location });
      if (next === undefined) return readingOf(answer, way.masked);
      if (next.kind === 'misdirected') return failed('Misdirected', next.why);
      if (hops === mostHops) {
        return failed('Misdirected', `it redirects more than ${mostHops - 1} times`);
      }
      hop = next.hop;
    }
  }

  async #send(hop: Hop, { server, signal, deadline }: Way): Promise<TransportResponse | Failure> {
    const timeout = millis(Math.max(0, deadline - this.#clock.monotonic()));
    const { authorization } = hop;
    const headers = {
      ...hop.headers,
      'user-agent': userAgent,
      ...(authorization !== undefined && { authorization }),
    };
    const place = this.#room.enter();
    const whose = AbortSignal.any([signal, place.signal]);
    try {
      const transport = this.#pools.transport(server, hop.url);
      const request = { method: 'GET', path: hop.target, headers, signal: whose, timeout } as const;
      const onBytes = (bytes: number): void => place.take(bytes);
      const limits = { longestAnswer: this.#longestAnswer, onBytes };
      return await transport.request({ ...request, ...limits });
    } catch (error) {
      if (signal.aborted) return givenUp;
      if (place.signal.aborted) return noRoom;
      if (this.#clock.monotonic() < deadline) return failureOf(errorOf(error), hop);
      return failed('TimedOut', `no whole answer within ${this.#timeout} ms`);
    } finally {
      place.leave();
    }
  }
}

/** What all requests of one question share. */
interface Way {
  readonly server: Server;
  readonly signal: AbortSignal;
  readonly deadline: Monotonic;
  readonly masked: Mask;
}

const givenUp: Failure = { kind: 'error', reason: 'GivenUp', message: 'the question was given up' };

const withoutValue: Failure = {
  kind: 'error',
  reason: 'BadConfiguration',
  message: 'a header has no value, as its Secret has none',
};

const noRoom: Failure = {
  kind: 'error',
  reason: 'TooLong',
  message: 'too much is answered at once, and its answer is the longest',
};

/** Joins parts to a key. Credentials are part of it: requests with one must not wait for requests with another. */
function keyOf(parts: readonly unknown[]): string {
  return JSON.stringify(parts.map((each) => each ?? null));
}
