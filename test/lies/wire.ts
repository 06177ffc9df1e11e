/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-assignment, typescript/no-unsafe-return -- documents are looked into by path, and a lie that misses its target lets its scenario pass, which fails the run */
/** Lies on the wire: what a client sends, and what it is answered, is changed on the way. */
import type { ClusterTransport } from '#cluster/cluster.ts';
import type { EmbeddedCluster } from '#cluster/create-cluster.ts';
import type {
  TransportRequest,
  TransportResponse,
  TransportStream,
} from '#kubernetes/transport/transport.ts';

/** Sends a request on; what comes back is what an honest server answers. */
export type Send = (request: TransportRequest) => Promise<TransportResponse>;

/** What is changed; absent members change nothing. */
export interface WireLie {
  readonly answer?: (send: Send, request: TransportRequest) => Promise<TransportResponse>;
  /** One event of a watch. */
  readonly event?: (event: any, client: string) => any;
  /** An answer in place of a watch. */
  readonly watch?: (request: TransportRequest) => TransportResponse | undefined;
}

class LyingTransport implements ClusterTransport {
  readonly client: string;
  readonly #honest: ClusterTransport;
  readonly #lie: WireLie;

  constructor(honest: ClusterTransport, lie: WireLie) {
    this.#honest = honest;
    this.#lie = lie;
    this.client = honest.client;
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    const send: Send = (honest) => this.#honest.request(honest);
    return this.#lie.answer?.(send, request) ?? send(request);
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    const instead = this.#lie.watch?.(request);
    if (instead !== undefined) {
      const { status, headers, body } = instead;
      return { status, headers, chunks: only(body) };
    }
    const stream = await this.#honest.stream(request);
    const { event } = this.#lie;
    if (event === undefined) return stream;
    return { ...stream, chunks: changed(stream.chunks, (line) => event(line, this.client)) };
  }

  close(): Promise<void> {
    return this.#honest.close();
  }

  revoke(): void {
    this.#honest.revoke();
  }
}

async function* only(body: Uint8Array): AsyncIterable<Uint8Array> {
  yield body;
}

/** In virtual time each chunk is one line or more. */
async function* changed(
  chunks: AsyncIterable<Uint8Array>,
  change: (event: any) => any,
): AsyncIterable<Uint8Array> {
  for await (const chunk of chunks) {
    const lines = Buffer.from(chunk).toString().split('\n').filter(Boolean);
    const events = lines.map((line) => `${JSON.stringify(change(JSON.parse(line)))}\n`);
    yield Buffer.from(events.join(''));
  }
}

/** From now on every client of `cluster` is lied to. */
export function lieOnTheWire(cluster: EmbeddedCluster, lie: WireLie): void {
  const honest = cluster.transport.bind(cluster);
  const transport: EmbeddedCluster['transport'] = (options) =>
    new LyingTransport(honest(options), lie);
  Object.assign(cluster, { transport });
}

/** `response` with its JSON document changed. */
export function rewritten(
  response: TransportResponse,
  change: (document: any) => any,
): TransportResponse {
  const document = JSON.parse(Buffer.from(response.body).toString());
  return { ...response, body: Buffer.from(JSON.stringify(change(document))) };
}

/** An answer that is a Status. */
export function refusal(code: number, reason: string): TransportResponse {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: reason };
  return {
    status: code,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ ...status, metadata: {}, reason, code })),
  };
}
