/** A thread that answers reviews: at sight what it can, all else as the thread that started it says. */
import { parentPort } from 'node:worker_threads';
import { errorOf } from '#base/error-of.ts';
import { millis } from '#base/units.ts';
import { createLogger } from '#telemetry/line-logger.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { type AdmissionServer, startAdmissionServer } from '../admission-server.ts';
import { endpointAtSight } from '../endpoint.ts';
import { webhookFronts } from '../fronts.ts';
import type { PostedAnswer, PostedReview } from '../review-desk.ts';
import { AccountBook } from './account-book.ts';
import type { FromThread, ThreadSettings, ToThread } from './messages.ts';

const clock = systemClock();

/** Says something; memory that is `given` with it is not copied. */
type Say = (message: FromThread, given?: ArrayBuffer[]) => void;

/** The reviews that the other thread is asked for. */
class Asked {
  readonly #say: Say;
  readonly #waiting = new Map<number, (answer: PostedAnswer) => void>();
  #last = 0;

  constructor(say: Say) {
    this.#say = say;
  }

  answered(id: number, answer: PostedAnswer): void {
    this.#waiting.get(id)?.(answer);
    this.#waiting.delete(id);
  }

  ask(path: string, posted: PostedReview): Promise<PostedAnswer> {
    this.#last += 1;
    const id = this.#last;
    const { promise, resolve } = Promise.withResolvers<PostedAnswer>();
    this.#waiting.set(id, resolve);
    const { contentType, query, begun } = posted;
    // A copy of its own: a message carries all of the memory that a buffer is a part of.
    const body = Uint8Array.from(posted.body);
    const waited = millis(clock.monotonic() - begun);
    const review = { id, path, contentType, body, query, waited };
    this.#say({ kind: 'asked', review }, [body.buffer]);
    posted.onLeave(() => {
      if (this.#waiting.has(id)) this.#say({ kind: 'left', id });
    });
    return promise;
  }
}

class ReviewThread {
  readonly #say: Say;
  readonly #asked: Asked;
  readonly #book: AccountBook;
  #server: AdmissionServer | undefined;

  constructor(say: Say) {
    this.#say = say;
    this.#asked = new Asked(say);
    this.#book = new AccountBook(clock, (account) => say({ kind: 'account', account }));
  }

  async take(message: ToThread): Promise<void> {
    switch (message.kind) {
      case 'serve':
        return this.#serve(message.settings);
      case 'answered':
        return this.#asked.answered(message.id, message.answer);
      case 'certificate':
        await this.#server?.setCertificate(message.certificate);
        return this.#say({ kind: 'certified' });
      case 'close':
        return this.#close();
    }
  }

  async #serve({ log: format, ...settings }: ThreadSettings): Promise<void> {
    const log = createLogger({ ...format, clock, sink: this.#book });
    this.#server = await startAdmissionServer({
      ...settings,
      isPortShared: true,
      clock,
      log,
      metrics: this.#book,
      endpoints: webhookFronts.map((front) =>
        endpointAtSight(front, log, (posted) => this.#asked.ask(front.path, posted)),
      ),
    });
    this.#say({ kind: 'listening', port: this.#server.port });
  }

  async #close(): Promise<void> {
    await this.#server?.close();
    this.#book.flush();
    this.#say({ kind: 'closed' });
  }
}

const port = parentPort;
if (port === null) throw new Error('A thread of reviews is started by the operator only');
const say: Say = (message, given = []) => port.postMessage(message, given);
const thread = new ReviewThread(say);
port.on('message', (message: ToThread) => {
  thread.take(message).catch((error: unknown) => say({ kind: 'failed', error: errorOf(error) }));
});
