/** ZoneAwareUpdates of a set whose pods ZoneDisruptionBudgets govern, in virtual time. */
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { zoneDisruptionBudgetDefinition } from '#zone-disruption-budget/definition.ts';
import { ZoneUpdateStage } from './zone-update-stage.ts';

const namespace = 'demo';

/**
 * A set of twelve pods with a budget over them, and the program, which has seen all of it and has nothing to do.
 *
 * @param budget undefined: there is none yet
 */
export async function budgetedUpdate(
  budget: JsonObject | undefined,
  update: JsonObject = {},
  set: JsonObject = {},
): Promise<ZoneUpdateStage> {
  const stage = await ZoneUpdateStage.open(set);
  const body = zoneDisruptionBudgetDefinition;
  await stage.env.client.create(resourceTypes.customResourceDefinitions, {}, { body });
  stage.start();
  await stage.pass(seconds(130));
  if (budget !== undefined) await createBudget(stage, budget);
  await stage.create(update);
  await stage.until('it is settled', () => stage.condition() === 'True Updated');
  await stage.pass(seconds(5));
  return stage;
}

/** Makes a ZoneDisruptionBudget over all pods of the set. */
export async function createBudget(
  { env }: ZoneUpdateStage,
  spec: JsonObject,
  name = 'db',
): Promise<void> {
  const body = {
    apiVersion: 'zonecontrol.k8s.aws/v1',
    kind: 'ZoneDisruptionBudget',
    metadata: { name, namespace },
    spec: { selector: { matchLabels: { app: 'db' } }, ...spec },
  };
  await env.client.create(resourceTypes.zoneDisruptionBudgets, { namespace }, { body });
}

/** Changes what a ZoneDisruptionBudget says. */
export async function editBudget(
  { env }: ZoneUpdateStage,
  spec: JsonObject,
  name = 'db',
): Promise<void> {
  const body = { kind: 'merge', document: { spec } } as const;
  await env.client.patch(resourceTypes.zoneDisruptionBudgets, { namespace, name }, { body });
}

/** The name of the ledger of a ZoneDisruptionBudget. */
export function ledgerOf(budget = 'db'): string {
  return `rollout-operator-zone-ledger-${namespace}.${budget}`;
}

/** The reservations that are in the ledger of a budget, as they are written. */
export function reservations({ env }: ZoneUpdateStage, budget = 'db'): string {
  return textAt(env.stored('configmaps').get(ledgerOf(budget)), 'data', 'reservations');
}
