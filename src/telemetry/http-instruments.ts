import type { MiddlewareHandler } from 'hono';
import type { Clock } from '#base/clock.ts';
import { millis } from '#base/units.ts';
import type { HttpServerMetrics } from './http-server-metrics.ts';

/** What {@link instruments} observes with. */
export interface InstrumentsOptions {
  readonly metrics: HttpServerMetrics;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly routeOf: (path: string) => string;
}

/** Observes time, size and number of the requests that pass through it (ME-20…ME-23). */
export function instruments({ metrics, clock, routeOf }: InstrumentsOptions): MiddlewareHandler {
  return async (context, next) => {
    const { method, path } = context.req;
    const route = routeOf(path);
    const begun = clock.monotonic();
    metrics.changeInflight(method, route, 1);
    try {
      await next();
    } finally {
      metrics.changeInflight(method, route, -1);
    }
    metrics.observeServed({
      method,
      route,
      status: context.res.status,
      isWebSocket: context.req.header('upgrade')?.toLowerCase() === 'websocket',
      duration: millis(clock.monotonic() - begun),
      requestBytes: bytesOf(context.req.header('content-length')),
      responseBytes:
        method === 'HEAD' ? 0 : bytesOf(context.res.headers.get('content-length') ?? undefined),
    });
  };
}

/** The stated length of a body; 0 when none is stated. */
function bytesOf(contentLength: string | undefined): number {
  return /^\d+$/.test(contentLength ?? '') ? Number(contentLength) : 0;
}
