import type { Millis } from '#base/units.ts';
import { type Monotonic, millis, monotonic } from '#base/units.ts';
import {
  TransportError,
  type TransportRequest,
  type TransportResponse,
  type TransportStream,
} from '#kubernetes/transport/transport.ts';
import { requestsOf } from '../clock/activity.ts';
import type { ClusterTransport, User } from '../cluster.ts';
import type { ApiServer } from '../rest/api-server.ts';
import type { ApiAnswer } from '../rest/request/api-request.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { WatchPipe } from './watch-pipe.ts';

/** How long watch events travel to one client; the order within a watch never changes (LW-10). */
export interface DeliveryProfile {
  readonly minimum: Millis;
  readonly maximum: Millis;
  /** Source of the delays; reseed it alone to fuzz the interleaving (CK-6). */
  readonly random: SeededRandom;
}

/** What a transport is made of. */
export interface InProcessTransportOptions {
  readonly server: ApiServer;
  readonly client: string;
  readonly user: User;
  readonly delivery?: DeliveryProfile | undefined;
}

async function never(): Promise<never> {
  return new Promise<never>(() => undefined);
}

/** A client connection without sockets: calls the API server directly and counts what is under way (D-43). */
export class InProcessTransport implements ClusterTransport {
  readonly client: string;
  readonly #options: InProcessTransportOptions;
  readonly #owner: string;
  readonly #pipes = new Set<WatchPipe>();
  readonly #closing = new AbortController();
  #isRevoked = false;
  /** When a request arrives that a client had sent which is gone; undefined: never. */
  #arrival: (() => Monotonic) | undefined;

  constructor(options: InProcessTransportOptions) {
    this.#options = options;
    this.client = options.client;
    this.#owner = requestsOf(options.client);
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    return this.#counted(request, async (answer) => {
      if (answer.kind === 'dropped') throw broken();
      if (answer.kind === 'watch') {
        return readWhole(this.#open(answer, request.signal));
      }
      const { status, headers, body } = answer;
      return { status, headers, body: joined(body) };
    });
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    return this.#counted(request, (answer) => {
      if (answer.kind === 'dropped') throw broken();
      if (answer.kind === 'watch') return this.#open(answer, request.signal);
      const { status, headers, body } = answer;
      return { status, headers, chunks: once(joined(body)) };
    });
  }

  async close(): Promise<void> {
    this.#closing.abort(new TransportError('the transport was closed', 'connection'));
    for (const pipe of this.#pipes) pipe.break('the transport was closed');
    await Promise.resolve();
  }

  revoke(late?: () => Millis): void {
    const { clock } = this.#options.server.context;
    const now = clock.monotonic();
    if (late !== undefined) this.#arrival = () => monotonic(now + late());
    this.#isRevoked = true;
    for (const pipe of this.#pipes) pipe.silence();
    this.#pipes.clear();
  }

  /** Sends `request` and hands the answer to `use`; every way out but a revoked one is counted to its end. */
  async #counted<T>(
    request: TransportRequest,
    use: (answer: ApiAnswer) => T | Promise<T>,
  ): Promise<T> {
    if (this.#isRevoked) return never();
    this.#checkOpen(request.signal);
    request.beforeSend?.();
    const { activity } = this.#options.server.context;
    activity.begin(this.#owner);
    const answering = this.#answer(request);
    try {
      const answer = await this.#untilGivenUp(request, answering);
      if (!this.#isRevoked) return await use(answer);
    } catch (error) {
      if (!this.#isRevoked) {
        answering.then(discard, () => undefined);
        throw error;
      }
    }
    answering.then(discard, () => undefined);
    return never();
  }

  /** Answers a request; the server's work is counted to its end even when the client has given up on it. */
  async #answer(request: TransportRequest): Promise<ApiAnswer> {
    const { server, user, client } = this.#options;
    try {
      // The hop is the wire: a request takes effect only after its sender got to its next await.
      await Promise.resolve();
      return await server.answer({
        method: request.method,
        path: request.path,
        headers: request.headers ?? {},
        body: request.body ?? '',
        user,
        client,
        isAlive: () => !this.#isRevoked,
        lateness: this.#latenessOfOne(),
      });
    } finally {
      server.context.activity.end(this.#owner);
    }
  }

  /** Returns how much longer one request takes, the same whenever it is asked for. */
  #latenessOfOne(): () => Millis | undefined {
    const { clock } = this.#options.server.context;
    let arrival: Monotonic | undefined;
    return () => {
      arrival ??= this.#arrival?.();
      return arrival === undefined ? undefined : millis(Math.max(0, arrival - clock.monotonic()));
    };
  }

  async #untilGivenUp(
    request: TransportRequest,
    answering: Promise<ApiAnswer>,
  ): Promise<ApiAnswer> {
    const { signal, timeout } = request;
    const { clock } = this.#options.server.context;
    const cleanups: (() => void)[] = [];
    const givenUp = new Promise<never>((_resolve, reject) => {
      const onAbort = (): void => reject(abortedBy(signal));
      signal?.addEventListener('abort', onAbort, { once: true });
      cleanups.push(() => signal?.removeEventListener('abort', onAbort));
      const onClose = (): void => reject(broken());
      this.#closing.signal.addEventListener('abort', onClose, { once: true });
      cleanups.push(() => this.#closing.signal.removeEventListener('abort', onClose));
      if (timeout === undefined) return;
      const expire = (): void => reject(timedOut(request, timeout));
      const timer = clock.timer(timeout, expire, { owner: 'request timeout' });
      cleanups.push(() => timer.cancel());
    });
    try {
      return await Promise.race([answering, givenUp]);
    } finally {
      for (const cleanup of cleanups) cleanup();
    }
  }

  #checkOpen(signal: AbortSignal | undefined): void {
    if (this.#closing.signal.aborted) {
      throw new TransportError('Cannot send as the transport was closed', 'not-sent');
    }
    if (signal?.aborted === true) {
      throw new TransportError('Cannot send as the request was aborted', 'not-sent', {
        cause: signal.reason,
      });
    }
  }

  #open(
    answer: Extract<ApiAnswer, { kind: 'watch' }>,
    signal: AbortSignal | undefined,
  ): TransportStream {
    const { server, client, delivery } = this.#options;
    const pipe = new WatchPipe({
      session: answer.session,
      context: server.context,
      client,
      delayOf: () => delayFrom(delivery),
      onEnd: () => {
        this.#pipes.delete(pipe);
        signal?.removeEventListener('abort', onAbort);
      },
    });
    const onAbort = (): void => pipe.fail(abortedBy(signal));
    this.#pipes.add(pipe);
    signal?.addEventListener('abort', onAbort, { once: true });
    return { status: answer.status, headers: answer.headers, chunks: pipe };
  }
}

/** Discards an answer that will not be read: a watch would stay open for ever. */
function discard(answer: ApiAnswer): void {
  if (answer.kind === 'watch') answer.session.close();
}

function delayFrom(delivery: DeliveryProfile | undefined): Millis {
  if (delivery === undefined) return millis(0);
  const { minimum, maximum, random } = delivery;
  return millis(minimum + random.fraction() * (maximum - minimum));
}

function joined(body: readonly Uint8Array[]): Uint8Array {
  const [only] = body;
  return body.length === 1 && only !== undefined ? only : Buffer.concat(body);
}

async function* once(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(chunk);
}

async function readWhole(stream: TransportStream): Promise<TransportResponse> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream.chunks) chunks.push(chunk);
  return { status: stream.status, headers: stream.headers, body: joined(chunks) };
}

function broken(): TransportError {
  return new TransportError('the connection was reset', 'connection');
}

function abortedBy(signal: AbortSignal | undefined): TransportError {
  return new TransportError('the request was aborted', 'aborted', { cause: signal?.reason });
}

function timedOut(request: TransportRequest, timeout: Millis): TransportError {
  const { method, path } = request;
  return new TransportError(`${method} ${path} was not answered within ${timeout} ms`, 'timeout');
}
