/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-assignment, typescript/no-unsafe-return -- answers are looked into by path, and a wrong path fails the assertion */
import type { JsonObject, JsonValue } from '#base/json.ts';
import { VirtualClock } from '#cluster/clock/virtual-clock.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { tellLie } from '../../lies/lies.ts';

/** A whole answer, parsed. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: any;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: any;
}

/** A watch whose events are collected while virtual time runs. */
export interface Watched {
  readonly status: number;
  readonly events: readonly WatchEvent[];
  readonly isOver: () => boolean;
  readonly error: () => unknown;
  readonly types: () => readonly string[];
  /** The object of the event `index`. @throws when there is none */
  readonly objectAt: (index: number) => any;
}

export interface Env {
  readonly clock: VirtualClock;
  readonly cluster: EmbeddedCluster;
  readonly transport: Transport;
  readonly send: (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    ...rest: readonly [body?: JsonValue, headers?: Readonly<Record<string, string>>]
  ) => Promise<Answer>;
  readonly watch: (path: string, transport?: Transport) => Promise<Watched>;
}

export async function newEnv(): Promise<Env> {
  const clock = new VirtualClock();
  const cluster = await createCluster({ clock, seed: 1 });
  tellLie(cluster);
  const transport = cluster.transport();
  await transport.request({
    method: 'POST',
    path: '/api/v1/namespaces',
    body: JSON.stringify({ metadata: { name: 'demo' } }),
  });
  return {
    clock,
    cluster,
    transport,
    send: (method, path, ...[body, headers = {}]) =>
      sendOver(transport, { method, path, body, headers }),
    watch: (path, over = transport) => watchOver(over, path, clock),
  };
}

export async function sendOver(
  transport: Transport,
  request: {
    readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    readonly path: string;
    readonly body?: JsonValue | undefined;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<Answer> {
  const { method, path, body, headers = {} } = request;
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const response = await transport.request({
    method,
    path,
    headers: { 'content-type': type, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = Buffer.from(response.body).toString();
  const isJson = response.headers['content-type'] === 'application/json';
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  };
}

export async function watchOver(
  transport: Transport,
  path: string,
  clock: VirtualClock,
): Promise<Watched> {
  const stream = await transport.stream({ method: 'GET', path });
  const events: WatchEvent[] = [];
  let isOver = false;
  let error: unknown;
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of stream.chunks) {
      const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) events.push(JSON.parse(line));
    }
  };
  read()
    .catch((reason: unknown) => {
      error = reason;
    })
    .finally(() => {
      isOver = true;
    });
  await clock.quiesce();
  return {
    status: stream.status,
    events,
    isOver: () => isOver,
    error: () => error,
    types: () => events.map(({ type }) => type),
    objectAt: (index) => {
      const event = events[index];
      if (event === undefined) throw new Error(`there are only ${events.length} events`);
      return event.object;
    },
  };
}

export function configMap(name: string, members: JsonObject = {}): JsonObject {
  return { metadata: { name }, ...members };
}

export function pod(
  name: string,
  members: { readonly spec?: JsonObject; readonly metadata?: JsonObject } = {},
): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...members.metadata },
    spec: { containers: [{ name: 'app', image: 'app:1' }], ...members.spec },
  };
}

export function statefulSet(name: string, replicas: number): JsonObject {
  return {
    metadata: { name },
    spec: {
      replicas,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'app', image: 'app:1' }] },
      },
    },
  };
}

export const PODS = '/api/v1/namespaces/demo/pods';
export const CONFIG_MAPS = '/api/v1/namespaces/demo/configmaps';
export const SETS = '/apis/apps/v1/namespaces/demo/statefulsets';
