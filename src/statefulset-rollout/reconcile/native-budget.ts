import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Cached } from '#kubernetes/informer/informer.ts';
import { matchesLabelSelector } from '#statefulset/label-selector.ts';
import { identityIn, integerAt, objectAt, stringAt } from '#statefulset/parse-fields.ts';
import type { SelectingBudget } from '../plan/plan-budget.ts';

/** A PodDisruptionBudget of Kubernetes as this program keeps it. */
export interface NativeBudgetView extends Cached {
  /** Undefined where there is nothing: it selects nothing; an empty one selects all. */
  readonly selector: JsonObject | undefined;
  readonly maxUnavailable: JsonValue | undefined;
  readonly minAvailable: JsonValue | undefined;
  /** Undefined while its controller has not looked at it as it is. */
  readonly disruptionsAllowed: number | undefined;
  /** Whether it says `unhealthyPodEvictionPolicy: AlwaysAllow`; absent and unknown ones keep unready pods. */
  readonly evictsUnready: boolean;
}

/** Reads a PodDisruptionBudget as the API server sent it. */
export function parseNativeBudget(object: JsonObject): NativeBudgetView {
  const metadata = objectAt(object, 'metadata');
  const spec = objectAt(object, 'spec');
  return Object.freeze({
    ...identityIn(metadata),
    selector: isJsonObject(spec['selector']) ? spec['selector'] : undefined,
    maxUnavailable: spec['maxUnavailable'] ?? undefined,
    minAvailable: spec['minAvailable'] ?? undefined,
    evictsUnready: stringAt(spec, 'unhealthyPodEvictionPolicy') === 'AlwaysAllow',
    disruptionsAllowed: allowedIn(objectAt(object, 'status'), metadata),
  });
}

function allowedIn(status: JsonObject, metadata: JsonObject): number | undefined {
  const isObserved = integerAt(status, 'observedGeneration') === integerAt(metadata, 'generation');
  return isObserved ? (integerAt(status, 'disruptionsAllowed') ?? 0) : undefined;
}

/** Returns the budgets that select pods with `labels`, by name. */
export function selectingBudgets(
  budgets: readonly NativeBudgetView[],
  labels: Readonly<Record<string, string>>,
): readonly SelectingBudget[] {
  return budgets
    .filter(({ selector }) => matchesLabelSelector(selector, labels))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
