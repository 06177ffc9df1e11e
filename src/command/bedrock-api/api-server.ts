import type { IncomingMessage } from 'node:http';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { HttpApp } from '#telemetry/http/http-app.ts';
import type { WholeResponse } from '#telemetry/http/http-response.ts';
import { type HttpServer, startHttpServer } from '#telemetry/http/http-server.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { type ApiAnswer, refusal } from './api-answer.ts';
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
/** Requests that are under way at once; a client that comes then is asked to come again. */
const mostAtOnce = 32;

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

function apiApp({ api, logger }: ApiServerOptions, usual: HttpApp): HttpApp {
  let underWay = 0;
  return async (request, mayEnter) => {
    const path = pathOf(request.url ?? '');
    if (path === undefined || !path.startsWith('/v1/')) return usual(request, mayEnter);
    if (!mayEnter || underWay >= mostAtOnce) return written(refusal(429, 'Too many requests'));
    underWay += 1;
    try {
      return written(await answered(api, request, path));
    } catch (thrown) {
      logger.error('deploy API failed', { err: thrown instanceof Error ? thrown : undefined });
      return written(refusal(500, 'The request failed for a fault of this program'));
    } finally {
      underWay -= 1;
    }
  };
}

async function answered(
  api: DeployApi,
  request: IncomingMessage,
  path: string,
): Promise<ApiAnswer> {
  const { method = '', headers } = request;
  const route = routeOf({ method, path });
  if (route === 404) return refusal(404, 'There is no such path');
  if (route === 405) return refusal(405, 'The path does not take this method');
  if (!api.isLetIn({ headers }, route)) return refusal(401, 'A bearer token is needed');
  const body = await boundedBody(request, mostBytes[route.kind]);
  if (body === undefined)
    return refusal(413, `The body is longer than ${mostBytes[route.kind]} bytes`);
  return api.answer({ method, path, headers, body }, route);
}

/** Reads a body. @returns undefined for a body that is too long, of which no more is kept */
async function boundedBody(
  request: IncomingMessage,
  most: number,
): Promise<Uint8Array | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > most) return undefined;
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

/** A connection whose body was not read to its end is of no further use. */
function written({ status, body }: ApiAnswer): WholeResponse {
  return {
    status,
    body: `${JSON.stringify(body)}\n`,
    contentType: 'application/json',
    headers: {
      'cache-control': 'no-store',
      ...(status === 413 || status === 401 ? { connection: 'close' } : {}),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    },
  };
}
