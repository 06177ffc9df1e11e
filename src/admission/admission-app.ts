import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { cleanTarget } from '#telemetry/clean-path.ts';
import { type ClusterValidation, clusterRefusal } from '#telemetry/cluster-validation.ts';
import { textResponse } from '#telemetry/http-response.ts';
import { routeLabeler } from '#telemetry/http-route.ts';
import type { HttpServerMetrics } from '#telemetry/http-server-metrics.ts';
import { BodyRoom, maxBody, type ReadBody, withBody } from './read-body.ts';
import type { Webhook } from './review.ts';
import { ReviewDesk, type ReviewDeskOptions } from './review-desk.ts';

/** What the webhook server answers with. */
export interface AdmissionAppOptions extends ReviewDeskOptions {
  readonly metrics: HttpServerMetrics;
  readonly clusterValidation: ClusterValidation;
  readonly webhooks: readonly Webhook[];
}

/** An app that is served by `node:https`. */
export type AdmissionApp = Hono<{ Bindings: HttpBindings }>;
type AppContext = Context<{ Bindings: HttpBindings }>;

/** Bytes of bodies that are held at once. */
const bodyRoom = 64 * 1_024 * 1_024;

/** The label of a path, `other` for all that is no webhook (M-route, scenario 104). */
export function admissionRoutes(webhooks: readonly Webhook[]): (path: string) => string {
  return routeLabeler(webhooks.map(({ path }) => path));
}

/** The paths of `webhooks`, exactly and by any method, and nothing else (S2, S3). */
export function admissionApp(options: AdmissionAppOptions): AdmissionApp {
  const { log, metrics, webhooks } = options;
  const app: AdmissionApp = new Hono();
  const routeOf = admissionRoutes(webhooks);
  if (options.clusterValidation.isEnabled) {
    const report = { metrics, logger: log, routeOf };
    app.use(async ({ req }, next) => {
      const request = {
        path: req.path,
        method: req.method,
        userAgent: req.header('user-agent') ?? '',
        cluster: req.header('x-cluster') ?? '',
      };
      const refusal = clusterRefusal(options.clusterValidation, request, report);
      return refusal === undefined ? next() : textResponse(refusal);
    });
  }
  const desk = new ReviewDesk(options);
  const room = new BodyRoom(bodyRoom);
  for (const webhook of webhooks) {
    app.all(webhook.path, async (context) => serve(context, { webhook, desk, room, ...options }));
  }
  app.notFound(({ env }) => {
    const location = cleanTarget(env.incoming.url ?? '');
    if (location !== undefined)
      return textResponse({ status: 301, body: '', headers: { location } });
    return textResponse({ status: 404, body: '404 page not found\n' });
  });
  app.onError((error, context) => {
    log.error('admission request failed', { path: context.req.path, err: error });
    return textResponse({ status: 400, body: 'The request cannot be answered\n' });
  });
  return app;
}

interface Serving extends Pick<AdmissionAppOptions, 'clock'> {
  readonly webhook: Webhook;
  readonly desk: ReviewDesk;
  readonly room: BodyRoom;
}

async function serve({ env }: AppContext, serving: Serving): Promise<Response> {
  const { webhook, desk, room, clock } = serving;
  const { incoming, outgoing } = env;
  const begun = clock.monotonic();
  await withBody(incoming, room, async (read) => {
    if (read.kind !== 'whole') return refuse(outgoing, read);
    const url = incoming.url ?? '';
    const queryAt = url.indexOf('?');
    const answer = await desk.answer(webhook, {
      contentType: incoming.headers['content-type'] ?? '',
      body: read.body,
      query: queryAt < 0 ? '' : url.slice(queryAt + 1),
      begun,
      onLeave: (left) => void outgoing.once('close', left),
    });
    return write(outgoing, answer);
  });
  // Written by hand: half of a short review's time would go into a Response object.
  return RESPONSE_ALREADY_SENT;
}

interface Written {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

function write(outgoing: HttpBindings['outgoing'], { status, contentType, body }: Written): void {
  const length = Buffer.byteLength(body);
  outgoing.writeHead(status, { 'content-type': contentType, 'content-length': length });
  outgoing.end(body);
}

/** Whoever sends too much is told so without reading the rest, and its connection ends. */
function refuse(outgoing: HttpBindings['outgoing'], read: ReadBody): void {
  if (read.kind === 'broken') {
    outgoing.destroy();
    return;
  }
  const isLong = read.kind === 'too-long';
  const why = isLong
    ? `the body is longer than ${maxBody} bytes`
    : 'too many requests are under way';
  const body = `Request could not be read: ${why}\n`;
  outgoing.setHeader('connection', 'close');
  write(outgoing, { status: isLong ? 413 : 429, contentType: 'text/plain; charset=utf-8', body });
}
