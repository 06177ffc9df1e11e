/** Holds the history of a set against its gate (GATE-1), by what the store and Prometheus saw and nothing else. */
import type { JsonObject } from '#base/json.ts';
import type { Monotonic } from '#base/units.ts';
import {
  canonicalJson,
  numberAt,
  objectAt,
  textAt,
} from '#embedded-cluster/controllers/read-json.ts';
import type { Call, Commit } from '#embedded-cluster/event-log.ts';
import type { AskedOnce } from '#testing/fake-prometheus.ts';

/** What a judgement is made on. */
export interface GateHistory {
  /** All commits of the set. */
  readonly commits: readonly Commit[];
  readonly asked: readonly AskedOnce[];
  readonly threshold: number;
  /** When the clock that never steps began, in the time of the commits. */
  readonly start: number;
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
 * pass on end, all asked since the partition or the template last changed.
 */
export function gateFaults({ commits, asked, threshold, start }: GateHistory): readonly string[] {
  const moments = commits.flatMap((commit) => momentOf(commit, start));
  let since = Number.NEGATIVE_INFINITY;
  return moments.flatMap((moment, index) => {
    const before = moments[index - 1];
    const faults =
      before === undefined || !isLowered(before, moment)
        ? []
        : faultsOf(before, moment, { passed: passesOnEnd(asked, since, moment.at), threshold });
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
  { passed, threshold }: { readonly passed: number; readonly threshold: number },
): readonly string[] {
  const by = before.partition - partition;
  return [
    ...(by === 1 ? [] : [`at ${at} the partition fell by ${by}`]),
    ...(passed >= threshold
      ? []
      : [`at ${at} the partition fell to ${partition} after ${passed} of ${threshold} passes`]),
  ];
}

function momentOf({ after, at }: Commit, start: number): readonly Moment[] {
  if (after === undefined) return [];
  const strategy = ['spec', 'updateStrategy', 'rollingUpdate', 'partition'];
  return [
    {
      at: at - start,
      partition: numberAt(after, ...strategy) ?? 0,
      replicas: numberAt(after, 'spec', 'replicas') ?? 1,
      template: canonicalJson(objectAt(after, 'spec', 'template')),
      isSteady: isSteady(after),
    },
  ];
}

/** Answers that pass, the newest ones, with errors between them and nothing else. */
function passesOnEnd(asked: readonly AskedOnce[], since: number, until: number): number {
  const isIn = (at: Monotonic): boolean => at >= since && at <= until;
  let passes = 0;
  for (const { at, answered } of asked.toReversed()) {
    if (!isIn(at) || answered === undefined || answered.kind === 'error') continue;
    if (answered.kind === 'no-data') break;
    passes += 1;
  }
  return passes;
}

function isSteady(set: JsonObject): boolean {
  return textAt(set, 'status', 'currentRevision') === textAt(set, 'status', 'updateRevision');
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
