import type { JsonObject } from '#base/json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';

const budgets = resourceTypes.zoneAwarePodDisruptionBudgets;

/** Returns a budget over the pods that `matchLabels` select, as it is created. */
export function budgetOver(
  name: string,
  matchLabels: Readonly<Record<string, string>>,
): JsonObject {
  return {
    apiVersion: `${budgets.group}/${budgets.version}`,
    kind: budgets.kind,
    metadata: { name },
    spec: { maxUnavailable: 0, selector: { matchLabels } },
  };
}
