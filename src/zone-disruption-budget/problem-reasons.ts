import type { ReasonEntry } from '#control/decision/reasons.ts';
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

function hold(isTrueWhen: string, remedy: string): ReasonEntry {
  return { kind: 'hold', isTrueWhen, remedy };
}

/** The same, as `docs/reasons.md` shows it. */
export const zoneBudgetReasons: Readonly<Record<ZoneBudgetProblem, ReasonEntry>> = {
  InvalidSpec: hold(
    'The spec cannot be read, so that no ready pod goes which it may select.',
    'Correct the field that the message names.',
  ),
  LedgerUnknown: hold(
    'The ConfigMap with what the budget has given away is missing, or was edited, so that no ready pod goes.',
    'Wait until the time that the message names; where it names none, delete the ConfigMap, and wait two minutes.',
  ),
  UnsupportedController: hold(
    'It selects pods of something else than a StatefulSet that is seen, so that no ready pod goes.',
    'Select pods of StatefulSets only.',
  ),
  NothingSelected: hold(
    'It selects no pod, and no StatefulSet whose template has the labels.',
    'Correct spec.selector, or delete the budget.',
  ),
  ZoneUnknown: hold(
    'It is not known in which zone some of its pods run, which do not go therefore.',
    'Look whether the nodes of these pods are there and carry the label topology.kubernetes.io/zone.',
  ),
  StatusContested: hold(
    'Another client keeps changing the status back: it is written ever more rarely. Evictions are judged nevertheless.',
    'Find out who else writes it, such as another operator for the same resources, and stop that.',
  ),
};

/** ZoneDisruptionBudgets, as reports tell of them. */
export const ofZoneDisruptionBudgets: ReportSubject = {
  apiVersion: apiVersionOf(resourceTypes.zoneDisruptionBudgets),
  kind: resourceTypes.zoneDisruptionBudgets.kind,
  field: 'zonedisruptionbudget',
  isWished: () => false,
  isAlarming: () => true,
};
