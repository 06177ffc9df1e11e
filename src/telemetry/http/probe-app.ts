import type { Clock } from '#base/clock.ts';
import { cleanTarget } from './clean-path.ts';
import type { HttpApp } from './http-app.ts';
import { observed } from './http-instruments.ts';
import type { WholeResponse } from './http-response.ts';
import { routeLabeler } from './http-route.ts';
import type { HttpServerMetrics } from './http-server-metrics.ts';

/** What probes are answered with. */
export interface ProbeAppOptions {
  readonly clock: Clock;
  readonly metrics: HttpServerMetrics;
  /** What `/readyz` answers: 200 when true, 500 when false. */
  readonly isReady: () => boolean;
}

const routeOf = routeLabeler(['/healthz/*', '/readyz/*']);

/** Returns what answers `/healthz`, `/readyz` and what is below each, as controller-runtime's probe server does. */
export function probeApp({ clock, metrics, isReady }: ProbeAppOptions): HttpApp {
  return (request, mayEnter) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    return observed(request, { route: routeOf(path), clock, metrics }, async () => {
      if (!mayEnter) return text(429, 'too many requests\n');
      const location = cleanTarget(request.url ?? '');
      if (location !== undefined) return { ...text(301, ''), headers: { location } };
      if (isBelow(path, '/healthz')) return text(200, 'ok');
      if (isBelow(path, '/readyz')) return isReady() ? text(200, 'ok') : text(500, 'not ready');
      return text(404, '404 page not found\n');
    });
  };
}

/** Reports whether `path` is that of a check: each has its own, and `ping` is the only one. */
function isBelow(path: string, check: string): boolean {
  return path === check || path === `${check}/` || path === `${check}/ping`;
}

function text(status: number, body: string): WholeResponse {
  return { status, body };
}
