import { Worker } from 'node:worker_threads';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { monotonic } from '#base/units.ts';
import type { KeyPair } from '#certificate/certificate-source.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Account, AskedReview, FromThread, ThreadSettings, ToThread } from './messages.ts';

/** What a thread needs of the one that starts it. */
export interface HelperThreadOptions {
  readonly clock: Clock;
  /** Answer what it cannot answer at sight. */
  readonly endpoints: readonly Endpoint[];
  readonly enter: (account: Account) => void;
  /** What the thread runs. @default `review-thread.ts` */
  readonly program?: URL;
}

const reviewThread = new URL('review-thread.ts', import.meta.url);

/** Most of a review is short-lived: a larger young generation would be memory that lies idle. */
const resourceLimits = { maxYoungGenerationSizeMb: 6 } as const;

/** One thread that answers reviews, as the thread that started it sees it. */
export class HelperThread {
  /** Rejects when the thread can answer no more, before it was told to close. */
  readonly failed: Promise<never>;
  readonly #options: HelperThreadOptions;
  readonly #worker: Worker;
  readonly #leaving = new Map<number, () => void>();
  /** Who waits for a certificate, in the order of asking. */
  readonly #certified: (() => void)[] = [];
  readonly #listening = Promise.withResolvers<number>();
  readonly #failure = Promise.withResolvers<never>();
  readonly #closed = Promise.withResolvers<void>();
  #isClosing = false;

  constructor(options: HelperThreadOptions) {
    this.#options = options;
    this.failed = this.#failure.promise;
    // Whoever awaits neither learns of the failure from the other.
    this.failed.catch(() => undefined);
    this.#listening.promise.catch(() => undefined);
    this.#worker = new Worker(options.program ?? reviewThread, { resourceLimits });
    this.#worker.on('message', (message: FromThread) => this.#take(message));
    this.#worker.on('error', (error) => this.#fail(errorOf(error)));
    this.#worker.on('exit', (code) => {
      if (!this.#isClosing) {
        this.#fail(new Error(`A thread that answers reviews has ended with ${code}`));
      }
      this.#closed.resolve();
    });
  }

  /**
   * Lets the thread serve.
   *
   * @returns its port
   * @throws {Error} one sentence, when it cannot listen
   */
  serve(settings: ThreadSettings): Promise<number> {
    this.#tell({ kind: 'serve', settings });
    return this.#listening.promise;
  }

  /** Resolves once new connections get `certificate`, or the thread has ended. */
  setCertificate(certificate: KeyPair): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#certified.push(resolve);
    this.#tell({ kind: 'certificate', certificate });
    return Promise.race([promise, this.#closed.promise]);
  }

  /** Lets it answer what is under way, and ends it. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#tell({ kind: 'close' });
    await this.#closed.promise;
    await this.#worker.terminate();
  }

  #tell(message: ToThread): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    this.#worker.postMessage(message);
  }

  #take(message: FromThread): void {
    switch (message.kind) {
      case 'listening':
        return this.#listening.resolve(message.port);
      case 'failed':
        return this.#fail(message.error);
      case 'asked':
        return void this.#answer(message.review).catch((error: unknown) =>
          this.#fail(errorOf(error)),
        );
      case 'left':
        return this.#leaving.get(message.id)?.();
      case 'account':
        return this.#options.enter(message.account);
      case 'certified':
        return this.#certified.shift()?.();
      case 'closed':
        return this.#closed.resolve();
    }
  }

  #fail(error: Error): void {
    this.#listening.reject(error);
    this.#failure.reject(error);
  }

  async #answer({ id, path, contentType, query, body, waited }: AskedReview): Promise<void> {
    const { clock, endpoints } = this.#options;
    const endpoint = endpoints.find((each) => each.path === path);
    if (endpoint === undefined) return this.#fail(new Error(`A thread asked for ${path}`));
    const { buffer, byteOffset, byteLength } = body;
    const answer = await endpoint.otherwise({
      contentType,
      query,
      body: Buffer.from(buffer, byteOffset, byteLength),
      begun: monotonic(clock.monotonic() - waited),
      onLeave: (left) => void this.#leaving.set(id, left),
    });
    this.#leaving.delete(id);
    this.#tell({ kind: 'answered', id, answer });
  }
}
