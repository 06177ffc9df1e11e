import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import type { Monotonic } from '#base/units.ts';
import { cleanTarget } from '#telemetry/clean-path.ts';
import { type ClusterValidation, clusterRefusal } from '#telemetry/cluster-validation.ts';
import { type WholeResponse, writeResponse } from '#telemetry/http-response.ts';
import { routeLabeler } from '#telemetry/http-route.ts';
import type { HttpServerMetrics } from '#telemetry/http-server-metrics.ts';
import type { Endpoint } from './endpoint.ts';
import { BodyRoom, maxBody, type ReadBody, readBody } from './read-body.ts';
import type { RequestTarget } from './request-target.ts';

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

/** One request, and its answer to be. */
export interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly target: RequestTarget;
}

/** Answers one request; a fault of this program ends its connection. */
export type AdmissionListener = (exchange: Exchange) => void;

/** Bytes of bodies that a server holds at once, in all of its threads. */
export const bodyRoom: number = 64 * 1_024 * 1_024;

/** The label of a path, `other` for all that is no webhook (M-route, scenario 104). */
export function admissionRoutes(endpoints: readonly Endpoint[]): (path: string) => string {
  return routeLabeler(endpoints.map(({ path }) => path));
}

/** Serves the paths of `endpoints`, exactly and by any method, and nothing else (S2, S3). */
export function admissionListener(options: AdmissionListenerOptions): AdmissionListener {
  const { clock, log, endpoints, bodyRoom: size = bodyRoom } = options;
  const byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
  const room = new BodyRoom(size);
  const refusal = clusterCheck(options);
  const fault = (outgoing: ServerResponse, error: unknown): void => {
    log.error('webhook server failed', { err: errorOf(error) });
    outgoing.destroy();
  };
  const serve = (exchange: Exchange): void => {
    const { incoming, outgoing, target } = exchange;
    const refused = refusal(exchange);
    if (refused !== undefined) return writeResponse(outgoing, refused);
    const endpoint = byPath.get(target.path);
    if (endpoint === undefined) return writeResponse(outgoing, elsewhere(incoming));
    const begun = clock.monotonic();
    readBody(incoming, room, {
      use: (read) => answerBody({ ...exchange, begun }, read, endpoint),
      failed: (error) => fault(outgoing, error),
    });
  };
  return (exchange) => {
    try {
      serve(exchange);
    } catch (error) {
      fault(exchange.outgoing, error);
    }
  };
}

function clusterCheck({
  clusterValidation,
  endpoints,
  metrics,
  log,
}: AdmissionListenerOptions): (exchange: Exchange) => WholeResponse | undefined {
  const report = { metrics, logger: log, routeOf: admissionRoutes(endpoints) };
  return ({ incoming, target: { path } }) => {
    if (!clusterValidation.isEnabled) return undefined;
    const { method = '', headers } = incoming;
    const userAgent = headers['user-agent'] ?? '';
    const cluster = [headers['x-cluster'] ?? ''].flat().join(', ');
    return clusterRefusal(clusterValidation, { path, method, userAgent, cluster }, report);
  };
}

function elsewhere({ url = '' }: IncomingMessage): WholeResponse {
  const location = cleanTarget(url);
  if (location !== undefined) return { status: 301, body: '', headers: { location } };
  return { status: 404, body: '404 page not found\n' };
}

interface BegunExchange extends Exchange {
  readonly begun: Monotonic;
}

function answerBody(
  { incoming, outgoing, target, begun }: BegunExchange,
  read: ReadBody,
  endpoint: Endpoint,
): void | Promise<void> {
  if (read.kind !== 'whole') return refuse(outgoing, read);
  const answered = endpoint.answer({
    contentType: incoming.headers['content-type'] ?? '',
    body: read.body,
    query: target.query,
    begun,
    onLeave: (left) => void outgoing.once('close', left),
  });
  if (!(answered instanceof Promise)) return writeResponse(outgoing, answered);
  return answered.then((answer) => writeResponse(outgoing, answer));
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
  const headers = { connection: 'close' };
  writeResponse(outgoing, { status: isLong ? 413 : 429, body, headers });
}
