import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { zoneAwareUpdateDefinition } from '#zone-aware-update/definition.ts';
import { zoneDisruptionBudgetDefinition } from '#zone-disruption-budget/definition.ts';
import { images, namespace } from '../cluster/workload.ts';
import { ZoneWatch } from './zone-watch.ts';

/** Of the zone-aware controllers. */
export const apiVersion = 'zonecontrol.k8s.aws/v1';

/** How many zones the stand-in for kubelets has. */
export const zones = 3;

/** The set, and whatever is named after it. */
export const setName = 'store';
export const setKey = { namespace, name: setName } as const;

const labels = { app: setName };

/** Makes the definitions, and one set over all zones. @returns a watch of it, all of whose pods are ready */
export async function openSet(client: Client, podsPerZone: number): Promise<ZoneWatch> {
  for (const body of [zoneAwareUpdateDefinition, zoneDisruptionBudgetDefinition]) {
    await client.create(resourceTypes.customResourceDefinitions, {}, { body });
  }
  await createSet(client, podsPerZone);
  const watch = new ZoneWatch(client, setName, await zonesOfNodes(client));
  await watch.start();
  await watch.until('all pods are ready', () => watch.isWhole());
  return watch;
}

/** Makes a ZoneDisruptionBudget over all pods of the set. */
export async function createBudget(client: Client, maxUnavailable: number): Promise<void> {
  const spec = { selector: { matchLabels: labels }, maxUnavailable };
  const body = { apiVersion, kind: 'ZoneDisruptionBudget', metadata: setKey, spec };
  await client.create(resourceTypes.zoneDisruptionBudgets, setKey, { body });
}

async function createSet(client: Client, podsPerZone: number): Promise<void> {
  const [image] = images;
  const spec = {
    replicas: zones * podsPerZone,
    serviceName: setName,
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'OnDelete' },
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'store', image }] } },
  };
  const body = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { ...setKey, labels },
    spec,
  };
  await client.create(resourceTypes.statefulSets, setKey, { body });
}

async function zonesOfNodes(client: Client): Promise<ReadonlyMap<string, string>> {
  const { items } = await client.list(resourceTypes.nodes, {});
  return new Map(
    items.map(({ metadata }) => [
      metadata.name,
      metadata.labels?.['topology.kubernetes.io/zone'] ?? '',
    ]),
  );
}
