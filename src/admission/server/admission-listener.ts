import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import type { Monotonic } from '#base/units.ts';
import {
  mostOfConnection,
  RequestsOfConnection,
} from '#telemetry/connection-limits/requests-of-connection.ts';
import { cleanTarget } from '#telemetry/http/clean-path.ts';
import { type ClusterValidation, clusterRefusal } from '#telemetry/http/cluster-validation.ts';
import { type WholeResponse, writeResponse } from '#telemetry/http/http-response.ts';
import { routeLabeler } from '#telemetry/http/http-route.ts';
import type { HttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import type { Handler } from '../review/review-handler.ts';
import { BodyRoom, maxBody, type ReadBody, readBody } from './read-body.ts';
import type { RequestTarget } from './request-target.ts';

/** What the webhook server answers with. */
export interface AdmissionListenerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: HttpServerMetrics;
  readonly clusterValidation: ClusterValidation;
  /** Keyed by path. */
  readonly handlers: ReadonlyMap<string, Handler>;
  /** Bytes of bodies that are held at once. @default {@link bodyRoom} */
  readonly bodyRoom?: number;
}

/** One request, and its answer to be. */
export interface ListenerExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly target: RequestTarget;
  /** When the request arrived. */
  readonly begun: Monotonic;
}

/** Answers one request; a fault of this program ends its connection. */
export type AdmissionListener = (exchange: ListenerExchange) => void;

/** Bytes of bodies that a server holds at once. */
const bodyRoom: number = 16 * 1_024 * 1_024;

/** Returns the label of a path, `other` for all that is no webhook. */
export function admissionRoutes(
  handlers: AdmissionListenerOptions['handlers'],
): (path: string) => string {
  return routeLabeler([...handlers.keys()]);
}

/** Serves the paths of `handlers`, exactly and by any method, and nothing else. */
export function admissionListener(options: AdmissionListenerOptions): AdmissionListener {
  const { clock, log, handlers, bodyRoom: size = bodyRoom } = options;
  const room = new BodyRoom(size, clock);
  const underWay = new RequestsOfConnection();
  const refusal = clusterCheck(options);
  const fault = (outgoing: ServerResponse, error: unknown): void => {
    log.error('webhook server failed', { err: errorOf(error) });
    outgoing.destroy();
  };
  const serve = (exchange: ListenerExchange): void => {
    const { incoming, outgoing, target } = exchange;
    // A thousand may be in one chunk, which is parsed to its end: no answer could be sent.
    if (underWay.isRefused(incoming)) return;
    const refused = refusal(exchange);
    if (refused !== undefined) return writeResponse(outgoing, refused);
    const handler = handlers.get(target.path);
    if (handler === undefined) return writeResponse(outgoing, elsewhere(incoming));
    if (!underWay.enter(incoming, outgoing)) return refuse(outgoing, 'too-many');
    const failed = (error: unknown): void => fault(outgoing, error);
    readBody(incoming, room, {
      use: (read) => answerBody(exchange, read, { handler, failed }),
      failed,
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
  handlers,
  metrics,
  log,
}: AdmissionListenerOptions): (exchange: ListenerExchange) => WholeResponse | undefined {
  const report = { metrics, logger: log, routeOf: admissionRoutes(handlers) };
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

interface Answering {
  readonly handler: Handler;
  readonly failed: (error: unknown) => void;
}

function answerBody(
  { incoming, outgoing, target, begun }: ListenerExchange,
  read: ReadBody,
  { handler, failed }: Answering,
): void {
  if (read.kind === 'broken') return void outgoing.destroy();
  if (read.kind !== 'whole') return refuse(outgoing, read.kind);
  const { query } = target;
  const onLeave = (left: () => void): void => void outgoing.once('close', left);
  const { headers } = incoming;
  const contentType = headers['content-type'] ?? '';
  const caller = { query, begun, onLeave, headers };
  const answered = handler({ contentType, body: read.body, caller });
  if (answered instanceof Promise) {
    answered.then((answer) => writeResponse(outgoing, answer)).catch(failed);
  } else writeResponse(outgoing, answered);
}

const refusals = {
  'too-long': { status: 413, why: `the body is longer than ${maxBody} bytes` },
  'too-slow': { status: 429, why: 'it comes too slowly while too many others are under way' },
  'no-room': { status: 429, why: 'too many requests are under way' },
  'too-many': {
    status: 429,
    why: `more than ${mostOfConnection} requests of this connection are under way`,
  },
} as const;

/** Refuses a client that sends too much, without reading the rest, and ends its connection. */
function refuse(outgoing: ServerResponse, kind: keyof typeof refusals): void {
  const { status, why } = refusals[kind];
  const body = `Request could not be read: ${why}\n`;
  writeResponse(outgoing, { status, body, headers: { connection: 'close' } });
}
