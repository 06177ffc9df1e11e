/** Holds the history of a set against its gate (GATE-1), by what the store and Prometheus saw and nothing else. */
import type { JsonObject } from '#base/json.ts';
import type { Monotonic } from '#base/units.ts';
import type { Call, Commit } from '#cluster/event-log.ts';
import { canonicalJson, numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import type { AskedOnce } from '#support/external-services/fake-prometheus.ts';
import { isReady, isSteady, lostPodFaults } from './phased-pod-judge.ts';

/** What a judgement is made on. */
interface GateHistory {
  /** All commits of the set. */
  readonly commits: readonly Commit[];
  readonly asked: readonly AskedOnce[];
  /** What the checks of the set ask: all must pass. */
  readonly expressions: readonly string[];
  readonly threshold: number;
  /** How many pods may go from one round of checks to the next. */
  readonly stepSize: number;
  /** When the clock that never steps began, in the time of the commits. */
  readonly start: number;
}

/** All that is wrong with the history of the set `db` under one PhasedRollout, as that says now what was wanted. */
export function rolloutFaults({
  rollout,
  eventLog: { commits, calls },
  asked,
  start,
}: Pick<GateHistory, 'asked' | 'start'> & {
  readonly rollout: JsonObject | undefined;
  readonly eventLog: { readonly commits: readonly Commit[]; readonly calls: readonly Call[] };
}): readonly string[] {
  const name = 'db';
  const ofSet = commits.filter(
    (commit) => commit.resource === 'statefulsets.apps' && commit.name === name,
  );
  const check = objectAt(rollout, 'spec', 'check');
  const queries = [objectAt(check, 'query'), ...objectsAt(check, 'additionalQueries')];
  const gate = gateFaults({
    commits: ofSet,
    asked,
    expressions: queries.map((query) => textAt(query, 'expr')),
    threshold: numberAt(check, 'successThreshold') ?? 3,
    stepSize: numberAt(rollout, 'spec', 'stepSize') ?? 1,
    start,
  });
  return [...gate, ...lostPodFaults({ commits, calls, name })];
}

interface Moment {
  readonly at: number;
  readonly partition: number;
  readonly replicas: number;
  readonly template: string;
  /** Whether nothing is being rolled out: pods that go back to what ran before need no check. */
  readonly isSteady: boolean;
}

/**
 * Returns what is wrong, one sentence each: a partition that was lowered by more than one, or without as many answers that
 * pass on end, all asked since the partition or the template last changed; in a step of several pods for the first of them.
 */
function gateFaults(history: GateHistory): readonly string[] {
  const { commits, threshold, stepSize, start } = history;
  const moments = commits.flatMap((commit) => momentOf(commit, start));
  let since = Number.NEGATIVE_INFINITY;
  /** Pods of this template that have gone since checks passed for it. */
  let gone = Number.POSITIVE_INFINITY;
  return moments.flatMap((moment, index) => {
    const before = moments[index - 1];
    const faults: string[] = [];
    if (before?.template !== moment.template) gone = Number.POSITIVE_INFINITY;
    if (before !== undefined && isLowered(before, moment)) {
      const passed = passesOnEnd(history, since, moment.at);
      gone = passed >= threshold ? 1 : gone + 1;
      faults.push(...faultsOf(before, moment, { passed, threshold, isInStep: gone <= stepSize }));
    }
    const isSame = before?.partition === moment.partition && before.template === moment.template;
    if (!isSame) since = moment.at;
    return faults;
  });
}

function isLowered(before: Moment, moment: Moment): boolean {
  return !moment.isSteady && moment.partition < Math.min(before.partition, moment.replicas);
}

function faultsOf(
  before: Moment,
  { at, partition }: Moment,
  {
    passed,
    threshold,
    isInStep,
  }: { readonly passed: number; readonly threshold: number; readonly isInStep: boolean },
): readonly string[] {
  const by = before.partition - partition;
  return [
    ...(by === 1 ? [] : [`at ${at} the partition fell by ${by}`]),
    ...(isInStep
      ? []
      : [`at ${at} the partition fell to ${partition} after ${passed} of ${threshold} passes`]),
  ];
}

function momentOf({ before, after, at }: Commit, start: number): readonly Moment[] {
  if (after === undefined) return [];
  const strategy = ['spec', 'updateStrategy', 'rollingUpdate', 'partition'];
  return [
    {
      at: at - start,
      partition: numberAt(after, ...strategy) ?? 0,
      replicas: numberAt(after, 'spec', 'replicas') ?? 1,
      template: canonicalJson(objectAt(after, 'spec', 'template')),
      // As it stood: the write itself is not observed yet.
      isSteady: isSteady(before ?? after),
    },
  ];
}

/** Answers that pass on end, of that expression which has the fewest: all must pass. */
function passesOnEnd({ asked, expressions }: GateHistory, since: number, until: number): number {
  const passes = expressions.map((expr) => {
    const ofIt = asked.filter(({ question }) => question.expr === expr);
    return passesOfOne(ofIt, since, until);
  });
  return Math.min(...passes);
}

/** Answers that pass, the newest ones, with errors between them and nothing else. */
function passesOfOne(asked: readonly AskedOnce[], since: number, until: number): number {
  const isIn = (at: Monotonic): boolean => at >= since && at <= until;
  let passes = 0;
  for (const { at, answered } of asked.toReversed()) {
    if (!isIn(at) || answered === undefined || answered.kind === 'error') continue;
    if (answered.kind === 'no-data') break;
    passes += 1;
  }
  return passes;
}

/** Every partition that the set `name` has had, newest last, each once on end. */
export function partitionsIn(commits: readonly Commit[], name: string): readonly number[] {
  const all = commits
    .filter((commit) => commit.resource === 'statefulsets.apps' && commit.name === name)
    .map(
      ({ after }) => numberAt(after, 'spec', 'updateStrategy', 'rollingUpdate', 'partition') ?? 0,
    );
  return all.filter((each, at) => each !== all[at - 1]);
}

/** The most of `pods` that were away, or not ready, at the same moment since all were ready for the first time. */
export function mostDown(commits: readonly Commit[], pods: readonly string[]): number {
  const ready = new Map<string, boolean>();
  let most = 0;
  let isWhole = false;
  for (const { resource, name, after } of commits) {
    if (resource !== 'pods' || !pods.includes(name)) continue;
    ready.set(name, isReady(after));
    const up = [...ready.values()].filter(Boolean).length;
    if (up === pods.length) isWhole = true;
    if (isWhole) most = Math.max(most, pods.length - up);
  }
  return most;
}

const verbs: readonly string[] = ['create', 'update', 'patch', 'delete'];
const uncounted = /^(?:events|leases|selfsubjectaccessreviews)\b/;

/** What programs under test wrote, but for Events and their Lease, such as `patch statefulsets.apps db`. */
export function writesIn(calls: readonly Call[]): readonly string[] {
  return calls
    .filter(
      ({ user, verb, resource }) =>
        user.startsWith('operator-') && verbs.includes(verb) && !uncounted.test(resource),
    )
    .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
}

/** What the peer tells by Events, and what lets pods go. */
export const told: ReadonlySet<string> = new Set([
  'RolloutStarted',
  'RolloutCompleted',
  'Suspended',
  'CannotManage',
  'PrometheusConfigError',
  'CheckPassed',
  'RevisionReverted',
  'Released',
  'StuckPodReplaced',
]);
