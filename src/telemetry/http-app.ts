import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { cleanTarget } from './clean-path.ts';
import type { ClusterValidation } from './cluster-validation.ts';
import { clusterValidation } from './cluster-validation.ts';
import { instruments } from './http-instruments.ts';
import { textResponse } from './http-response.ts';
import { routeLabeler } from './http-route.ts';
import type { HttpServerMetrics } from './http-server-metrics.ts';
import type { MetricsRegistry } from './metrics.ts';

/** What the plain HTTP server answers with. */
export interface HttpAppOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Pick<MetricsRegistry, 'expose' | 'contentType'>;
  readonly metrics: HttpServerMetrics;
  readonly clusterValidation: ClusterValidation;
  /** What `/ready` tells: 200 when true, 500 when false. */
  readonly isReady: () => boolean;
}

/** An app that is served by `node:http`. */
export type HttpApp = Hono<{ Bindings: HttpBindings }>;

const compress = promisify(gzip);
const routeOf = routeLabeler(['/ready', '/metrics', '/debug/pprof/*']);

/** `/ready`, `/metrics` and nothing else (ME-30…ME-34, ME-40); `/debug/pprof` is Go's, and absent here. */
export function httpApp(options: HttpAppOptions): HttpApp {
  const { clock, logger, metrics, isReady } = options;
  const app: HttpApp = new Hono();
  app.use(instruments({ clock, metrics, routeOf }));
  app.use(clusterValidation(options.clusterValidation, { metrics, logger, routeOf }));
  app.use(async (context, next) => {
    const target = cleanTarget(context.env.incoming.url ?? '');
    if (target === undefined) return next();
    return textResponse({ status: 301, body: '', headers: { location: target } });
  });
  app.all('/ready', () => textResponse({ status: isReady() ? 200 : 500, body: '' }));
  app.all('/metrics', async (context) =>
    exposition(options.registry, context.req.header('accept-encoding') ?? ''),
  );
  app.notFound(() => textResponse({ status: 404, body: '404 page not found\n' }));
  app.onError((error, context) => {
    logger.error('request failed', { path: context.req.path, err: error });
    return textResponse({ status: 500, body: `Cannot answer the request: ${error.message}\n` });
  });
  return app;
}

async function exposition(
  registry: HttpAppOptions['registry'],
  acceptEncoding: string,
): Promise<Response> {
  const text = await registry.expose();
  const shared = { status: 200, contentType: registry.contentType };
  if (!acceptsGzip(acceptEncoding)) {
    return textResponse({ ...shared, body: text, headers: { vary: 'accept-encoding' } });
  }
  const headers = { vary: 'accept-encoding', 'content-encoding': 'gzip' };
  return textResponse({ ...shared, body: new Uint8Array(await compress(text)), headers });
}

/** Whether `gzip` is named in an Accept-Encoding header with a weight other than 0. */
function acceptsGzip(header: string): boolean {
  return header.split(',').some((part) => {
    const [coding = '', weight = ''] = part.split(';', 2).map((piece) => piece.trim());
    return coding.toLowerCase() === 'gzip' && !/^q=0(?:\.0*)?$/i.test(weight);
  });
}
