import type { JsonObject } from '#base/json.ts';
import {
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from '#kubernetes/transport/transport.ts';
import { unlessAborted } from './unless-aborted.ts';

/** What becomes of a request to the API server instead of its answer; undefined: nothing. */
export type ApiFault =
  | 'hang'
  | 'reset'
  | { readonly status: number; readonly object?: JsonObject }
  | undefined;

/** A transport that keeps what is requested through it, and may break instead of answering. */
export class FaultyTransport implements Transport {
  /** As `METHOD path`. */
  readonly requests: string[] = [];
  /** Decides on each request. */
  fault: (request: TransportRequest) => ApiFault = () => undefined;
  /** Runs before each of them is sent. */
  beforeRequest: (request: TransportRequest) => Promise<void> = () => Promise.resolve();
  readonly #inner: Transport;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(`${request.method} ${request.path.split('?', 1)[0] ?? ''}`);
    await this.beforeRequest(request);
    const fault = this.fault(request);
    if (fault === undefined) return this.#inner.request(request);
    if (fault === 'reset') throw new TransportError('the connection was reset', 'connection');
    return fault === 'hang' ? unlessAborted(hung(), request.signal) : answerOf(fault);
  }

  stream(request: TransportRequest): ReturnType<Transport['stream']> {
    return this.#inner.stream(request);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

function hung(): Promise<never> {
  return new Promise(() => undefined);
}

function answerOf(fault: {
  readonly status: number;
  readonly object?: JsonObject;
}): TransportResponse {
  const { status, object } = fault;
  if (object === undefined) return refusal(status);
  return { status, headers: {}, body: Buffer.from(JSON.stringify(object)) };
}

function refusal(status: number): TransportResponse {
  const reason = status === 403 ? 'Forbidden' : 'InternalError';
  const text = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code: status };
  const body = Buffer.from(JSON.stringify({ ...text, message: `refused with ${status}` }));
  return { status, headers: { 'content-type': 'application/json' }, body };
}
