import type { IncomingMessage } from 'node:http';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { mostOfConnection } from '../connection-limits/requests-of-connection.ts';
import { SharedExposition } from '../metrics/shared-exposition.ts';
import type { MetricsRegistry } from '../metrics.ts';
import { cleanTarget } from './clean-path.ts';
import {
  type CheckedRequest,
  type ClusterValidation,
  clusterRefusal,
} from './cluster-validation.ts';
import { observed } from './http-instruments.ts';
import type { WholeResponse } from './http-response.ts';
import { routeLabeler } from './http-route.ts';
import type { HttpServerMetrics } from './http-server-metrics.ts';

/** What the plain HTTP server answers with. */
export interface HttpAppOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Pick<MetricsRegistry, 'expose' | 'contentType'>;
  readonly metrics: HttpServerMetrics;
  readonly clusterValidation: ClusterValidation;
  /** What `/ready` answers: 200 when true, 500 when false. */
  readonly isReady: () => boolean;
}

/** Answers a request, which is refused as one too many of its connection unless it `mayEnter`; never rejects. */
export type HttpApp = (request: IncomingMessage, mayEnter: boolean) => Promise<WholeResponse>;

const routeOf = routeLabeler(['/ready', '/live', '/metrics', '/debug/pprof/*']);

/**
 * Serves `/ready`, `/live`, `/metrics` and nothing else (ME-30…ME-34, ME-40); `/debug/pprof` is Go's, and absent here.
 * `/live` is ours: an answer shows that the event loop turns. It says nothing else, as a restart repairs nothing
 * else.
 *
 * Three paths need no framework: loading one takes a tenth of the time until the operator is ready (ADR 5).
 */
export function httpApp(options: HttpAppOptions): HttpApp {
  const { clock, metrics, logger } = options;
  const answering = { ...options, exposition: new SharedExposition(options.registry) };
  return (request, mayEnter) => {
    const path = pathOf(request.url ?? '');
    if (path === undefined) return Promise.resolve(text(400, 'The path cannot be read\n'));
    return observed(request, { route: routeOf(path), clock, metrics }, async () => {
      if (!mayEnter) return tooMany;
      try {
        return await answerTo(request, path, answering);
      } catch (thrown) {
        const error = errorOf(thrown);
        logger.error('request failed', { path, err: error });
        return text(500, `Cannot answer the request: ${error.message}\n`);
      }
    });
  };
}

/** Returns the path of a request line's target, decoded as Go does; undefined when it has none that could be meant. */
function pathOf(target: string): string | undefined {
  // A browser takes a backslash for a slash: it is unknown which path was meant.
  if (target.includes('\\')) return undefined;
  try {
    const path = target.startsWith('/')
      ? (target.split('?', 1)[0] ?? '')
      : new URL(target).pathname;
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** A client that asks on and on without waiting for answers hears so once, and its connection ends. */
const tooMany: WholeResponse = {
  ...text(429, `More than ${mostOfConnection} requests of this connection are under way\n`),
  headers: { connection: 'close' },
};

interface Answering extends HttpAppOptions {
  readonly exposition: SharedExposition;
}

async function answerTo(
  request: IncomingMessage,
  path: string,
  options: Answering,
): Promise<WholeResponse> {
  const { clusterValidation, isReady } = options;
  const report = { ...options, routeOf };
  const refusal = clusterRefusal(clusterValidation, checkedRequest(request, path), report);
  if (refusal !== undefined) return refusal;
  const location = cleanTarget(request.url ?? '');
  if (location !== undefined) return { ...text(301, ''), headers: { location } };
  if (path === '/ready') return text(isReady() ? 200 : 500, '');
  if (path === '/live') return text(200, '');
  if (path === '/metrics') return expositionFor(request, options);
  return text(404, '404 page not found\n');
}

function checkedRequest(
  { method = '', headers }: IncomingMessage,
  path: string,
): CheckedRequest & { readonly method: string } {
  const cluster = String(headers['x-cluster'] ?? '');
  return { path, method, userAgent: headers['user-agent'] ?? '', cluster };
}

function text(status: number, body: string): WholeResponse {
  return { status, body };
}

async function expositionFor(
  { headers }: IncomingMessage,
  { exposition, registry }: Answering,
): Promise<WholeResponse> {
  const shared = { status: 200, contentType: registry.contentType };
  const vary = { vary: 'accept-encoding' };
  if (!acceptsGzip(headers['accept-encoding'] ?? '')) {
    return { ...shared, body: await exposition.plain(), headers: vary };
  }
  const body = await exposition.gzipped();
  return { ...shared, body, headers: { ...vary, 'content-encoding': 'gzip' } };
}

/** Reports whether `gzip` is named in an Accept-Encoding header with a weight other than 0. */
function acceptsGzip(header: string): boolean {
  return header.split(',').some((part) => {
    const [coding = '', weight = ''] = part.split(';', 2).map((piece) => piece.trim());
    return coding.toLowerCase() === 'gzip' && !/^q=0(?:\.0*)?$/i.test(weight);
  });
}
