import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { seconds } from '#base/units.ts';
import type { Alarms } from '#check/cloudwatch/alarms.ts';
import { Credentials } from '#check/credentials/credentials.ts';
import { OpenQuestions } from '#check/open-questions.ts';
import type { Prometheus } from '#check/prometheus/prometheus.ts';
import type { Config } from '#config/config.ts';
import { ConsistentReads } from '#control/consistent-read/consistent-reads.ts';
import { NodeZoneProofs } from '#control/consistent-read/node-zone-proofs.ts';
import { ResourceProofs } from '#control/consistent-read/resource-proofs.ts';
import type { OpenDisruptions } from '#control/write/open-disruptions.ts';
import { PodDeletions } from '#control/write/pod-deletions.ts';
import { Refusals } from '#control/write/refusals.ts';
import { UnseenWrites } from '#control/write/unseen-writes.ts';
import { WriteAttempts } from '#control/write/write-attempts.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { createWorkQueue } from '#kubernetes/queue/rate-limited-queue.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { UpdateView } from '#zone-aware-update/parse-resource.ts';
import { LastDeletions } from '#zone-aware-update/reconcile/last-deletions.ts';
import { UpdateWrites } from '#zone-aware-update/reconcile/update-writes.ts';
import type { UpdateControllerPorts } from '#zone-aware-update/run-zone-aware-updates.ts';
import type { ZoneCaches } from '../zone-caches.ts';

/** What all terms of one process share. */
export interface ZoneUpdatePortSettings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  /** Their maker ends them. */
  readonly alarms: Pick<Alarms, 'ask'>;
  readonly prometheus: Pick<Prometheus, 'read'>;
}

/** What carrying ZoneAwareUpdates out looks at, and acts through. */
export interface ZoneUpdateParts {
  readonly client: Client;
  readonly events: EventRecorder;
  readonly caches: Pick<ZoneCaches, 'pods' | 'statefulSets' | 'nodes' | 'zones' | 'watched'> & {
    readonly updates: Informer<UpdateView>;
  };
  /** Deletions of ours that the cache may not show yet, no matter who sends them. */
  readonly open: OpenDisruptions;
}

/** What only the process that leads knows. */
type OfTheTerm = 'predecessor' | 'leads' | 'term' | 'budgets' | 'owners' | 'onBudgetChange';

const longestBackoff = seconds(30);

/** Returns what a term works with, and that knows nothing of its Lease. */
export function zoneUpdatePorts(
  { config, clock, log, alarms, prometheus }: ZoneUpdatePortSettings,
  { client, events, caches, open }: ZoneUpdateParts,
): Omit<UpdateControllerPorts, OfTheTerm> {
  const { updates, statefulSets, pods, nodes, zones, watched } = caches;
  const queue = createWorkQueue({ clock, name: 'zoneawareupdate', maxDelay: longestBackoff });
  const asking = { clock, onAnswer: (key: string) => queue.add(key) };
  const unseenUpdates = new UnseenWrites(clock, updates.freshness);
  const proofs = new ResourceProofs({ client, clock }, resourceTypes.zoneAwareUpdates);
  const freshness = { pods: pods.freshness, statefulSets: statefulSets.freshness };
  return {
    client,
    clock,
    log,
    events,
    queue,
    updates,
    statefulSets,
    pods,
    nodes,
    zones,
    watched,
    open,
    alarms,
    prometheus,
    unseenUpdates,
    credentials: new Credentials(client, clock),
    questions: { alarm: new OpenQuestions(asking), query: new OpenQuestions(asking) },
    unseenSets: new UnseenWrites(clock, statefulSets.freshness),
    reads: new ConsistentReads({ client, clock, ...freshness }),
    refusals: new Refusals(),
    proofs,
    nodeZones: new NodeZoneProofs({ client, clock, zones }),
    writes: new UpdateWrites({ client, clock, unseenUpdates, proofs }),
    promotions: new WriteAttempts(),
    lastDeletions: new LastDeletions(),
    deletions: new PodDeletions({ client, clock, log, pods: pods.freshness, open }),
    stuckAfter: config.rollout.stuckAfter,
  };
}
