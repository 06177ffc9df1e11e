import type { Because } from '#base/because.ts';
import { problemText } from '#base/parsed.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import type { KnownLedger } from '#disruption/decision/governance.ts';
import type { Standing } from '#disruption/standing.ts';
import type { ZoneBudgetProblem } from '../problem-reasons.ts';
import type { ParsedZoneBudget } from '../spec/parse-zone-budget.ts';

/** What a budget is looked at by; of one that cannot be read only that is known. */
export interface ProblemSight {
  readonly parsed: ParsedZoneBudget;
  readonly ledger?: KnownLedger;
  readonly standing?: Standing;
  /** Pods that the budget selects, and that something else than a StatefulSet controls which is seen; by name. */
  readonly strangers?: readonly string[];
}

/** How many pods are named. */
const named = 3;

/** Returns what keeps a budget from being what a user meant it to be; none where evictions are judged by it as it says. */
export function zoneBudgetProblems({
  parsed,
  ledger,
  standing,
  strangers = [],
}: ProblemSight): readonly Because<ZoneBudgetProblem>[] {
  if (parsed.kind === 'invalid') {
    const message = `${problemText(parsed.problem)}; until that is corrected no pod that it may select goes`;
    return [{ reason: 'InvalidSpec', message }];
  }
  return [...ledgerProblems(ledger), ...strangerProblems(strangers), ...placeProblems(standing)];
}

function ledgerProblems(ledger: KnownLedger | undefined): readonly Because<ZoneBudgetProblem>[] {
  if (ledger?.kind !== 'unclear') return [];
  const { why, until } = ledger;
  const end = until === undefined ? 'until that is corrected' : `until ${formatUtcSeconds(until)}`;
  const message = `It is unknown which disruptions were granted, and none is ${end}: ${why}`;
  return [{ reason: 'LedgerUnknown', message }];
}

function strangerProblems(strangers: readonly string[]): readonly Because<ZoneBudgetProblem>[] {
  if (strangers.length === 0) return [];
  const message =
    `It selects ${namesOf(strangers)}, which no known StatefulSet controls: how many pods there should be ` +
    'is unknown, and none that is ready goes';
  return [{ reason: 'UnsupportedController', message }];
}

function placeProblems(standing: Standing | undefined): readonly Because<ZoneBudgetProblem>[] {
  if (standing?.sets === undefined) return [];
  const places = [...standing.places.values()];
  if (standing.sets.size === 0 && places.length === 0) {
    const message = 'Its selector selects no pod, and no StatefulSet that would make one';
    return [{ reason: 'NothingSelected', message }];
  }
  const unknown = places
    .filter(({ pod, slot }) => pod?.nodeName !== undefined && slot.zone === undefined)
    .map(({ slot }) => slot.pod);
  if (unknown.length === 0) return [];
  const message =
    `It is not known in which zone ${namesOf(unknown.toSorted())} ${unknown.length === 1 ? 'runs' : 'run'}, so ` +
    `${unknown.length === 1 ? 'it does' : 'they do'} not go: the nodes are gone, or have no label topology.kubernetes.io/zone`;
  return [{ reason: 'ZoneUnknown', message }];
}

function namesOf(pods: readonly string[]): string {
  const more = pods.length - named;
  const first = pods.slice(0, named).join(', ');
  return more > 0 ? `${first} and ${more} more` : first;
}
