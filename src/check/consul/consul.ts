import { readBegin } from '#base/async/read-begin.ts';
import type { Clock } from '#base/clock.ts';
import { errorOf, messageOf } from '#base/error-of.ts';
import { invalid, type Parsed, problemText } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import { openTransport } from '#kubernetes/connect/connection.ts';
import type { ByteTransport } from '#kubernetes/transport/http-transport.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import type { TlsSettings } from '#kubernetes/transport/tls-settings.ts';
import { TransportError, type TransportStream } from '#kubernetes/transport/transport.ts';
import { indexAfter, noIndex } from './consul-index.ts';
import {
  type PodKeys,
  ServiceHealthReader,
  type ServiceInstance,
  usualPodKeys,
} from './parse-consul.ts';

/** Which instances are asked for. */
export interface ConsulQuestion {
  readonly service: string;
  /** @default that of the agent */
  readonly datacenter?: string | undefined;
  /** Of Consul Enterprise. */
  readonly namespace?: string | undefined;
  /** Of Consul Enterprise. */
  readonly partition?: string | undefined;
}

/** How a question is asked. */
export interface ConsulAsking {
  /** Of the answer before; the next one comes once something has changed, or some time has passed. */
  readonly index: bigint;
  readonly token: string | undefined;
  /** Asks the leader, whatever the settings say. */
  readonly isLeaderAsked: boolean;
  readonly signal: AbortSignal;
}

/** Why Consul does not say how the instances are. */
export type ConsulTrouble =
  | 'ConsulUnavailable'
  | 'ConsulPermissionDenied'
  | 'ConsulUnknownDatacenter';

/** What came of a question. */
export type ConsulAnswer =
  | {
      readonly kind: 'instances';
      /** Those in any state; none where the service does not exist. */
      readonly instances: readonly ServiceInstance[];
      /** That the next question has. */
      readonly index: bigint;
    }
  /** The server has not heard of the leader for too long; that one is to be asked. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'trouble'; readonly code: ConsulTrouble; readonly message: string };

/** Settings of {@link createConsul}. */
export interface ConsulOptions {
  readonly clock: Clock;
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are looked up. */
  readonly env: Environment;
  /** Of http or https; a path in it is put before every request's path. */
  readonly address: URL;
  /** Whom a connection trusts, and who it says it is. @default what Node brings along */
  readonly tls?: () => TlsSettings;
  /** Whether servers are asked that do not lead. @default false */
  readonly isStaleAllowed?: boolean;
  /** Where registrations say of which pod they are. */
  readonly keys?: PodKeys;
  /** How long a question waits for a change. @default 55 s */
  readonly wait?: Millis;
  /** Longest answer that is read, in bytes (CONSUL-22). @default 32 MiB */
  readonly longestAnswer?: number;
}

/** The health of services, as Consul knows it. */
export interface Consul {
  /** Asks, and reads the answer as it comes. Never rejects: what goes wrong is an answer, too; none holds a token. */
  ask(question: ConsulQuestion, asking: ConsulAsking): Promise<ConsulAnswer>;
  /** Gives up all questions, and ends all connections. */
  close(): Promise<void>;
}

type Trouble = Extract<ConsulAnswer, { kind: 'trouble' }>;

/** Each question that waits for a change has a connection of its own. */
const mostConnections = 10_000;
/** Bytes of a refusal. */
const longestRefusal = 4_096;
/** Of a question that waits for nothing. */
const quickTimeout = seconds(10);
/** So long ago a server that does not lead may have heard of the leader (CONSUL-18). */
const longestWithoutLeader = seconds(10);
/** Characters of what went wrong. */
const longestShown = 300;

/** Returns what asks Consul over the network. */
export function createConsul(options: ConsulOptions): Consul {
  return new HttpConsul(options);
}

class HttpConsul implements Consul {
  readonly #options: ConsulOptions;
  readonly #wait: Millis;
  readonly #closing = new AbortController();
  #transport: ByteTransport | undefined;

  constructor(options: ConsulOptions) {
    this.#options = options;
    this.#wait = options.wait ?? seconds(55);
  }

  async ask(question: ConsulQuestion, asking: ConsulAsking): Promise<ConsulAnswer> {
    const isStale = this.#options.isStaleAllowed === true && !asking.isLeaderAsked;
    const answer = await this.#answer(question, asking, isStale);
    if (answer.kind !== 'trouble') return answer;
    const { host } = this.#options.address;
    const message = `Cannot ask Consul at ${host} for ${quoted(question.service)}: ${answer.message}`;
    return { ...answer, message: withoutToken(message, asking.token) };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const transport = this.#transport;
    await transport?.close();
  }

  async #answer(
    question: ConsulQuestion,
    asking: ConsulAsking,
    isStale: boolean,
  ): Promise<ConsulAnswer> {
    const late = new AbortController();
    const patience = asking.index === noIndex ? quickTimeout : this.#patience();
    const options = { owner: 'consul deadline', background: true };
    const timer = this.#options.clock.timer(patience, () => late.abort(), options);
    try {
      const path = targetOf(question, this.#parameters(asking, isStale));
      const response = await this.#send(path, asking, late.signal);
      return await this.#read(response, asking, isStale);
    } catch (error) {
      const why = late.signal.aborted ? 'no whole answer in time' : whyOf(error);
      return trouble('ConsulUnavailable', why);
    } finally {
      timer.cancel();
    }
  }

  async #send(
    path: string,
    { token, signal }: ConsulAsking,
    late: AbortSignal,
  ): Promise<TransportStream> {
    const transport = this.#open();
    return transport.stream({
      method: 'GET',
      path,
      headers: {
        'user-agent': 'rollout-operator',
        ...(token !== undefined && { 'x-consul-token': token }),
      },
      signal: AbortSignal.any([signal, late, this.#closing.signal]),
    });
  }

  /** Returns the limit of a blocking query: a server waits up to a sixteenth longer, so that not all answers come at once. */
  #patience(): Millis {
    return millis(this.#wait + this.#wait / 16 + 5_000);
  }

  #parameters({ index }: ConsulAsking, isStale: boolean): Readonly<Record<string, string>> {
    return {
      ...(index !== noIndex && { index: `${index}`, wait: `${this.#wait}ms` }),
      ...(isStale && { stale: '' }),
    };
  }

  #open(): ByteTransport {
    if (this.#closing.signal.aborted) throw new Error('the connections have been ended');
    const { clock, env, address, tls = () => ({}) } = this.#options;
    const settings = { server: address, tls, connections: mostConnections };
    this.#transport ??= openTransport(settings, { clock, env });
    return this.#transport;
  }

  async #read(
    response: TransportStream,
    { index, token }: ConsulAsking,
    isStale: boolean,
  ): Promise<ConsulAnswer> {
    const { status, headers, chunks } = response;
    if (status !== 200) return refusal(status, withoutToken(await beginOf(chunks), token));
    const parsed = await this.#instancesIn(chunks);
    // A client that may not see a service would take it for one that does not exist.
    if (headers['x-consul-results-filtered-by-acls'] === 'true') {
      return trouble('ConsulPermissionDenied', 'its ACLs let the token see a part alone');
    }
    if (isStale && !isRecent(headers['x-consul-lastcontact'])) return { kind: 'stale' };
    if (parsed.kind === 'invalid') {
      const why = problemText(parsed.problem);
      return trouble('ConsulUnavailable', `its answer is not from Consul: ${why}`);
    }
    return {
      kind: 'instances',
      instances: parsed.value,
      index: indexAfter(index, headers['x-consul-index']),
    };
  }

  /** Reads the instances of an answer; a reader that stops ends the connection. */
  async #instancesIn(
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<Parsed<readonly ServiceInstance[]>> {
    const { longestAnswer = 33_554_432, keys = usualPodKeys } = this.#options;
    const reader = new ServiceHealthReader(keys);
    let length = 0;
    for await (const chunk of chunks) {
      length += chunk.length;
      if (length > longestAnswer)
        return invalid('the answer', `must have at most ${longestAnswer} bytes`);
      const problem = reader.take(chunk);
      if (problem !== undefined) return { kind: 'invalid', problem };
    }
    return reader.end();
  }
}

async function beginOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const read: Uint8Array[] = [];
  await readBegin(chunks, longestRefusal, read);
  return Buffer.concat(read).toString();
}

function targetOf(
  { service, datacenter, namespace, partition }: ConsulQuestion,
  parameters: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams({
    ...(datacenter !== undefined && { dc: datacenter }),
    ...(namespace !== undefined && { ns: namespace }),
    ...(partition !== undefined && { partition }),
    ...parameters,
  });
  const path = `/v1/health/service/${encodeURIComponent(service.toWellFormed())}`;
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

function refusal(status: number, body: string): Trouble {
  const message = `it answers ${status}: ${quoted(body.trim())}`;
  if (status === 403) return trouble('ConsulPermissionDenied', message);
  const isUnknown = status === 500 && /no path to datacenter/i.test(body);
  return trouble(isUnknown ? 'ConsulUnknownDatacenter' : 'ConsulUnavailable', message);
}

/** Reports whether the server heard from the leader recently. @param told the milliseconds since then; missing counts as never */
function isRecent(told: string | undefined): boolean {
  return told !== undefined && /^\d{1,15}$/.test(told) && Number(told) < longestWithoutLeader;
}

function trouble(code: ConsulTrouble, message: string): Trouble {
  return { kind: 'trouble', code, message };
}

/** Returns the reason without the URL, which the transport names. */
function whyOf(error: unknown): string {
  const { cause } = errorOf(error);
  const isWrapped = error instanceof TransportError && cause !== undefined;
  const text = messageOf(errorOf(isWrapped ? cause : error));
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}…`;
}

/** Cuts the token out of `text`: some servers repeat what they were sent. */
function withoutToken(text: string, token = ''): string {
  return token === '' ? text : text.replaceAll(token, '…');
}
