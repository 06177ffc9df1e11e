import type { JsonObject, JsonValue } from '#base/json.ts';
import type { SetSnapshot } from '#control/group-sets.ts';
import type { Informer } from '#kubernetes/informer.ts';
import { matchesLabelSelector } from '#statefulset/label-selector.ts';
import { objectAt, stringAt } from '#statefulset/parse-fields.ts';

/** The resource type of the budgets that this version cannot honour yet (K8-3). */
export const zoneAwarePodDisruptionBudgets = Object.freeze({
  group: 'rollout-operator.grafana.com',
  version: 'v1',
  plural: 'zoneawarepoddisruptionbudgets',
  kind: 'ZoneAwarePodDisruptionBudget',
  isNamespaced: true,
});

/** Which pods a ZoneAwarePodDisruptionBudget governs; nothing else is read of it yet. */
export interface BudgetView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly selector: JsonValue | undefined;
}

/** The view of a ZoneAwarePodDisruptionBudget, frozen. */
export function parseBudget(object: JsonObject): BudgetView {
  const metadata = objectAt(object, 'metadata');
  return Object.freeze({
    namespace: stringAt(metadata, 'namespace') ?? '',
    name: stringAt(metadata, 'name') ?? '',
    uid: stringAt(metadata, 'uid') ?? '',
    resourceVersion: stringAt(metadata, 'resourceVersion') ?? '',
    selector: objectAt(object, 'spec')['selector'],
  });
}

/**
 * Why budgets forbid to roll `sets` in this version (D-13): one that selects their pods cannot be honoured, and
 * while budgets cannot be read, one might. A cluster without the resource has none (KW-20).
 */
export function budgetOver(
  sets: readonly SetSnapshot[],
  budgets: Pick<Informer<BudgetView>, 'hasSynced' | 'lister'>,
): string | undefined {
  if (!budgets.hasSynced) {
    return 'ZoneAwarePodDisruptionBudgets cannot be read yet, and one might govern this group; see the log for the reason';
  }
  for (const budget of budgets.lister.list()) {
    const governed = sets.find(
      ({ set }) =>
        set.namespace === budget.namespace &&
        matchesLabelSelector(budget.selector, set.spec.templateLabels),
    );
    if (governed !== undefined) {
      return (
        `ZoneAwarePodDisruptionBudget "${budget.name}" selects the pods of StatefulSet "${governed.set.name}", ` +
        'and this version does not have that capability; the group is not rolled without it'
      );
    }
  }
  return undefined;
}
