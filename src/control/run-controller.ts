/**
 * The loop that all capabilities share: a key is looked at, planned, what is missing is seen to, and requests leave only
 * as a plan of that instant has them. What is wanted of a group or a resource is decided by its capability.
 */
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, millis } from '#base/units.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { RevisionWentBackError } from '#kubernetes/revision.ts';
import type { Requeue } from './decision/decision.ts';

/** What a pass over one key asks of the queue. */
export type PassResult =
  | { readonly kind: 'ended'; readonly requeue: Requeue }
  /** Look again after the key's backoff, or after what the server asked for. */
  | { readonly kind: 'retry'; readonly retryAfter: Millis | undefined };

/** A loop over a queue of keys. */
export interface ControllerOptions {
  readonly queue: WorkQueue;
  readonly clock: Clock;
  /** Keys worked on at once; one key is never worked on twice at a time. */
  readonly workers: number;
  /** Runs one pass. Must not throw for what it can explain; what it throws goes to `report`. */
  reconcile(key: string, signal: AbortSignal): Promise<PassResult>;
  /** Reports a bug: something was thrown that no pass should throw. The key is tried again after its backoff. */
  report(key: string, error: unknown): void;
  /** Reports whether nothing may go on after `error`, such as when no cache can be trusted (D-6). */
  isFatal(error: unknown): boolean;
}

/** Returns what becomes of errors that no pass should throw: they are logged, and a view that went back ends the loop (D-6). */
export function onFault(log: Logger): Pick<ControllerOptions, 'report' | 'isFatal'> {
  return {
    report: (key, error) =>
      log.error('reconcile ended with a fault of this program', { key, err: errorOf(error) }),
    isFatal: (error) => error instanceof RevisionWentBackError,
  };
}

/**
 * Runs passes until `signal` aborts and those under way have ended.
 * @throws the first fatal error, once the passes under way, which it aborts, have ended
 */
export async function runController(
  options: ControllerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { queue } = options;
  const fatal = new AbortController();
  const ending = AbortSignal.any([signal, fatal.signal]);
  const shutDown = (): void => queue.shutDown();
  if (ending.aborted) shutDown();
  else ending.addEventListener('abort', shutDown, { once: true });
  const work = async (): Promise<void> => {
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      await pass(key, { ...options, end: (error) => fatal.abort(error) }, ending);
    }
  };
  await Promise.all(Array.from({ length: options.workers }, work));
  fatal.signal.throwIfAborted();
}

interface PassOptions extends ControllerOptions {
  /** Ends the loop with `error`. */
  end(error: unknown): void;
}

async function pass(key: string, options: PassOptions, signal: AbortSignal): Promise<void> {
  const { queue, clock } = options;
  try {
    const result = await options.reconcile(key, signal);
    if (result.kind === 'retry') retry(key, queue, result.retryAfter);
    else {
      queue.forget(key);
      if (result.requeue.kind === 'at') {
        queue.addAfter(key, millis(Math.max(0, result.requeue.at - clock.now())));
      }
    }
  } catch (error) {
    if (options.isFatal(error)) options.end(error);
    else if (!signal.aborted) options.report(key, error);
    queue.addRateLimited(key);
  } finally {
    queue.done(key);
  }
}

function retry(key: string, queue: WorkQueue, retryAfter: Millis | undefined): void {
  // A server that asks for no wait at all still gets the backoff, or a failure without end becomes a hot loop.
  if (retryAfter === undefined || retryAfter <= 0) queue.addRateLimited(key);
  else queue.addAfter(key, retryAfter);
}
