import { type Problem, problemText } from '#base/parsed.ts';
import { formatGoDuration, parseGoDuration } from '#base/time/go-duration.ts';
import { parseTimestamp } from '#base/time/timestamp.ts';
import type { Instant } from '#base/units.ts';
import type { MinimumTimeText } from '#statefulset/last-downscale.ts';
import { goTime } from './time-text.ts';

/** Another set of the group, and when it was last scaled down. */
export interface SiblingTime {
  readonly name: string;
  /** Its own minimum time; undefined without one. */
  readonly minimum: MinimumTimeText | undefined;
  /** RFC 3339 as noted; undefined: never. */
  readonly last: string | undefined;
}

/** Why a zone has to wait for another. */
export type TimeProblem =
  | { readonly kind: 'waits'; readonly tail: string }
  | { readonly kind: 'unreadable'; readonly sibling: string; readonly why: string };

/** Returns the first reason, in the order of `siblings`, why a zone may not shrink now; undefined when it may. */
export function minimumTimeProblem(
  siblings: readonly SiblingTime[],
  now: Instant,
): TimeProblem | undefined {
  for (const sibling of siblings) {
    const problem = problemOf(sibling, now);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOf({ name, minimum, last }: SiblingTime, now: Instant): TimeProblem | undefined {
  if (last === undefined) return undefined;
  const at = parseTimestamp(last, 'the time of the last downscale');
  if (at.kind === 'invalid') return unreadable(name, at.problem);
  if (minimum === undefined) return undefined;
  const wait = parseGoDuration(minimum.text, minimum.path);
  if (wait.kind === 'invalid') return unreadable(name, wait.problem);
  if (now - at.value >= wait.value) return undefined;
  const tail =
    `statefulset ${name} was downscaled at ${goTime(at.value)} and is labelled to wait ` +
    `${formatGoDuration(wait.value)} between zone downscales`;
  return { kind: 'waits', tail };
}

function unreadable(sibling: string, problem: Problem): TimeProblem {
  return { kind: 'unreadable', sibling, why: problemText(problem) };
}
