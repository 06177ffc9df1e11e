import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { cleanTarget } from '#telemetry/clean-path.ts';
import { type ClusterValidation, clusterRefusal } from '#telemetry/cluster-validation.ts';
import { type WholeResponse, writeResponse } from '#telemetry/http-response.ts';
import { routeLabeler } from '#telemetry/http-route.ts';
import type { HttpServerMetrics } from '#telemetry/http-server-metrics.ts';
import type { Endpoint } from './endpoint.ts';
import { BodyRoom, maxBody, type ReadBody, withBody } from './read-body.ts';

/** What the webhook server answers with. */
export interface AdmissionListenerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: HttpServerMetrics;
  readonly clusterValidation: ClusterValidation;
  readonly endpoints: readonly Endpoint[];
  /** Bytes of bodies that are held at once. @default {@link bodyRoom} */
  readonly bodyRoom?: number;
}

/** Answers one request. Rejects only for what is a fault of this program. */
export type AdmissionListener = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) => Promise<void>;

/** Bytes of bodies that a server holds at once, in all of its threads. */
export const bodyRoom: number = 64 * 1_024 * 1_024;

/** The label of a path, `other` for all that is no webhook (M-route, scenario 104). */
export function admissionRoutes(endpoints: readonly Endpoint[]): (path: string) => string {
  return routeLabeler(endpoints.map(({ path }) => path));
}

/** Serves the paths of `endpoints`, exactly and by any method, and nothing else (S2, S3). */
export function admissionListener(options: AdmissionListenerOptions): AdmissionListener {
  const { clock, endpoints, bodyRoom: size = bodyRoom } = options;
  const byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
  const room = new BodyRoom(size);
  const refusal = clusterCheck(options);
  return async (incoming, outgoing) => {
    const target = targetOf(incoming);
    const refused = refusal(incoming, target.path);
    if (refused !== undefined) return writeResponse(outgoing, refused);
    const endpoint = byPath.get(target.path);
    if (endpoint === undefined) return writeResponse(outgoing, elsewhere(incoming));
    return serve({ incoming, outgoing, query: target.query }, { endpoint, room, clock });
  };
}

function clusterCheck({
  clusterValidation,
  endpoints,
  metrics,
  log,
}: AdmissionListenerOptions): (
  incoming: IncomingMessage,
  path: string,
) => WholeResponse | undefined {
  const report = { metrics, logger: log, routeOf: admissionRoutes(endpoints) };
  return ({ method = '', headers }, path) => {
    if (!clusterValidation.isEnabled) return undefined;
    const userAgent = headers['user-agent'] ?? '';
    const cluster = [headers['x-cluster'] ?? ''].flat().join(', ');
    return clusterRefusal(clusterValidation, { path, method, userAgent, cluster }, report);
  };
}

interface Target {
  /** Without escapes. */
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
}

/** Before the path of a target in absolute form, which every server has to take (RFC 9112 §3.2.2). */
const origin = /^https?:\/\/[^/?]*/iu;

function targetOf({ url: target = '' }: IncomingMessage): Target {
  const url = target.startsWith('/') ? target : target.replace(origin, '');
  const queryAt = url.indexOf('?');
  const path = queryAt < 0 ? url : url.slice(0, queryAt);
  return { path: unescaped(path), query: queryAt < 0 ? '' : url.slice(queryAt + 1) };
}

function unescaped(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    // No path of a webhook: it is answered as such.
    return path;
  }
}

function elsewhere({ url = '' }: IncomingMessage): WholeResponse {
  const location = cleanTarget(url);
  if (location !== undefined) return { status: 301, body: '', headers: { location } };
  return { status: 404, body: '404 page not found\n' };
}

interface Asked {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly query: string;
}

interface Serving {
  readonly endpoint: Endpoint;
  readonly room: BodyRoom;
  readonly clock: Clock;
}

async function serve(asked: Asked, { endpoint, room, clock }: Serving): Promise<void> {
  const { incoming, outgoing, query } = asked;
  const begun = clock.monotonic();
  await withBody(incoming, room, async (read) => {
    if (read.kind !== 'whole') return refuse(outgoing, read);
    const answered = endpoint.answer({
      contentType: incoming.headers['content-type'] ?? '',
      body: read.body,
      query,
      begun,
      onLeave: (left) => void outgoing.once('close', left),
    });
    return write(outgoing, answered instanceof Promise ? await answered : answered);
  });
}

interface Written {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

function write(outgoing: ServerResponse, { status, contentType, body }: Written): void {
  const length = Buffer.byteLength(body);
  outgoing.writeHead(status, { 'content-type': contentType, 'content-length': length });
  outgoing.end(body);
}

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
