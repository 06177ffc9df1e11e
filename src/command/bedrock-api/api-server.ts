import type { IncomingMessage } from 'node:http';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { seconds } from '#base/units.ts';
import type { HttpApp } from '#telemetry/http/http-app.ts';
import type { WholeResponse } from '#telemetry/http/http-response.ts';
import { type HttpServer, startHttpServer } from '#telemetry/http/http-server.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { type ApiAnswer, type ApiRequest, refusal } from './api-answer.ts';
import { type DeployApi, type Route, routeOf } from './deploy-api.ts';

/** Where the API is served, and how. */
export interface ApiServerOptions {
  readonly api: DeployApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** As PEM texts. @default none: plain HTTP */
  readonly certificate?: { readonly cert: string; readonly key: string };
}

/** Most bytes of a body: a file of a megabyte as a JSON string, and what the others have. */
const mostBytes: Readonly<Record<Route['kind'], number>> = {
  create: 2_621_440,
  callback: 65_536,
  act: 1_024,
  get: 0,
};
/**
 * Requests that are under way at once; a client that comes then is asked to come again. Callbacks have places of their own: who sends one
 * is known only by its body, so that strangers may hold these.
 */
const mostAtOnce = { callback: 16, other: 32 };
/** Longest time until the body of a request has arrived. */
const bodyWithin = { callback: seconds(2), other: seconds(30) };

/** Serves the deploy API together with `/ready`, `/live` and `/metrics`. @throws {Error} one sentence, where it cannot listen */
export async function startApiServer(options: ApiServerOptions): Promise<HttpServer> {
  const { clock, logger, host, port, certificate } = options;
  const registry = createMetricsRegistry();
  return startHttpServer({
    clock,
    logger,
    host,
    port,
    registry,
    metrics: createHttpServerMetrics(registry),
    isReady: () => true,
    clusterValidation: {
      isEnabled: false,
      isSoft: false,
      cluster: '',
      excludedPaths: [],
      excludedUserAgents: [],
    },
    appOf: (usual) => apiApp(options, usual),
    ...(certificate !== undefined && { certificate }),
  });
}

function apiApp(options: ApiServerOptions, usual: HttpApp): HttpApp {
  const underWay = { callback: 0, other: 0 };
  return async (request, mayEnter) => {
    const path = pathOf(request.url ?? '');
    if (path === undefined || !path.startsWith('/v1/')) return usual(request, mayEnter);
    const { method = '' } = request;
    const route = routeOf({ method, path });
    const refused = refusedUnread(options.api, request, route);
    if (refused !== undefined) return written(refused);
    if (typeof route === 'number') return written(refusal(route, nowhere[route]));
    const places = placesOf(route);
    if (!mayEnter || underWay[places] >= mostAtOnce[places])
      return written(refusal(429, 'Too many requests'));
    underWay[places] += 1;
    try {
      return written(await answered(options, request, { method, path, route }));
    } catch (thrown) {
      return written(failed(thrown, options));
    } finally {
      underWay[places] -= 1;
    }
  };
}

const nowhere = {
  404: 'There is no such path',
  405: 'The path does not take this method',
} as const;

function placesOf({ kind }: Route): keyof typeof mostAtOnce {
  return kind === 'callback' ? 'callback' : 'other';
}

function failed(thrown: unknown, { logger }: ApiServerOptions): ApiAnswer {
  logger.error('deploy API failed', { err: thrown instanceof Error ? thrown : undefined });
  return refusal(500, 'The request failed for a fault of this program');
}

/** Returns the answer to a request that is refused before any of its body is read. */
function refusedUnread(
  api: DeployApi,
  request: IncomingMessage,
  route: ReturnType<typeof routeOf>,
): ApiAnswer | undefined {
  if (typeof route === 'number') return undefined;
  const most = mostBytes[route.kind];
  if (Number(request.headers['content-length'] ?? 0) > most) return tooLong(most);
  return api.refused(request, route);
}

function tooLong(most: number): ApiAnswer {
  return refusal(413, `The body is longer than ${most} bytes`);
}

async function answered(
  { api, clock }: ApiServerOptions,
  request: IncomingMessage,
  { method, path, route }: Pick<ApiRequest, 'method' | 'path'> & { readonly route: Route },
): Promise<ApiAnswer> {
  const most = mostBytes[route.kind];
  const patience = bodyWithin[placesOf(route)];
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const timer = clock.timer(patience, () => resolve('late'), { owner: 'body of a request' });
  // A body that fails after it was given up is nobody's any more.
  const reading = boundedBody(request, most);
  reading.catch(() => undefined);
  const body = await Promise.race([reading, late]).finally(() => timer.cancel());
  if (body === 'late') return refusal(408, `The body has not arrived within ${patience / 1_000} s`);
  if (body === undefined) return tooLong(most);
  return api.answer({ method, path, headers: request.headers, body }, route);
}

/** Reads a body. @returns undefined for a body that is too long, of which no more is kept */
async function boundedBody(
  request: IncomingMessage,
  most: number,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (!(chunk instanceof Uint8Array)) continue;
    length += chunk.length;
    if (length > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function pathOf(target: string): string | undefined {
  try {
    return decodeURIComponent(target.split('?', 1)[0] ?? '');
  } catch {
    return undefined;
  }
}

/** Answers to requests whose bodies may not have been read to the end. */
const unread: ReadonlySet<number> = new Set([401, 408, 413, 429]);

/** A connection whose body was not read to its end is of no further use. */
function written({ status, body }: ApiAnswer): WholeResponse {
  return {
    status,
    body: `${JSON.stringify(body)}\n`,
    contentType: 'application/json',
    headers: {
      'cache-control': 'no-store',
      ...(unread.has(status) ? { connection: 'close' } : {}),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    },
  };
}
