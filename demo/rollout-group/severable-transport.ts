import {
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
  type TransportStream,
} from '#kubernetes/transport/transport.ts';

/** A way to the API server that can be cut, as it is when the process at its end is killed. */
export class SeverableTransport implements Transport {
  readonly #inner: Transport;
  #closed: Promise<void> | undefined;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    return this.#inner.request(this.#guarded(request));
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    return this.#inner.stream(this.#guarded(request));
  }

  /** Severs it: from now on nothing is sent, and no answer arrives; what the server has received, it has. */
  sever(): void {
    // The connections are gone at once; when they are freed does not matter.
    this.close().catch(() => undefined);
  }

  close(): Promise<void> {
    this.#closed ??= this.#inner.close();
    return this.#closed;
  }

  /** Returns `request`, checked as it is made, and once more exactly when it would leave: it may have queued. */
  #guarded(request: TransportRequest): TransportRequest {
    this.#assertOpen(request);
    const beforeSend = (): void => {
      this.#assertOpen(request);
      request.beforeSend?.();
    };
    return { ...request, beforeSend };
  }

  #assertOpen({ method, path }: TransportRequest): void {
    if (this.#closed === undefined) return;
    throw new TransportError(`Cannot ${method} ${path}: the connection was cut`, 'not-sent');
  }
}
