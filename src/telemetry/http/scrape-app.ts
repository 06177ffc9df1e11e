import type { IncomingMessage } from 'node:http';
import type { HttpApp } from './http-app.ts';
import type { WholeResponse } from './http-response.ts';

/** Says whether a request may have `/metrics`: undefined, or the answer that refuses. Never rejects. */
export type ScrapeGate = (request: IncomingMessage) => Promise<WholeResponse | undefined>;

/** Returns `app` as far as it serves `/metrics`, only to clients that `gate` lets through. */
export function scrapeApp(app: HttpApp, gate: ScrapeGate): HttpApp {
  return async (request, mayEnter) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (path !== '/metrics') return { status: 404, body: '404 page not found\n' };
    const refusal = mayEnter ? await gate(request) : undefined;
    return refusal ?? app(request, mayEnter);
  };
}
