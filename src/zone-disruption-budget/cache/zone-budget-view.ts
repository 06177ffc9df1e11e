import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import type { Cached } from '#kubernetes/informer/informer.ts';
import { identityIn, instantAt, integerAt, objectAt } from '#statefulset/parse-fields.ts';
import { type ParsedZoneBudget, parseZoneBudget } from '../spec/parse-zone-budget.ts';
import type { PodSelector } from '../spec/selector.ts';
import { parseZoneStatus, type ZoneBudgetStatus } from '../status.ts';

/** What is kept of a ZoneDisruptionBudget. */
export interface ZoneBudgetView extends Cached {
  /** When the API server says that it was made; undefined where it does not say. */
  readonly createdAt: Instant | undefined;
  /** The generation of its spec; 0 where it says none. */
  readonly generation: number;
  readonly parsed: ParsedZoneBudget;
  readonly status: ZoneBudgetStatus;
}

/** Returns the view of an object of the API. Total: what is wrong with its spec is in `parsed`. */
export function zoneBudgetView(object: JsonObject): ZoneBudgetView {
  const metadata = objectAt(object, 'metadata');
  return Object.freeze({
    ...identityIn(metadata),
    createdAt: instantAt(metadata, 'creationTimestamp'),
    generation: integerAt(metadata, 'generation') ?? 0,
    parsed: parseZoneBudget(object),
    status: parseZoneStatus(object),
  });
}

/** Returns which pods `budget` governs, or of one that cannot be read may govern. */
export function selectorOf({ parsed }: ZoneBudgetView): PodSelector {
  return parsed.kind === 'valid' ? parsed.spec.selector : parsed.selector;
}

/** Returns whether both say the same, whatever their status. */
export function isSameSpec(one: ZoneBudgetView, other: ZoneBudgetView | undefined): boolean {
  return one.uid === other?.uid && one.generation === other.generation;
}
