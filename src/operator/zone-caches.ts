import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { podIndexers, statefulSetIndexers } from '#control/watch/group-sets.ts';
import { PodZones } from '#control/watch/pod-zones.ts';
import { WatchedPods } from '#control/watch/watched-pods.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer, InformerProblem } from '#kubernetes/informer/informer.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { type NodeView, parseNode } from '#statefulset/parse-node.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { zonePodIndexers } from '#zone-disruption-budget/cache/namespace-views.ts';
import {
  type ZoneBudgetView,
  zoneBudgetView,
} from '#zone-disruption-budget/cache/zone-budget-view.ts';

/** What one process knows of pods and their zones, in all namespaces; updates and budgets look at the same. */
export interface ZoneCaches {
  readonly zoneBudgets: Informer<ZoneBudgetView>;
  /** With the names of their nodes. */
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly nodes: Informer<NodeView>;
  readonly zones: PodZones;
  readonly watched: WatchedPods;
  /** Resolves when all are filled; where they end before that, {@link run} says why. */
  readonly synced: Promise<void>;
  /** Watches until `signal` aborts. @throws when the view cannot be trusted any more (D-6) */
  run(signal: AbortSignal): Promise<void>;
}

/** What {@link openZoneCaches} works with. */
export interface ZoneCacheSettings {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Opens caches of all namespaces: zones are those of nodes, so that pods keep the names of theirs. */
export function openZoneCaches(settings: ZoneCacheSettings): ZoneCaches {
  const { pods, statefulSets } = resourceTypes;
  const { clock } = settings;
  const informers = {
    ...zoneInformers(settings, ''),
    pods: createInformer({
      ...informerParts(settings, pods),
      type: pods,
      isSpecRead: 'node-name',
      project: parsePod,
      indexers: { ...podIndexers, ...zonePodIndexers },
    }),
    statefulSets: createInformer({
      ...informerParts(settings, statefulSets),
      type: statefulSets,
      project: parseStatefulSet,
      indexers: statefulSetIndexers,
    }),
  };
  const all = Object.values(informers);
  return {
    ...zoneCachesOf(informers, clock),
    run: async (signal) => {
      await Promise.all(all.map((each) => each.run(signal)));
    },
  };
}

/** What zones are known from, and what budgets by zone there are. */
type ZoneInformers = Pick<ZoneCaches, 'zoneBudgets' | 'pods' | 'statefulSets' | 'nodes'>;

/** Returns informers of ZoneDisruptionBudgets in `namespace`, empty for all, and of all nodes. */
export function zoneInformers(
  settings: ZoneCacheSettings,
  namespace: string,
): Pick<ZoneInformers, 'zoneBudgets' | 'nodes'> {
  const { zoneDisruptionBudgets, nodes } = resourceTypes;
  return {
    zoneBudgets: createInformer({
      ...informerParts(settings, zoneDisruptionBudgets),
      ...(namespace !== '' && { namespace }),
      type: zoneDisruptionBudgets,
      project: zoneBudgetView,
      indexers: {},
      isAbsentAllowed: true,
    }),
    nodes: createInformer({
      ...informerParts(settings, nodes),
      type: nodes,
      project: parseNode,
      indexers: {},
    }),
  };
}

/** Returns what is known by `informers`, whose pods keep the names of their nodes. */
export function zoneCachesOf(informers: ZoneInformers, clock: Clock): Omit<ZoneCaches, 'run'> {
  const { zoneBudgets, pods, statefulSets, nodes } = informers;
  const all = [zoneBudgets, pods, statefulSets, nodes];
  const synced = Promise.all(all.map((each) => each.synced)).then(() => undefined);
  synced.catch(() => undefined);
  return {
    zoneBudgets,
    pods,
    statefulSets,
    nodes,
    zones: new PodZones({ clock, nodes, pods }),
    watched: new WatchedPods(pods, clock),
    synced,
  };
}

/** Returns what all informers of this name are made of. */
export function informerParts(
  { client, clock, log }: ZoneCacheSettings,
  { plural: resource }: { readonly plural: string },
): { client: Client; clock: Clock; report: (problem: InformerProblem) => void } {
  return {
    client,
    clock,
    report: ({ reason, message, cause }) => {
      const err = cause instanceof Error ? cause : undefined;
      log.warn('informer', { resource, reason, err, message });
    },
  };
}
