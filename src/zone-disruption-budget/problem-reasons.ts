import { alarm, type ReasonEntry } from '#control/decision/reason-entry.ts';
import type { ReportSubject } from '#control/decision/report-plan.ts';
import { apiVersionOf, resourceTypes } from '#kubernetes/resource-type.ts';

/** Why a ZoneDisruptionBudget does not do what a user meant it to do. */
export type ZoneBudgetProblem =
  | 'InvalidSpec'
  | 'LedgerUnknown'
  | 'UnsupportedController'
  | 'NothingSelected'
  | 'ZoneUnknown'
  | 'StatusContested';

/** The same, as `docs/reasons.md` shows it. */
export const zoneBudgetReasons: Readonly<Record<ZoneBudgetProblem, ReasonEntry>> = {
  InvalidSpec: alarm(
    'The spec cannot be read, so no ready pod that it may select goes.',
    'Correct the field that the message names.',
  ),
  LedgerUnknown: alarm(
    'The ConfigMap that records what the budget has granted is missing, or was edited, so no ready pod goes.',
    'Wait until the time that the message names; if it names none, delete the ConfigMap, and wait two minutes.',
  ),
  UnsupportedController: alarm(
    'It selects pods that no known StatefulSet controls, so no ready pod goes.',
    'Select pods of StatefulSets only.',
  ),
  NothingSelected: alarm(
    'It selects no pod, and no StatefulSet whose template has the labels.',
    'Correct spec.selector, or delete the budget.',
  ),
  ZoneUnknown: alarm(
    'The zone of some of its pods is unknown, so these pods do not go.',
    'Check whether the nodes of these pods exist and carry the label topology.kubernetes.io/zone.',
  ),
  StatusContested: alarm(
    'Another client keeps changing the status back; it is written at growing intervals. Evictions are still judged.',
    'Find out what else writes it, such as another operator for the same resources, and stop that.',
  ),
};

/** ZoneDisruptionBudgets, as reports name them. */
export const ofZoneDisruptionBudgets: ReportSubject = {
  apiVersion: apiVersionOf(resourceTypes.zoneDisruptionBudgets),
  kind: resourceTypes.zoneDisruptionBudgets.kind,
  field: 'zonedisruptionbudget',
  reasons: zoneBudgetReasons,
};
