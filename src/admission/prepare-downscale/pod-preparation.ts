import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { millis, seconds } from '#base/units.ts';
import type { PodHttp } from '#pod-http/pod-http.ts';
import { cancelAll, type PrepareWork, prepareAll } from '#pod-http/prepare-all.ts';
import { type Deadline, earlierBy, startDeadline } from '../review/deadline.ts';

/** What {@link PodPreparation} works with. */
export interface PodPreparationOptions {
  readonly podHttp: PodHttp;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Time that is kept for taking a preparation back, while a caller still waits for the answer. */
const reserve = seconds(1);
const reservedShare = 0.2;
/** Taking back goes on for so long at most, also after the answer: it ends before the claim of the group lapses. */
const undoPatience = seconds(20);

/** Prepares the pods of one down-scale, all or none. */
export class PodPreparation {
  readonly #options: PodPreparationOptions;
  readonly #work: PrepareWork;

  constructor(options: PodPreparationOptions, pods: Omit<PrepareWork, 'headers'>) {
    this.#options = options;
    this.#work = { ...pods, headers: { 'content-type': 'application/json' } };
  }

  /** Prepares all pods, and leaves time for {@link undo}. @returns whether all said yes */
  async prepare(deadline: Deadline): Promise<boolean> {
    const { podHttp, clock, log } = this.#options;
    const kept = millis(Math.min(reserve, deadline.remaining() * reservedShare));
    const early = earlierBy(kept, deadline, clock);
    try {
      const failure = await prepareAll(podHttp, this.#work, early.signal);
      if (failure === undefined) return true;
      log.error('a pod failed to prepare for shutdown', {
        statefulset: this.#work.set,
        url: failure.url,
        err: failure.message,
      });
      return false;
    } finally {
      early.release();
    }
  }

  /**
   * Calls every pod once to take the preparation back; one line reports all failures. No caller's deadline ends it: a
   * pod that stays prepared by mistake is worse than a late answer.
   */
  async undo(): Promise<void> {
    const { podHttp, clock, log } = this.#options;
    const bound = startDeadline(clock, clock.monotonic(), undoPatience);
    try {
      const { count, first } = await cancelAll(podHttp, this.#work, bound.signal);
      if (count === 0) return;
      log.warn('a preparation could not be taken back', {
        statefulset: this.#work.set,
        pods: this.#work.count,
        failed: count,
        urls: first.map(({ url }) => url),
        err: first.map(({ message }) => message).join('; '),
      });
    } finally {
      bound.release();
    }
  }
}

/** Resolves with `work`, or when `deadline` is over, whichever is first. Never rejects because of the deadline. */
export async function untilDeadline(
  work: Promise<void>,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const over = (): void => resolve();
  signal.addEventListener('abort', over, { once: true });
  await Promise.race([work, promise]);
  signal.removeEventListener('abort', over);
}
