import type { IncomingMessage } from 'node:http';
import type { Clock } from '#base/clock.ts';
import { millis } from '#base/units.ts';
import { lengthOf, type WholeResponse } from './http-response.ts';
import type { HttpServerMetrics } from './http-server-metrics.ts';
import { statedLength } from './stated-length.ts';

/** What {@link observed} observes with. */
export interface Instruments {
  readonly metrics: HttpServerMetrics;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The label of the request's path. */
  readonly route: string;
}

/** Returns the answer of `answer`, with time, size and number of what was asked and answered observed (ME-20…ME-23). */
export async function observed(
  { method = '', headers }: IncomingMessage,
  { metrics, clock, route }: Instruments,
  answer: () => Promise<WholeResponse>,
): Promise<WholeResponse> {
  const begun = clock.monotonic();
  metrics.changeInflight(method, route, 1);
  let response: WholeResponse;
  try {
    response = await answer();
  } finally {
    metrics.changeInflight(method, route, -1);
  }
  metrics.observeServed({
    method,
    route,
    status: response.status,
    isWebSocket: headers.upgrade?.toLowerCase() === 'websocket',
    duration: millis(clock.monotonic() - begun),
    requestBytes: statedLength(headers['content-length']),
    responseBytes: method === 'HEAD' ? 0 : lengthOf(response.body),
  });
  return response;
}
