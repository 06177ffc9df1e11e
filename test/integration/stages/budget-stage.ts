import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { zoneAwarePodDisruptionBudgetDefinition } from '#disruption-budget/api.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ledgerPrefix } from '#support/history/ledger-facts.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { GROUP, NAMESPACE } from '#support/world/world-group.ts';

const budgets = resourceTypes.zoneAwarePodDisruptionBudgets;

/** A world whose budgets can be made; its sets carry the label that their pods have. */
export async function budgetedWorld(options: WorldOptions): Promise<World> {
  const world = await World.create(options);
  await allowBudgets(world);
  return world;
}

/** Lets budgets be made, over sets that carry the label that their pods have. */
export async function allowBudgets(world: World): Promise<void> {
  const write = { body: zoneAwarePodDisruptionBudgetDefinition };
  await world.run(world.admin.create(resourceTypes.customResourceDefinitions, {}, write));
  const labels = { app: GROUP };
  for (const zone of world.zones) await world.patchSet(zone, { metadata: { labels } });
  await world.clock.advance(seconds(1));
}

/** Makes a budget over all pods of the group. */
export async function makeBudget(
  world: World,
  spec: JsonObject = { maxUnavailable: 1 },
  name: string = GROUP,
): Promise<void> {
  const body = {
    apiVersion: `${budgets.group}/${budgets.version}`,
    kind: budgets.kind,
    metadata: { name },
    spec: { selector: { matchLabels: { app: GROUP } }, ...spec },
  };
  await world.run(world.admin.create(budgets, { namespace: NAMESPACE }, { body }));
}

/** Deletes the budget. */
export async function dropBudget(world: World, name: string = GROUP): Promise<void> {
  await world.run(
    world.admin.delete(budgets, { namespace: NAMESPACE, name }, { preconditions: {} }),
  );
}

/** Changes the spec of the budget. */
export async function patchBudget(
  world: World,
  spec: JsonObject,
  name: string = GROUP,
): Promise<void> {
  const body = { kind: 'merge', document: { spec } } as const;
  await world.run(world.admin.patch(budgets, { namespace: NAMESPACE, name }, { body }));
}

/** Changes labels or annotations of the pod `name`. */
export async function patchPod(world: World, name: string, metadata: JsonObject): Promise<void> {
  const body = { kind: 'merge', document: { metadata } } as const;
  await world.run(world.admin.patch(resourceTypes.pods, { namespace: NAMESPACE, name }, { body }));
}

/** The name of the ConfigMap that has the ledger of a budget, as long as it is not long. */
export function ledgerName(budget: string = GROUP): string {
  return `${ledgerPrefix}${budget}`;
}

/** Names of the pods that are given away, as it is stored; undefined where there is no ledger. */
export function givenAway(world: World, budget: string = GROUP): readonly string[] | undefined {
  const stored = world.stored('configmaps', ledgerName(budget)) as
    | { readonly data?: { readonly reservations?: string } }
    | undefined;
  if (stored === undefined) return undefined;
  const text = stored.data?.reservations ?? '';
  return [...text.matchAll(/"pod":"([^"]*)"/g)].map(([, pod = '']) => pod);
}

/** Changes the data of the ledger as a person would, or deletes it. */
export async function damageLedger(
  world: World,
  data: JsonObject | 'deleted',
  budget: string = GROUP,
): Promise<void> {
  const key = { namespace: NAMESPACE, name: ledgerName(budget) };
  if (data === 'deleted') {
    await world.run(world.admin.delete(resourceTypes.configMaps, key, { preconditions: {} }));
    return;
  }
  const body = { kind: 'merge', document: { data } } as const;
  await world.run(world.admin.patch(resourceTypes.configMaps, key, { body }));
}
