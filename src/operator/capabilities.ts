import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import type { Config } from '#config/config.ts';
import type { GroupCapability } from '#control/plan/group-capability.ts';
import { WatchedPods } from '#control/watch/watched-pods.ts';
import type { ScaleWrites } from '#control/write/scale-writes.ts';
import type { Client } from '#kubernetes/client.ts';
import { ScalableKinds } from '#kubernetes/discovery.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import type { PodHttp } from '#pod-http/pod-http.ts';
import { PodPreparations } from '#replica-coordination/delayed-downscale/prepare-pods.ts';
import { ReplicaCoordination } from '#replica-coordination/reconcile.ts';
import { References } from '#replica-coordination/references/references.ts';
import { RolloutGroups } from '#rollout-group/reconcile.ts';
import { groupKeyOf } from '#statefulset/group.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';

/** What the operator is run with, as far as capabilities need it. */
interface Settings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly podHttp: PodHttp;
}

/** What capabilities that work on groups share. */
interface GroupParts {
  readonly client: Client;
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly references: References;
  readonly writes: ScaleWrites;
  readonly queue: WorkQueue;
}

/** Shows which capabilities run, and why the others do not. */
export function showCapabilities({ config, metrics }: Pick<Settings, 'config' | 'metrics'>): void {
  const show = (capability: string, isEnabled: boolean, reason: string): void =>
    metrics.setCapability({ capability, isEnabled, reason });
  const { isEnabled: servesTls, selfSigned } = config.tls;
  const tls = servesTls ? 'TlsEnabled' : 'TlsDisabled';
  show('rollout-groups', true, 'AlwaysOn');
  show('replica-coordination', true, 'AlwaysOn');
  show('admission-webhooks', servesTls, tls);
  const areOwn = selfSigned.isEnabled;
  show('certificates', servesTls && areOwn, servesTls && !areOwn ? 'FromFiles' : tls);
  show('zone-aware-pod-disruption-budgets', true, 'AlwaysOn');
}

/** Returns what works on groups. Scaling plans first; a pass that scaled does not roll (D-18). */
export function capabilitiesOf(
  { config, clock, log, podHttp }: Settings,
  parts: GroupParts,
): readonly GroupCapability[] {
  const { client, statefulSets, references, writes, queue } = parts;
  const watched = new WatchedPods(parts.pods, clock);
  const { isEnabled: isZoneTracked, configMapName } = config.zoneTracker;
  const scaling = new ReplicaCoordination({
    client,
    clock,
    log,
    statefulSets,
    writes,
    watched,
    references,
    preparations: new PodPreparations({
      podHttp,
      clock,
      log,
      clusterDomain: config.kubernetes.clusterDomain,
      wake: (set) => wake(queue, set),
    }),
    stuckAfter: config.rollout.stuckAfter,
    zoneTracker: isZoneTracked ? configMapName : undefined,
    retry: retryInterval(config),
    wake: (key) => queue.add(key),
  });
  const rollout = new RolloutGroups({
    client,
    clock,
    log,
    watched,
    statefulSets: statefulSets.freshness,
    stuckAfter: config.rollout.stuckAfter,
  });
  return [scaling, rollout];
}

/** Returns the resources that sets mirror. @param signal ends their watches */
export function referencesOf(
  { config, clock, log, metrics }: Settings,
  parts: Pick<GroupParts, 'client' | 'statefulSets' | 'queue'>,
  signal: AbortSignal,
): References {
  const { client, statefulSets, queue } = parts;
  return new References({
    client,
    clock,
    log,
    metrics,
    kinds: new ScalableKinds(client, clock),
    statefulSets: statefulSets.lister,
    interval: pollInterval(config),
    retry: retryInterval(config),
    wake: (key) => queue.add(key),
    signal,
  });
}

function wake(queue: WorkQueue, set: StatefulSetView): void {
  const key = groupKeyOf(set);
  if (key !== undefined) queue.add(key);
}

/** Returns when a read that failed is repeated: pods wait to hear that they stay, so it is not after a long interval. */
function retryInterval(config: Config): Millis {
  return millis(Math.min(pollInterval(config), seconds(5)));
}

/** Returns how often what cannot be watched is read; also where the periodic look at groups is switched off. */
function pollInterval({ reconcile }: Config): Millis {
  return reconcile.resync ?? seconds(5);
}
