import { isJsonObject, jsonIn } from '#base/json.ts';
import {
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
  type TransportStream,
} from '../transport/transport.ts';

/** A request that a peer's cluster check turned away (ME-8). */
export interface ClusterRejection {
  /** The cluster that we named in the request. */
  readonly requestCluster: string;
  /** The route that the rejection names. */
  readonly route: string;
  readonly message: string;
}

/** Settings of {@link withClusterHeader}. */
export interface ClusterHeaderOptions {
  /** Value of `X-Cluster`: our namespace. */
  readonly cluster: string;
  /** Counts and logs a rejection (ME-8, ME-41). */
  readonly onRejected?: (rejection: ClusterRejection) => void;
}

/**
 * Returns `transport` that names our cluster in every request (ME-41), the outermost layer (K8-24). A 511 answer of the
 * cluster check becomes a {@link TransportError}: what answered was not the server that we mean.
 */
export function withClusterHeader(transport: Transport, options: ClusterHeaderOptions): Transport {
  return new ClusterHeader(transport, options);
}

class ClusterHeader implements Transport {
  readonly #inner: Transport;
  readonly #options: ClusterHeaderOptions;

  constructor(inner: Transport, options: ClusterHeaderOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const response = await this.#inner.request(this.#named(request));
    if (response.status === 511) this.#check(request, response.body);
    return response;
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    const stream = await this.#inner.stream(this.#named(request));
    if (stream.status !== 511) return stream;
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream.chunks) chunks.push(chunk);
    this.#check(request, Buffer.concat(chunks));
    return { ...stream, chunks: replay(chunks) };
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #named(request: TransportRequest): TransportRequest {
    return { ...request, headers: { ...request.headers, 'x-cluster': this.#options.cluster } };
  }

  #check(request: TransportRequest, body: Uint8Array): void {
    const rejection = clusterRejectionOf(Buffer.from(body).toString(), this.#options.cluster);
    if (rejection === undefined) return;
    this.#options.onRejected?.(rejection);
    const { route, message } = rejection;
    throw new TransportError(
      `Cannot ${request.method} ${request.path}: the cluster check of route "${route}" turned it away: ${message}`,
      'connection',
    );
  }
}

/** Returns the rejection that the body of a 511 is; undefined for that of another server, such as a captive portal. */
export function clusterRejectionOf(
  body: string,
  requestCluster: string,
): ClusterRejection | undefined {
  const value = jsonIn(body);
  if (!isJsonObject(value)) return undefined;
  const { cluster_validation_error_message: message, route } = value;
  if (typeof message !== 'string') return undefined;
  return { requestCluster, route: typeof route === 'string' ? route : '', message };
}

async function* replay(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
