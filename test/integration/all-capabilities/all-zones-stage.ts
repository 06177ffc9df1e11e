/** A world with a rollout group and a set `web` over three zones, whose operators run zone-aware controllers along with groups. */
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { Alarms } from '#check/cloudwatch/alarms.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { phasedCapability } from '#operator/phased-rollout/capability.ts';
import { statefulsetCapability } from '#operator/statefulset-rollout/capability.ts';
import { openZoneCapabilities } from '#operator/zone-aware/zone-capabilities.ts';
import { FakePrometheus } from '#support/external-services/fake-prometheus.ts';
import { quietCapability } from '#support/external-services/rollout-outside.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { GROUP, NAMESPACE } from '#support/world/world-group.ts';
import { UpdateMetrics } from '#telemetry/metrics/update-metrics.ts';
import { ZoneBudgetMetrics } from '#telemetry/metrics/zone-budget-metrics.ts';
import { zoneAwareUpdateDefinition } from '#zone-aware-update/definition.ts';
import { zoneDisruptionBudgetDefinition } from '#zone-disruption-budget/definition.ts';
import { FakeAlarmSource } from '../stages/fake-alarm-source.ts';
import { imageOf, patchAny, until } from './all-stage.ts';

const { zoneAwareUpdates, zoneDisruptionBudgets } = resourceTypes;
const replicas = 9;

/** Opens a world of nodes in three zones whose operators run everything. */
export function openZoned(options: WorldOptions = {}): Promise<World> {
  return World.create({
    replicas: 2,
    maxUnavailable: '2',
    kubelet: { nodes: { count: 3 } },
    beside: ({ clock }, registry) => {
      const prometheus = new FakePrometheus(clock);
      const alarms = new Alarms({ clock, source: new FakeAlarmSource(() => clock.now()) });
      const settings = {
        alarms,
        prometheus,
        updateMetrics: new UpdateMetrics(registry),
        zoneBudgetMetrics: new ZoneBudgetMetrics(registry),
      };
      return {
        resources: [phasedCapability(prometheus), statefulsetCapability(quietCapability(clock))],
        zones: (parts) => openZoneCapabilities(settings, parts),
      };
    },
    ...options,
  });
}

/** Lets ZoneAwareUpdates and ZoneDisruptionBudgets be made. */
export async function installZones(world: World): Promise<void> {
  for (const body of [zoneAwareUpdateDefinition, zoneDisruptionBudgetDefinition]) {
    await world.run(world.admin.create(resourceTypes.customResourceDefinitions, {}, { body }));
  }
  await world.clock.advance(seconds(1));
}

/** Makes the set `web` of nine pods that are deleted by hand, with the label of the group's pods; resolves when they are ready. */
export async function createWeb(world: World): Promise<void> {
  const labels = { name: 'web', app: GROUP };
  const body = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: NAMESPACE, labels },
    spec: {
      replicas,
      serviceName: 'web',
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: { name: 'web' } },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    },
  };
  await world.run(
    world.admin.create(resourceTypes.statefulSets, { namespace: NAMESPACE }, { body }),
  );
  await untilWeb(world, 'web:1');
}

/** Gives `web` another image. */
export function changeWeb(world: World, image: string): Promise<void> {
  const template = { spec: { containers: [{ name: 'web', image }] } };
  return patchAny(world, 'web', { spec: { template } });
}

/** Waits until all pods of `web` run `image` and are ready. */
export async function untilWeb(world: World, image: string): Promise<void> {
  const names = Array.from({ length: replicas }, (_, ordinal) => `web-${ordinal}`);
  const isReady = (name: string): boolean =>
    objectsAt(world.stored('pods', name), 'status', 'conditions').some(
      (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
    );
  await until(world, `web runs ${image}`, () =>
    names.every((name) => imageOf(world, name) === image && isReady(name)),
  );
}

/** Makes the ZoneAwareUpdate `zau` of `statefulset`. */
export async function createUpdate(
  world: World,
  statefulset: string,
  rest: JsonObject = {},
): Promise<void> {
  const body = {
    apiVersion: `${zoneAwareUpdates.group}/${zoneAwareUpdates.version}`,
    kind: zoneAwareUpdates.kind,
    metadata: { name: 'zau', namespace: NAMESPACE },
    spec: { statefulset, maxUnavailable: 3, ...rest },
  };
  await world.run(world.admin.create(zoneAwareUpdates, { namespace: NAMESPACE }, { body }));
}

/** Deletes the ZoneAwareUpdate. */
export async function deleteUpdate(world: World): Promise<void> {
  const key = { namespace: NAMESPACE, name: 'zau' };
  await world.run(world.admin.delete(zoneAwareUpdates, key, { preconditions: {} }));
}

/** Why the ZoneAwareUpdate waits, or goes on, and in which words. */
export function updateCondition(world: World): string {
  const stored = world.stored('zoneawareupdates.zonecontrol.k8s.aws', 'zau');
  const [found] = objectsAt(stored, 'status', 'conditions');
  return `${textAt(found, 'reason')}: ${textAt(found, 'message')}`;
}

/** Makes a ZoneDisruptionBudget over all pods with the label of the group's. */
export async function createZoneBudget(world: World, spec: JsonObject): Promise<void> {
  const body = {
    apiVersion: `${zoneDisruptionBudgets.group}/${zoneDisruptionBudgets.version}`,
    kind: zoneDisruptionBudgets.kind,
    metadata: { name: 'zdb', namespace: NAMESPACE },
    spec: { selector: { matchLabels: { app: GROUP } }, ...spec },
  };
  await world.run(world.admin.create(zoneDisruptionBudgets, { namespace: NAMESPACE }, { body }));
}

/** The most pods of the world that were away at once, by name, from when it is made on. */
export class MostAway {
  readonly #away = new Set<string>();
  most: readonly string[] = [];

  constructor({ cluster }: World) {
    cluster.eventLog.onCommit(({ resource, name, after }) => {
      if (resource !== 'pods') return;
      const isReady =
        after !== undefined &&
        textAt(after, 'metadata', 'deletionTimestamp') === '' &&
        objectsAt(after, 'status', 'conditions').some(
          (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
        );
      if (isReady) this.#away.delete(name);
      else this.#away.add(name);
      if (this.#away.size > this.most.length) this.most = [...this.#away].toSorted();
    });
  }
}
