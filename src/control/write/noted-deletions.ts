import type { Clock } from '#base/clock.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import type { DeletionEnd } from './pod-deletions.ts';
import type { Refusals } from './refusals.ts';

/** What learns of deletions that ended. */
export interface NotingPorts {
  readonly queue: Pick<WorkQueue, 'add' | 'addAfter'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly refusals: Refusals;
}

/** Notes how a deletion for `key` ended, and has the key looked at again where the pod did not go. */
export function noteDeletion(
  key: string,
  end: DeletionEnd,
  { queue, clock, refusals }: NotingPorts,
): void {
  const now = clock.monotonic();
  switch (end.kind) {
    case 'deleted':
      refusals.recovered(key, now);
      return;
    case 'outrun':
      queue.addAfter(key, refusals.outrun(key, end.answer, now));
      return;
    case 'stale':
      refusals.stale(key, end.error, now);
      queue.add(key);
      return;
    case 'failed':
      refusals.failed(key, end.error, now);
      queue.add(key);
      return;
    default:
      end satisfies never;
  }
}
