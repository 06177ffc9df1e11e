import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { deepFreeze } from '#config/deep-freeze.ts';
import type { Cached } from '#kubernetes/informer/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { instantAt, objectAt, stringAt } from '#statefulset/parse-fields.ts';

/** What is kept of a ZoneAwarePodDisruptionBudget, frozen: what names it, and what its parser reads. */
export interface BudgetView extends Cached {
  /** When the API server says that it was made; undefined where it does not say. */
  readonly createdAt: Instant | undefined;
  /** `kind` and `spec` as they are, and of the metadata the names, the uid and the generation. */
  readonly object: JsonObject;
}

/** Returns the view of an object of the API. What is wrong with its spec, the parser says; never throws. */
export function budgetView(object: JsonObject): BudgetView {
  const metadata = objectAt(object, 'metadata');
  const name = stringAt(metadata, 'name') ?? '';
  const namespace = stringAt(metadata, 'namespace') ?? '';
  const uid = stringAt(metadata, 'uid') ?? '';
  const { generation } = metadata;
  // An item of a list need not say its kind: the list does.
  const { kind = resourceTypes.zoneAwarePodDisruptionBudgets.kind, spec } = object;
  return deepFreeze({
    namespace,
    name,
    uid,
    resourceVersion: stringAt(metadata, 'resourceVersion') ?? '',
    createdAt: instantAt(metadata, 'creationTimestamp'),
    object: { kind, metadata: { namespace, name, uid, generation }, spec },
  });
}
