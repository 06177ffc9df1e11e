import {
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
  type TransportStream,
} from '#kubernetes/transport/transport.ts';

/** What a {@link FakeTransport} answers: a status with a body, JSON unless it is a string; or an error to throw. */
export type FakeAnswer =
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    }
  | Error;

/** A {@link Transport} that answers from a function and remembers what it was asked. */
export class FakeTransport implements Transport {
  readonly requests: TransportRequest[] = [];
  readonly #answer: (request: TransportRequest) => FakeAnswer | Promise<FakeAnswer>;
  isClosed = false;

  constructor(answer: (request: TransportRequest) => FakeAnswer | Promise<FakeAnswer>) {
    this.#answer = answer;
  }

  /** Returns the last request; throws when there was none. */
  get last(): TransportRequest {
    const last = this.requests.at(-1);
    if (last === undefined) throw new Error('nothing was requested');
    return last;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    if (request.signal?.aborted === true) throw new TransportError('aborted', 'not-sent');
    request.beforeSend?.();
    this.requests.push(request);
    const answer = await this.#answer(request);
    if (answer instanceof Error) throw answer;
    const { status = 200, headers = {}, body } = answer;
    return { status, headers, body: Buffer.from(typeof body === 'string' ? body : jsonOf(body)) };
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    const { status, headers, body } = await this.request(request);
    return { status, headers, chunks: single(body) };
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

function jsonOf(body: unknown): string {
  return body === undefined ? '' : JSON.stringify(body);
}

async function* single(body: Uint8Array): AsyncGenerator<Uint8Array> {
  if (body.byteLength > 0) yield body;
}

/** Lets everything that is ready run: all microtasks and one turn of the event loop. */
export async function settled(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
