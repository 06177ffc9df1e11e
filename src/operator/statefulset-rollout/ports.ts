import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { Logger } from '#base/logger.ts';
import type { Millis } from '#base/units.ts';
import type { Config } from '#config/config.ts';
import type { GroupBudgets } from '#control/budget/group-budgets.ts';
import { LetGoPods } from '#control/budget/let-go-pods.ts';
import { ConsistentReads } from '#control/consistent-read/consistent-reads.ts';
import { ResourceProofs } from '#control/consistent-read/resource-proofs.ts';
import { WatchedPods } from '#control/watch/watched-pods.ts';
import type { OpenDisruptions } from '#control/write/open-disruptions.ts';
import { PodDeletions } from '#control/write/pod-deletions.ts';
import { Refusals } from '#control/write/refusals.ts';
import { UnseenWrites } from '#control/write/unseen-writes.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { PartialAging } from '#statefulset-rollout/events/partial-aging.ts';
import type { RolloutView } from '#statefulset-rollout/parse-resource.ts';
import type { DiscoveryPort } from '#statefulset-rollout/reconcile/discovery-sight.ts';
import { Evictions } from '#statefulset-rollout/reconcile/evictions.ts';
import { HeldTimes } from '#statefulset-rollout/reconcile/held-times.ts';
import type { NativeBudgetView } from '#statefulset-rollout/reconcile/native-budget.ts';
import { RolloutWitness } from '#statefulset-rollout/reconcile/rollout-witness.ts';
import { RolloutWrites } from '#statefulset-rollout/reconcile/rollout-writes.ts';
import { tellRollout } from '#statefulset-rollout/rollout-reasons.ts';
import type { RolloutControllerPorts } from '#statefulset-rollout/run-statefulset-rollouts.ts';
import { PartitionWrites } from '#statefulset-rollout/statefulset/partition-writes.ts';
import { RevisionAges } from '#statefulset-rollout/statefulset/revision-ages.ts';
import { ServerVersion } from '#statefulset-rollout/statefulset/server-version.ts';
import { SetSights } from '#statefulset-rollout/statefulset/set-sights.ts';
import { SetWrites } from '#statefulset-rollout/statefulset/set-writes.ts';
import { rolloutAnnotation } from '#statefulset-rollout/statefulset/wanted-set.ts';
import type { RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';
import { callbacksOf, type RolloutOutside, reportsOf } from './rollout-outside.ts';

/** What all terms of one process share. */
export interface StatefulsetPortSettings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly outside: RolloutOutside;
  /** Whether the cluster's controllers can pin pods, whatever its version. */
  readonly isPinAssumed: boolean;
  readonly rolloutMetrics: RolloutMetrics;
  /** How old a partial rollout may grow; 0: that is never reported. */
  readonly partialAging: Millis;
}

/** What carrying StatefulsetRollouts out looks at. */
export interface StatefulsetCaches {
  readonly rollouts: Informer<RolloutView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly pods: Informer<PodView>;
  /** Those of Kubernetes. */
  readonly budgets: Informer<NativeBudgetView>;
}

/** What carrying StatefulsetRollouts out shares with others in its process. */
export interface StatefulsetParts {
  readonly client: Client;
  readonly caches: StatefulsetCaches;
  readonly events: EventRecorder;
  readonly queue: WorkQueue;
  /** Disruptions of ours that the cache may not show yet, no matter who sends them. */
  readonly open: OpenDisruptions;
  readonly discovery: DiscoveryPort;
  /** Disruption budgets of our own kinds. */
  readonly zoneBudgets: GroupBudgets;
  /** Reads pods as the cache does. @default without their addresses */
  readonly parsePod?: (object: JsonObject) => PodView;
  /** Whether this process may disrupt at this instant: it holds the Lease, or there is none. */
  readonly leads: () => boolean;
}

/** What only the process that leads knows. */
type OfTheTerm = 'predecessor' | 'term' | 'owners';

/** Returns what a term works with, and that knows nothing of its Lease but whether it is held. */
export function statefulsetPorts(
  settings: StatefulsetPortSettings,
  parts: StatefulsetParts,
): Omit<RolloutControllerPorts, OfTheTerm> {
  const { client, caches, events, queue, open, discovery, parsePod, leads, zoneBudgets } = parts;
  const { config, clock, log, outside, isPinAssumed, rolloutMetrics, partialAging } = settings;
  const { rollouts, statefulSets, pods } = caches;
  rolloutMetrics.watchQueue(() => queue.depth);
  const shared = { client, clock, log, events, queue };
  const unseenSets = new UnseenWrites(clock, statefulSets.freshness);
  const unseenRollouts = new UnseenWrites(clock, rollouts.freshness);
  const proofs = new ResourceProofs({ client, clock }, resourceTypes.statefulsetRollouts);
  const ofRollouts = { unseenRollouts, proofs, leads };
  const sights = new SetSights({ client }, (rollout, paths) => {
    const message = `the API server keeps its own value of ${paths.join(', ')}`;
    tellRollout(rollout, { reason: 'SemanticDiffIgnored', message }, events);
  });
  const ofSets = { sights, unseenSets, partitions: new PartitionWrites() };
  const freshness = { pods: pods.freshness, statefulSets: statefulSets.freshness };
  return {
    ...caches,
    ...shared,
    open,
    letGo: new LetGoPods({ clock, statefulSets, pods, open, isOurs }),
    zoneBudgets,
    discovery,
    ...ofSets,
    ...ofRollouts,
    reads: new ConsistentReads({ client, clock, ...freshness, ...(parsePod && { parsePod }) }),
    refusals: new Refusals(),
    watched: new WatchedPods(pods, clock),
    ages: new RevisionAges(client),
    held: new HeldTimes(),
    witness: new RolloutWitness({ clock, events, metrics: rolloutMetrics }),
    aging: new PartialAging({ clock, events, limit: partialAging }),
    version: new ServerVersion(client, isPinAssumed),
    evictions: new Evictions({ ...shared, open }),
    writes: new RolloutWrites({ client, clock, ...ofRollouts }),
    callbacks: callbacksOf(outside, { client, clock, leads, queue, metrics: rolloutMetrics }),
    slack: reportsOf(outside, {
      ...shared,
      rollouts,
      ...ofRollouts,
      metrics: rolloutMetrics,
    }),
    setWrites: new SetWrites({ ...shared, ...ofSets }),
    deletions: new PodDeletions({ ...shared, pods: pods.freshness, open }),
    stuckAfter: config.rollout.stuckAfter,
  };
}

function isOurs({ annotations }: StatefulSetView): boolean {
  return annotations[rolloutAnnotation] !== undefined;
}
