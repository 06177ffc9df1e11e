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
    'The spec cannot be read, so that no ready pod goes which it may select.',
    'Correct the field that the message names.',
  ),
  LedgerUnknown: alarm(
    'The ConfigMap with what the budget has given away is missing, or was edited, so that no ready pod goes.',
    'Wait until the time that the message names; where it names none, delete the ConfigMap, and wait two minutes.',
  ),
  UnsupportedController: alarm(
    'It selects pods of something else than a StatefulSet that is seen, so that no ready pod goes.',
    'Select pods of StatefulSets only.',
  ),
  NothingSelected: alarm(
    'It selects no pod, and no StatefulSet whose template has the labels.',
    'Correct spec.selector, or delete the budget.',
  ),
  ZoneUnknown: alarm(
    'It is not known in which zone some of its pods run, which do not go therefore.',
    'Look whether the nodes of these pods are there and carry the label topology.kubernetes.io/zone.',
  ),
  StatusContested: alarm(
    'Another client keeps changing the status back: it is written ever more rarely. Evictions are judged nevertheless.',
    'Find out who else writes it, such as another operator for the same resources, and stop that.',
  ),
};

/** ZoneDisruptionBudgets, as reports tell of them. */
export const ofZoneDisruptionBudgets: ReportSubject = {
  apiVersion: apiVersionOf(resourceTypes.zoneDisruptionBudgets),
  kind: resourceTypes.zoneDisruptionBudgets.kind,
  field: 'zonedisruptionbudget',
  reasons: zoneBudgetReasons,
};
