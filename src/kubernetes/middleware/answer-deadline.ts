import { type Millis, millis } from '#base/units.ts';
import { aroundTransport } from '../transport/around-transport.ts';
import type { Transport, TransportRequest } from '../transport/transport.ts';

/**
 * Returns `transport` that ends a request `answerWithin` after it came here. It is behind the rate limiter, so that the
 * time counts from when that let the request go (D-53); an earlier `timeout` of the request holds all the same.
 */
export function withAnswerDeadline(transport: Transport): Transport {
  return aroundTransport(transport, (request, send) => send(bounded(request)));
}

function bounded({ answerWithin, ...request }: TransportRequest): TransportRequest {
  const timeout = earlier(request.timeout, answerWithin);
  return timeout === undefined ? request : { ...request, timeout };
}

/** Returns the shorter of two spans that may be missing; undefined when both are. */
export function earlier(one: Millis | undefined, other: Millis | undefined): Millis | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return millis(Math.min(one, other));
}
