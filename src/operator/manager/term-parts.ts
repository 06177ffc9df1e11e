/** What the terms of the controllers have in common: the caches that they rest on, their Events, and who led before. */
import { atMost } from '#base/async/at-most.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { seconds } from '#base/units.ts';
import type { Config } from '#config/config.ts';
import { PredecessorWait } from '#control/plan/predecessor-wait.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import { createEventRecorder } from '#kubernetes/events/events.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import type { LedTerm } from './led-terms.ts';

/** How long the end waits for Events that are not written yet. */
const flushPatience = seconds(2);

/** What a term is spent on. */
export interface WatchedWork {
  /** Fills the caches until `signal` aborts. */
  readonly watch: (signal: AbortSignal) => readonly Promise<unknown>[];
  /** Resolves when they are filled, and rejects where they end before. */
  readonly synced: Promise<unknown>;
  /** Begins once they are filled. @returns whether all that was sent is answered */
  readonly work: (signal: AbortSignal) => Promise<boolean>;
}

/**
 * Does the work while its caches are watched, until `signal` aborts.
 *
 * @returns whether all that was sent is answered, so that nothing may arrive late
 * @throws when the view of the cluster cannot be trusted any more (D-6)
 */
export async function whileWatched(
  { watch, synced, work }: WatchedWork,
  signal: AbortSignal,
): Promise<boolean> {
  const ending = new AbortController();
  const untilEnd = AbortSignal.any([signal, ending.signal]);
  const watching = Promise.all(watch(untilEnd));
  try {
    const working = synced.then(
      () => work(untilEnd),
      // They end before they are filled only with the term.
      () => true,
    );
    // A view that cannot be trusted ends the term.
    return await Promise.race([working, watching.then(() => working)]);
  } finally {
    ending.abort();
    await Promise.allSettled([watching]);
  }
}

/** What records Events. */
interface RecordingSettings {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  /** Names this process. */
  readonly identity: string;
}

/** Returns a recorder of Events that shows whether the Role refuses them. */
export function recorderOf(
  { clock, log, metrics, identity }: RecordingSettings,
  client: Client,
): EventRecorder {
  return createEventRecorder({
    client,
    clock,
    logger: log,
    instance: identity,
    onRefused: (namespaces) => metrics.setPermissionRefused('create', 'events', namespaces > 0),
  });
}

/** Waits a while for Events that are not written yet. */
export async function flushed(events: EventRecorder, clock: Clock): Promise<void> {
  await atMost(flushPatience, events.flush(), { clock, signal: new AbortController().signal });
}

/** Returns the wait, from `startedAt` on, for what the process that led before may have sent. */
export function predecessorOf(
  { predecessor }: LedTerm['leading'],
  { config, clock }: { readonly config: Config; readonly clock: Clock },
  startedAt = clock.monotonic(),
): PredecessorWait {
  const horizon = config.rollout.predecessorHorizon;
  return new PredecessorWait({ clock, predecessor, horizon, startedAt });
}

/** Returns whether this process leads at an instant, and the name of its term, absent without a Lease. */
export function leadershipOf(
  { election, leading }: Pick<LedTerm, 'election' | 'leading'>,
  clock: Clock,
): { readonly leads: () => boolean; readonly term?: string } {
  return {
    leads: () => election.leads(clock.monotonic()),
    ...(leading.kind === 'leading' && { term: leading.term }),
  };
}
