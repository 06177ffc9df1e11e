import type { Call, Commit } from '#cluster/event-log.ts';
import { podFacts, setFacts } from '../history/facts.ts';
import type { Violation } from '../invariants/invariant.ts';
import type { JudgeOptions } from './chosen-invariants.ts';
import type { RecordedHistory } from './judge.ts';

const linesBefore = 12;
const linesAfter = 3;

/** Returns a text for humans: each violation with the commits around it, and which invariants were not judged. */
export function reportText(
  recorded: RecordedHistory,
  options: JudgeOptions,
  violations: readonly Violation[],
): string {
  const skipped = notJudged(options);
  const lines = [
    `${violations.length} violations in ${recorded.commits.length} commits and ${recorded.calls.length} calls.`,
    ...(skipped.length === 0 ? [] : [`Not judged: ${skipped.join(', ')}.`]),
  ];
  for (const violation of violations) lines.push('', ...excerpt(recorded, options, violation));
  return lines.join('\n');
}

function notJudged(options: JudgeOptions): readonly string[] {
  const parts: readonly (readonly [isJudged: boolean, ids: string])[] = [
    [options.statements !== undefined, 'EXCL-2, MAXU-2, SHOWN, D-7 (no statements)'],
    [options.areDeliveriesKnown !== false, 'D-7: whether proofs had been delivered'],
    [options.areDeliveriesKnown !== false || options.shownAfter !== undefined, 'SHOWN'],
    [options.areDeliveriesKnown !== false || options.shownAfter !== undefined, 'BUDG-2, fresh'],
    [options.areEvictionsReviewed === true, 'BUDG-1 and D-36 of evictions'],
    [options.scaleStatements !== undefined, 'D-7, EXCL-2, SHOWN of down-scales (no statements)'],
    [options.completion !== undefined, 'LIVE-1 and LIVE-3'],
    [options.stalls !== undefined, 'LIVE-2'],
    [options.stalls?.retold !== undefined, 'LIVE-2: telling again'],
    [options.quiet !== undefined, 'QUIE-1'],
    [options.effort !== undefined, 'WRITES'],
    [options.podCalls !== undefined, 'SCAL-1: delays of down-scales'],
  ];
  return parts.filter(([isJudged]) => !isJudged).map(([, ids]) => ids);
}

function excerpt(
  recorded: RecordedHistory,
  options: JudgeOptions,
  violation: Violation,
): readonly string[] {
  const { commits } = recorded;
  const start = commits[0]?.at ?? violation.at;
  const found = commits.findIndex((commit) => commit.revision >= violation.revision);
  const middle = found < 0 ? commits.length - 1 : found;
  const calls = new Map(recorded.calls.map((call) => [call.callId, call]));
  const lines = commits
    .slice(Math.max(0, middle - linesBefore), middle + linesAfter + 1)
    .map((commit) => {
      const mark = commit.revision === violation.revision ? '>' : ' ';
      const actor = options.ours(commit.user) ? `${commit.user} (ours)` : commit.user;
      const time = `t+${((commit.at - start) / 1_000).toFixed(3)}s`;
      const deed = `${commit.verb} ${commit.resource} ${commit.namespace}/${commit.name}`;
      const call = callText(calls.get(commit.callId));
      return `${mark} ${time} rev ${commit.revision} ${actor}: ${deed} ${stateText(commit)}${call}`;
    });
  const time = `t+${((violation.at - start) / 1_000).toFixed(3)}s`;
  return [`${violation.id} at ${time}: ${violation.message}`, ...lines];
}

function stateText(commit: Commit): string {
  const object = commit.after ?? commit.before;
  if (object === undefined) return '';
  if (commit.resource === 'statefulsets.apps') {
    const set = setFacts(object);
    return `[replicas ${set.statusReplicas}/${set.replicas}, target ${set.target ?? 'unknown'}]`;
  }
  if (commit.resource !== 'pods') return '';
  const pod = podFacts(object);
  const state = pod.isTerminating
    ? 'terminating'
    : pod.readySince === undefined
      ? 'unready'
      : 'ready';
  return `[${pod.revision ?? 'no revision'}, ${state}, uid ${pod.uid}]`;
}

function callText(call: Call | undefined): string {
  if (call === undefined) return '';
  const wanted = call.preconditions;
  const must =
    wanted === undefined ? '' : ` if uid ${wanted.uid ?? '-'} rv ${wanted.resourceVersion ?? '-'}`;
  return ` (call ${call.callId} of ${call.client}${must}: ${call.outcome})`;
}
