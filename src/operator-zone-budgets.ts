import { ConcurrencyLimit } from '#admission/concurrency-limit.ts';
import type { Webhook } from '#admission/review.ts';
import { sharedReads } from '#admission/shared-reads.ts';
import type { ZoneEvictionReason } from '#admission/zone-eviction-answer.ts';
import { zonePodEviction } from '#admission/zone-pod-eviction.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { podIndexers, statefulSetIndexers } from '#control/group-sets.ts';
import type { PredecessorWait } from '#control/predecessor-wait.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Change, Informer, InformerProblem } from '#kubernetes/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { createInformer } from '#kubernetes/shared-informer.ts';
import { type NodeView, parseNode } from '#statefulset/parse-node.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { zonePodIndexers } from '#zone-disruption-budget/namespace-views.ts';
import { type ZoneBudgetView, zoneBudgetView } from '#zone-disruption-budget/zone-budget-view.ts';
import { ZoneDisruptionBudgets } from '#zone-disruption-budget/zone-disruption-budgets.ts';

/** What ZoneDisruptionBudgets of one process work with. */
export interface ZoneBudgetSettings {
  readonly client: Client;
  /** Of the webhook, so that nothing else can starve it (D5). */
  readonly reviewClient: Client;
  /** Where the ledgers are: the namespace of the operator (D-33). */
  readonly ledgerNamespace: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Counts an answer to an eviction (OPS-1). */
  count(status: 'allowed' | 'denied', reason: ZoneEvictionReason): void;
  /** Told of each change of a budget, while this process watches. */
  readonly onBudget?: (change: Change<ZoneBudgetView>) => void;
}

/** A term in which this process leads. */
export interface ZoneBudgetTerm {
  readonly term: string;
  readonly predecessor: Pick<PredecessorWait, 'overAt' | 'ownOverAt'>;
}

/** The ZoneDisruptionBudgets of one process, whether it leads or not. */
export interface RunningZoneBudgets {
  /** Answers evictions: for whoever serves webhooks. While nothing is seen yet it lets no pod go that serves. */
  readonly webhook: Webhook;
  /** Resolves when the caches are filled. */
  readonly synced: Promise<void>;
  /** Watches until `signal` aborts. @throws when the view cannot be trusted any more (D-6) */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Leads while `work` lasts, and keeps statuses up to date.
   *
   * @returns what `work` returns
   * @throws what it throws, and at once when the view cannot be trusted any more (D-6)
   */
  lead<T>(term: ZoneBudgetTerm, work: () => Promise<T>): Promise<T>;
}

interface ZoneBudgetCaches {
  readonly budgets: Informer<ZoneBudgetView>;
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly nodes: Informer<NodeView>;
}

/** Of reviews that read a pod, at once (D-30). */
const podReads = 100;
/** Evictions that budgets judge at once: they only take room, as all that are allowed are stored together. */
const judgements = 2_000;

/**
 * Opens the budgets of all namespaces with caches of their own, as zones are those of nodes: pods keep the names of theirs.
 */
export function openZoneBudgets(settings: ZoneBudgetSettings): RunningZoneBudgets {
  const { clock, log, reviewClient } = settings;
  const caches = createCaches(settings);
  if (settings.onBudget !== undefined) caches.budgets.onChange(settings.onBudget);
  const authority = new ZoneDisruptionBudgets({ ...settings, ...caches });
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
  const all = [caches.budgets, caches.pods, caches.statefulSets, caches.nodes];
  const synced = Promise.all(all.map((each) => each.synced)).then(() => undefined);
  // They end before they are filled where `run` does, which tells why.
  synced.catch(() => undefined);
  return {
    webhook,
    synced,
    run: async (signal) => {
      try {
        await Promise.all(all.map((each) => each.run(signal)));
      } finally {
        authority.close();
      }
    },
    lead: async ({ term, predecessor: { overAt, ownOverAt } }, work) => {
      authority.lead({ term, predecessorsOverAt: overAt, mayBeginAt: ownOverAt });
      const ending = new AbortController();
      const failed = Promise.withResolvers<never>();
      // Where the caches end before they are filled, `run` tells why.
      const filled = synced.then(() => true).catch(() => false);
      const statuses = filled.then((is) =>
        is ? authority.keepStatuses(ending.signal) : undefined,
      );
      statuses.catch(failed.reject);
      try {
        return await Promise.race([work(), failed.promise]);
      } finally {
        authority.resign();
        ending.abort();
        await Promise.allSettled([statuses]);
      }
    },
  };
}

function createCaches({ client, clock, log }: ZoneBudgetSettings): ZoneBudgetCaches {
  const of = ({ plural: resource }: { readonly plural: string }) => ({
    client,
    clock,
    report: ({ reason, message, cause }: InformerProblem): void => {
      const err = cause instanceof Error ? cause : undefined;
      log.warn('informer', { resource, reason, err, message });
    },
  });
  const { zoneDisruptionBudgets, pods, statefulSets, nodes } = resourceTypes;
  return {
    budgets: createInformer({
      ...of(zoneDisruptionBudgets),
      type: zoneDisruptionBudgets,
      project: zoneBudgetView,
      indexers: {},
      isAbsentAllowed: true,
    }),
    pods: createInformer({
      ...of(pods),
      type: pods,
      isSpecRead: 'node-name',
      project: parsePod,
      indexers: { ...podIndexers, ...zonePodIndexers },
    }),
    statefulSets: createInformer({
      ...of(statefulSets),
      type: statefulSets,
      project: parseStatefulSet,
      indexers: statefulSetIndexers,
    }),
    nodes: createInformer({ ...of(nodes), type: nodes, project: parseNode, indexers: {} }),
  };
}
