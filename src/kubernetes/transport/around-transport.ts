import type {
  Transport,
  TransportRequest,
  TransportResponse,
  TransportStream,
} from './transport.ts';

/** Sends `request`, or what it makes of it, by `send`, and passes on the answer: whole, or as it arrives. */
type Around = <Answer extends TransportResponse | TransportStream>(
  request: TransportRequest,
  send: (request: TransportRequest) => Promise<Answer>,
) => Promise<Answer>;

/** Returns `inner` with `around` about each request, whichever way its answer is read. */
export function aroundTransport(inner: Transport, around: Around): Transport {
  return {
    request: (request) => around(request, (each) => inner.request(each)),
    stream: (request) => around(request, (each) => inner.stream(each)),
    close: () => inner.close(),
  };
}
