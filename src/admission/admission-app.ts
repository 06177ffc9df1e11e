import type { IncomingMessage, ServerResponse } from 'node:http';
import { cleanTarget } from '#telemetry/clean-path.ts';
import { type ClusterValidation, clusterRefusal } from '#telemetry/cluster-validation.ts';
import { type WholeResponse, writeResponse } from '#telemetry/http-response.ts';
import { routeLabeler } from '#telemetry/http-route.ts';
import type { HttpServerMetrics } from '#telemetry/http-server-metrics.ts';
import { BodyRoom, maxBody, type ReadBody, withBody } from './read-body.ts';
import type { Webhook } from './review.ts';
import { type PostedAnswer, ReviewDesk, type ReviewDeskOptions } from './review-desk.ts';

/** What the webhook server answers with. */
export interface AdmissionAppOptions extends ReviewDeskOptions {
  readonly metrics: HttpServerMetrics;
  readonly clusterValidation: ClusterValidation;
  readonly webhooks: readonly Webhook[];
}

/**
 * Answers one request. On bare `node:http`: there are a few exact paths, and a framework would take a tenth of the time
 * of a review.
 */
export type AdmissionApp = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** Bytes of bodies that are held at once. */
const bodyRoom = 64 * 1_024 * 1_024;

/** The label of a path, `other` for all that is no webhook (M-route, scenario 104). */
export function admissionRoutes(webhooks: readonly Webhook[]): (path: string) => string {
  return routeLabeler(webhooks.map(({ path }) => path));
}

/** The paths of `webhooks`, exactly and by any method, and nothing else (S2, S3). */
export function admissionApp(options: AdmissionAppOptions): AdmissionApp {
  const { webhooks } = options;
  const byPath = new Map(webhooks.map((webhook) => [webhook.path, webhook]));
  const routeOf = admissionRoutes(webhooks);
  const desk = new ReviewDesk(options);
  const room = new BodyRoom(bodyRoom);
  return async (incoming, outgoing) => {
    const { url = '' } = incoming;
    const queryAt = url.indexOf('?');
    const path = queryAt < 0 ? url : url.slice(0, queryAt);
    const refusal = misdirected(incoming, path, { ...options, routeOf });
    if (refusal !== undefined) return writeResponse(outgoing, refusal);
    const webhook = byPath.get(path);
    if (webhook === undefined) return writeResponse(outgoing, unknownPath(url));
    const query = queryAt < 0 ? '' : url.slice(queryAt + 1);
    const { clock } = options;
    return review({ incoming, outgoing }, query, { webhook, desk, room, clock });
  };
}

function misdirected(
  { headers, method = '' }: IncomingMessage,
  path: string,
  { clusterValidation, metrics, log, routeOf }: AdmissionAppOptions & Pick<Routed, 'routeOf'>,
): WholeResponse | undefined {
  if (!clusterValidation.isEnabled) return undefined;
  const cluster = headers['x-cluster'];
  return clusterRefusal(
    clusterValidation,
    {
      path,
      method,
      userAgent: headers['user-agent'] ?? '',
      cluster: typeof cluster === 'string' ? cluster : '',
    },
    { metrics, logger: log, routeOf },
  );
}

interface Routed {
  readonly routeOf: (path: string) => string;
}

function unknownPath(url: string): WholeResponse {
  const location = cleanTarget(url);
  if (location !== undefined) return { status: 301, body: '', headers: { location } };
  return { status: 404, body: '404 page not found\n' };
}

interface Reviewing extends Pick<AdmissionAppOptions, 'clock'> {
  readonly webhook: Webhook;
  readonly desk: ReviewDesk;
  readonly room: BodyRoom;
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

function review(
  { incoming, outgoing }: Exchange,
  query: string,
  { webhook, desk, room, clock }: Reviewing,
): Promise<void> {
  const begun = clock.monotonic();
  return withBody(incoming, room, async (read) => {
    if (read.kind !== 'whole') return refuse(outgoing, read);
    const answer = await desk.answer(webhook, {
      contentType: incoming.headers['content-type'] ?? '',
      body: read.body,
      query,
      begun,
      onLeave: (left) => void outgoing.once('close', left),
    });
    return write(outgoing, answer);
  });
}

function write(outgoing: ServerResponse, { status, contentType, body }: Written): void {
  const length = Buffer.byteLength(body);
  outgoing.writeHead(status, { 'content-type': contentType, 'content-length': length });
  outgoing.end(body);
}

type Written = Omit<PostedAnswer, 'status'> & { readonly status: number };

/** Whoever sends too much is told so without reading the rest, and its connection ends. */
function refuse(outgoing: ServerResponse, read: ReadBody): void {
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
