import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';

/** What runs the keys of a queue. */
export interface Workers {
  readonly queue: WorkQueue;
  /** How many keys are worked on at the same time; one key never twice. */
  readonly count: number;
  readonly reconcile: (key: string) => Promise<void>;
  readonly log: Logger;
}

async function work({ queue, reconcile, log }: Workers): Promise<void> {
  for (;;) {
    const key = await queue.get();
    if (key === undefined) return;
    try {
      await reconcile(key);
      queue.forget(key);
    } catch (error) {
      log.warn('reconcile failed', {
        key,
        failures: queue.failures(key) + 1,
        error: errorOf(error),
      });
      queue.addRateLimited(key);
    } finally {
      queue.done(key);
    }
  }
}

/** Works on the queue until it is shut down: a key whose reconcile fails comes back with its backoff (SS-1). */
export async function runWorkers(workers: Workers): Promise<void> {
  await Promise.all(Array.from({ length: workers.count }, () => work(workers)));
}
