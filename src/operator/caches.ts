import { aborted } from '#base/async/aborted.ts';
import { atMost } from '#base/async/at-most.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, seconds } from '#base/units.ts';
import type { Config } from '#config/config.ts';
import { podIndexers, statefulSetIndexers } from '#control/watch/group-sets.ts';
import { type BudgetView, budgetView } from '#disruption-budget/cache/budget-view.ts';
import type { Client } from '#kubernetes/client.ts';
import type {
  Cached,
  Informer,
  InformerProblem,
  InformerReason,
} from '#kubernetes/informer/informer.ts';
import { PermittedInformer } from '#kubernetes/informer/permitted-informer.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { parseRollout, type RolloutView } from '#phased-rollout/parse-resource.ts';
import { phasedSetIndexers, rolloutIndexers } from '#phased-rollout/reconcile/phased-indexes.ts';
import { referenceIndexers } from '#replica-coordination/references/references.ts';
import { parseAddressedPod } from '#statefulset/parse-addressed-pod.ts';
import type { NodeView } from '#statefulset/parse-node.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { rolloutIndexers as statefulsetRolloutIndexers } from '#statefulset-rollout/owners.ts';
import {
  parseRollout as parseStatefulsetRollout,
  type RolloutView as StatefulsetRolloutView,
} from '#statefulset-rollout/parse-resource.ts';
import {
  type NativeBudgetView,
  parseNativeBudget,
} from '#statefulset-rollout/reconcile/native-budget.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { updateIndexers } from '#zone-aware-update/owners.ts';
import { parseUpdate, type UpdateView } from '#zone-aware-update/parse-resource.ts';
import { zonePodIndexers } from '#zone-disruption-budget/cache/namespace-views.ts';
import type { ZoneBudgetView } from '#zone-disruption-budget/cache/zone-budget-view.ts';
import { type ZoneCaches, zoneCachesOf, zoneInformers } from './zone-caches.ts';

/** What the operator sees of the cluster. */
export interface Caches {
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly budgets: Informer<BudgetView>;
  /** Read also where only others roll out by them: what names a set shows (D-63). */
  readonly rollouts: PermittedInformer<RolloutView>;
  /** ZoneAwareUpdates; read as those are. */
  readonly updates: PermittedInformer<UpdateView>;
  /** StatefulsetRollouts; read as those are. */
  readonly statefulsetRollouts: PermittedInformer<StatefulsetRolloutView>;
  /** PodDisruptionBudgets of Kubernetes; absent where nothing asks them. */
  readonly nativeBudgets?: PermittedInformer<NativeBudgetView>;
  /** What zone-aware controllers need besides; absent where they do not run. */
  readonly zones?: SharedZones;
}

/** What is known of zones where their controllers run along with others. */
export interface SharedZones {
  readonly zoneBudgets: PermittedInformer<ZoneBudgetView>;
  readonly nodes: PermittedInformer<NodeView>;
  /** All of it, and what follows from it; filled only where both may be listed. */
  readonly caches: Omit<ZoneCaches, 'run'>;
}

/** What the caches are run with. */
interface Settings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  /** Whether pods keep the names of their nodes, and nodes and ZoneDisruptionBudgets are watched. @default false */
  readonly hasZones?: boolean;
  /** Whether PodDisruptionBudgets of Kubernetes are watched. @default false */
  readonly hasNativeBudgets?: boolean;
  /** How soon is asked again for what the Role denies; absent: never. */
  readonly askAgain?: Millis;
}

/** How long the start waits to learn of what may not be readable at all, such as budgets (KW-20). */
const optionalPatience = seconds(2);

/** Returns the caches that all capabilities share; {@link runCaches} fills them. */
export function createCaches(client: Client, settings: Settings): Caches {
  const { config, clock, log, metrics, askAgain } = settings;
  const { hasZones = false, hasNativeBudgets = false } = settings;
  const { namespace } = config.kubernetes;
  const common = { client, clock, namespace };
  const report = (plural: string) => (problem: InformerProblem) =>
    reportInformer({ log, metrics }, plural, problem);
  const parts = { client, clock, log, namespace, askAgain, report };
  const caches: Caches = {
    pods: createInformer({
      ...common,
      type: resourceTypes.pods,
      isSpecRead: hasZones ? 'node-name' : false,
      // What carries StatefulsetRollouts out asks service discovery by the addresses of pods.
      project: hasNativeBudgets ? parseAddressedPod : parsePod,
      indexers: hasZones ? { ...podIndexers, ...zonePodIndexers } : podIndexers,
      report: report('pods'),
    }),
    statefulSets: createInformer({
      ...common,
      type: resourceTypes.statefulSets,
      project: parseStatefulSet,
      indexers: { ...statefulSetIndexers, ...referenceIndexers, ...phasedSetIndexers },
      report: report('statefulsets'),
    }),
    budgets: createInformer({
      ...common,
      type: resourceTypes.zoneAwarePodDisruptionBudgets,
      project: budgetView,
      indexers: {},
      isAbsentAllowed: true,
      report: report(resourceTypes.zoneAwarePodDisruptionBudgets.plural),
    }),
    ...resourceCaches(parts),
    ...(hasNativeBudgets && { nativeBudgets: nativeBudgetsOf(parts) }),
  };
  return hasZones ? { ...caches, zones: zonesBeside(caches, parts) } : caches;
}

/** What the caches of resources are made of that need not be there, and that our Role need not permit. */
interface PermittedParts extends Pick<Settings, 'clock' | 'log'> {
  readonly askAgain: Millis | undefined;
  readonly client: Client;
  readonly namespace: string;
  readonly report: (plural: string) => (problem: InformerProblem) => void;
}

function resourceCaches(
  parts: PermittedParts,
): Pick<Caches, 'rollouts' | 'updates' | 'statefulsetRollouts'> {
  const { client, clock, namespace, report } = parts;
  const { phasedRollouts, zoneAwareUpdates, statefulsetRollouts } = resourceTypes;
  const common = { client, clock, namespace, isAbsentAllowed: true };
  return {
    rollouts: permitted(
      createInformer({
        ...common,
        type: phasedRollouts,
        project: parseRollout,
        indexers: rolloutIndexers,
        report: report(phasedRollouts.plural),
      }),
      parts,
    ),
    updates: permitted(
      createInformer({
        ...common,
        type: zoneAwareUpdates,
        project: parseUpdate,
        indexers: updateIndexers,
        report: report(zoneAwareUpdates.plural),
      }),
      parts,
    ),
    statefulsetRollouts: permitted(
      createInformer({
        ...common,
        type: statefulsetRollouts,
        project: parseStatefulsetRollout,
        indexers: statefulsetRolloutIndexers,
        report: report(statefulsetRollouts.plural),
      }),
      parts,
    ),
  };
}

function nativeBudgetsOf(parts: PermittedParts): PermittedInformer<NativeBudgetView> {
  const { client, clock, namespace, report } = parts;
  const { podDisruptionBudgets: type } = resourceTypes;
  const indexers = {};
  return permitted(
    createInformer({
      client,
      clock,
      namespace,
      type,
      project: parseNativeBudget,
      indexers,
      report: report(type.plural),
    }),
    parts,
  );
}

function zonesBeside(caches: Caches, parts: PermittedParts): SharedZones {
  const { clock, namespace } = parts;
  const { zoneBudgets, nodes } = zoneInformers(parts, namespace);
  return {
    zoneBudgets: permitted(zoneBudgets, parts),
    nodes: permitted(nodes, { ...parts, namespace: '' }),
    caches: zoneCachesOf({ ...caches, zoneBudgets, nodes }, clock),
  };
}

function permitted<T extends Cached>(
  informer: Informer<T>,
  { client, clock, namespace, askAgain }: PermittedParts,
): PermittedInformer<T> {
  return new PermittedInformer({ client, clock, namespace, askAgain, informer });
}

function reportInformer(
  { log, metrics }: Pick<Settings, 'log' | 'metrics'>,
  resource: string,
  { reason, message, cause }: InformerProblem,
): void {
  const isStale = reason === 'ViewNotFresh';
  if (isStale || reason === 'ViewFresh') metrics.setViewNotFresh(resource, isStale);
  const fields = { resource, reason, err: cause instanceof Error ? cause : undefined, message };
  if (quietReasons.has(reason)) log.info('informer', fields);
  else log.warn('informer', fields);
}

/** What an informer reports that needs no attention. */
const quietReasons: ReadonlySet<InformerReason> = new Set(['Recovered', 'TypeAbsent', 'ViewFresh']);

/** Resolves when the caches are filled; what may not be readable at all is waited for no longer than 2 s. */
export async function cachesSynced(
  caches: Caches,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([caches.pods.synced, caches.statefulSets.synced]);
  const optional = Promise.all([
    caches.budgets.synced,
    caches.rollouts.settled,
    caches.updates.settled,
    caches.statefulsetRollouts.settled,
    caches.nativeBudgets?.settled,
    caches.zones?.zoneBudgets.settled,
    caches.zones?.nodes.settled,
  ]);
  await atMost(optionalPatience, optional.then(nothing), { clock, signal });
}

/**
 * Keeps `caches` up to date until `signal` aborts; budgets until `unreadable` does: what the Role denies is not asked for.
 *
 * @returns one promise a cache; the first that rejects says that a view cannot be trusted any more (D-6)
 */
export function runCaches(
  caches: Caches,
  unreadable: AbortSignal,
  signal: AbortSignal,
): readonly Promise<void>[] {
  const { pods, statefulSets, budgets, zones } = caches;
  const proven = Promise.all([pods.synced, statefulSets.synced]).then(nothing);
  return [
    pods.run(signal),
    statefulSets.run(signal),
    watchBudgets(budgets, unreadable, signal),
    ...[
      caches.rollouts,
      caches.updates,
      caches.statefulsetRollouts,
      caches.nativeBudgets,
      zones?.zoneBudgets,
      zones?.nodes,
    ].flatMap((each) => each?.run(proven, signal) ?? []),
  ];
}

function nothing(): void {
  // Only that it is done matters.
}

async function watchBudgets(
  budgets: Informer<BudgetView>,
  unreadable: AbortSignal,
  signal: AbortSignal,
): Promise<void> {
  await budgets.run(AbortSignal.any([signal, unreadable]));
  await aborted(signal);
}

/** Calls `wake` when the view of pods or sets begins or ceases to be kept up to date; that of budgets reports so itself. */
export function whenViewsChange(
  { pods, statefulSets }: Pick<Caches, 'pods' | 'statefulSets'>,
  wake: () => void,
): void {
  for (const informer of [pods, statefulSets]) informer.onState(wake);
}
