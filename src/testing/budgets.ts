import type { JsonObject } from '#base/json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';

const budgets = resourceTypes.zoneAwarePodDisruptionBudgets;

const preserved = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;

/** The definition that makes a server have zone-aware pod disruption budgets, with whatever they say. */
export const budgetDefinition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${budgets.plural}.${budgets.group}` },
  spec: {
    group: budgets.group,
    scope: 'Namespaced',
    names: { plural: budgets.plural, singular: 'zoneawarepoddisruptionbudget', kind: budgets.kind },
    versions: [
      {
        name: budgets.version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: preserved, status: preserved } },
        },
      },
    ],
  },
};

/** A budget over the pods that `matchLabels` select, as it is created. */
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
