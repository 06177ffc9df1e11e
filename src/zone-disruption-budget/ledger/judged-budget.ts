import type { Budget } from '#disruption/budget.ts';
import type { ZoneBudgetSpec } from '../api.ts';

/** A ZoneDisruptionBudget as it names itself. */
export interface ZoneBudgetIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * Returns a budget that says `spec` as verdicts are made by it: zones are those of nodes, and only one may be disturbed.
 *
 * @param zoneOf the zone of the pod of this name and the namespace of the budget, or where it last was; undefined where that
 * is unknown
 */
export function judgedZoneBudget(
  { namespace, name, uid }: ZoneBudgetIdentity,
  spec: ZoneBudgetSpec,
  zoneOf: (podName: string) => string | undefined,
): Budget {
  return Object.freeze({
    ref: Object.freeze({ kind: 'ZoneDisruptionBudget', namespace, name, uid }),
    limit: spec.limit,
    mode: Object.freeze({ kind: 'zones-of-nodes', zoneOf }),
  });
}
