import type { ZoneEvictionReason } from '#admission/eviction/zone-eviction-answer.ts';
import { zonePodEviction } from '#admission/eviction/zone-pod-eviction.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import type { Webhook } from '#admission/review/review.ts';
import { sharedReads } from '#admission/review/shared-reads.ts';
import { aborted } from '#base/async/aborted.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { GroupBudgets } from '#control/budget/group-budgets.ts';
import type { PredecessorWait } from '#control/plan/predecessor-wait.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Change } from '#kubernetes/informer/informer.ts';
import type { ZoneBudgetView } from '#zone-disruption-budget/cache/zone-budget-view.ts';
import { ZoneDisruptionBudgets } from '#zone-disruption-budget/zone-disruption-budgets.ts';
import { openZoneCaches, type ZoneCaches } from '../zone-caches.ts';

/** What ZoneDisruptionBudgets of one process work with. */
export interface ZoneBudgetSettings {
  readonly client: Client;
  /** The client of the webhook alone, so that nothing else can starve it. */
  readonly reviewClient: Client;
  /** Where the ledgers are: the namespace of the operator (D-33). */
  readonly ledgerNamespace: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Counts an answer to an eviction (OPS-1). */
  count(status: 'allowed' | 'denied', reason: ZoneEvictionReason): void;
  /** Called with each change of a budget, while this process watches. */
  readonly onBudget?: (change: Change<ZoneBudgetView>) => void;
  /** What it looks at. @default caches of its own, of all namespaces */
  readonly caches?: ZoneCaches;
  /** Whether the statuses of budgets are kept up to date while this process leads. @default true */
  readonly areStatusesKept?: boolean;
}

/** A term in which this process leads. */
export interface ZoneBudgetTerm {
  readonly term: string;
  readonly predecessor: Pick<PredecessorWait, 'overAt' | 'ownOverAt'>;
  /** Where what is wrong with budgets is reported, besides the log. */
  readonly events: EventRecorder;
}

/** The ZoneDisruptionBudgets of one process, whether it leads or not. */
export interface RunningZoneBudgets {
  /** Answers evictions: for the server of webhooks. While nothing is seen yet it lets no pod go that serves. */
  readonly webhook: Webhook;
  readonly caches: Omit<ZoneCaches, 'run'>;
  /** Watches until `signal` aborts. @throws when the view cannot be trusted any more (D-6) */
  run(signal: AbortSignal): Promise<void>;
  /** Returns the budgets as the capability `name` of this process asks them before it takes pods (D-37). */
  of(name: string): GroupBudgets;
  /** Calls `wake` when what is known of budgets has changed. */
  onChange(wake: () => void): void;
  /**
   * Leads while `work` lasts, and keeps statuses up to date.
   *
   * @returns what `work` returns
   * @throws what it throws, and at once when the view cannot be trusted any more (D-6)
   */
  lead<T>(term: ZoneBudgetTerm, work: () => Promise<T>): Promise<T>;
}

/** How many reviews read a pod at once (D-30). */
const podReads = 100;
/** Evictions that budgets judge at once: they only take room, as all that are allowed are stored together. */
const judgements = 2_000;

/** Opens the budgets of all namespaces that the caches are of. */
export function openZoneBudgets(settings: ZoneBudgetSettings): RunningZoneBudgets {
  const { clock, log, reviewClient } = settings;
  const caches = settings.caches ?? openZoneCaches(settings);
  if (settings.onBudget !== undefined) caches.zoneBudgets.onChange(settings.onBudget);
  const authority = new ZoneDisruptionBudgets({
    ...settings,
    ...caches,
    budgets: caches.zoneBudgets,
  });
  const webhook = zonePodEviction({
    budgets: authority.evictions,
    client: sharedReads(reviewClient, clock),
    clock,
    log,
    limits: {
      reads: new ConcurrencyLimit(podReads),
      judgements: new ConcurrencyLimit(judgements),
    },
    count: (status, reason) => settings.count(status, reason),
  });
  return {
    webhook,
    caches,
    of: (name) => authority.rollouts.of(name),
    onChange: (wake) => authority.onChange(wake),
    run: async (signal) => {
      try {
        await caches.run(signal);
      } finally {
        authority.close();
      }
    },
    lead: (term, work) => {
      // Where the caches end before they are filled, `run` says why.
      const areKept = caches.synced.then(() => settings.areStatusesKept ?? true).catch(() => false);
      return leading({ authority, areKept }, term, work);
    },
  };
}

async function leading<T>(
  {
    authority,
    areKept,
  }: { readonly authority: ZoneDisruptionBudgets; readonly areKept: Promise<boolean> },
  { term, predecessor: { overAt, ownOverAt }, events }: ZoneBudgetTerm,
  work: () => Promise<T>,
): Promise<T> {
  authority.lead({ term, predecessorsOverAt: overAt, mayBeginAt: ownOverAt });
  const ending = new AbortController();
  const failed = Promise.withResolvers<never>();
  // The caches may never be filled, where our Role does not permit that.
  const known = Promise.race([areKept, aborted(ending.signal).then(() => false)]);
  const statuses = known.then((is) =>
    is ? authority.keepStatuses(events, ending.signal) : undefined,
  );
  statuses.catch(failed.reject);
  try {
    return await Promise.race([work(), failed.promise]);
  } finally {
    authority.resign();
    ending.abort();
    await Promise.allSettled([statuses]);
  }
}
