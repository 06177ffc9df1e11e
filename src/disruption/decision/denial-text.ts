/** What people and programs hear of a denial; the webhook and the rollout say the same. */
import { assertNever } from '#base/assert-never.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { minutes } from '#base/units.ts';
import type { BudgetRef } from '../budget.ts';
import type { Obstacle } from '../obstacle.ts';
import type { Asker } from '../reservation.ts';
import type { CountedSpan, Denial } from './denial.ts';

type Disturbed = Extract<Denial, { kind: 'disturbed' }>;
type Unused = Extract<Denial, { kind: 'unused' }>;

const fixedTexts = {
  'nothing-allowed': 'max unavailable = 0',
  'sets-unreadable': 'minimum number of StatefulSets not found',
  'too-few-sets': 'minimum number of StatefulSets not found',
  'pods-unreadable': 'unable to determine pod status in related StatefulSet',
  'no-partition': 'failed to extract partition from pod Name regular expression',
  'set-not-governed': 'the StatefulSet that owns the pod is not selected',
  'pod-not-seen': 'the pod is not among those that are seen',
  'no-zone': 'the zone of the pod is not known',
  'ledger-full': 'no room for another reservation',
} as const satisfies Record<Exclude<Denial['kind'], 'disturbed' | 'unused'>, string>;

/** Returns the text by which clients of the reference know `denial`, byte for byte where it has one. */
export function wireText(denial: Denial): string {
  if (denial.kind === 'disturbed') return `${counts(denial)} in ${spanText(denial.span)}`;
  return denial.kind === 'unused' ? unusedText(denial) : fixedTexts[denial.kind];
}

function unusedText({ slots, allowed }: Unused): string {
  const where = slots === undefined ? '' : ` in ${spanText(slots)}`;
  const inMinutes = allowed / minutes(1);
  const span = inMinutes === 1 ? 'a minute' : `${inMinutes} minutes`;
  return `evictions${where} were allowed for ${span}, and no pod has gone`;
}

function counts({ notReady, unknown }: Disturbed): string {
  const parts = [count(notReady, 'not ready'), count(unknown, 'unknown')];
  return parts.filter((part) => part !== '').join(', ');
}

function count(pods: number, what: string): string {
  if (pods === 0) return '';
  return `${pods} pod${pods > 1 ? 's' : ''} ${what}`;
}

function spanText(span: CountedSpan): string {
  return span.kind === 'zone'
    ? (span.zone ?? 'a zone that is not known')
    : `partition ${span.partition}`;
}

/** Returns the same for people: with the budget, what is in the way, and until when. */
export function explain(denial: Denial, { kind, name }: BudgetRef): string {
  const detail = detailOf(denial);
  return `${wireText(denial)} (${kind} ${name})${detail === '' ? '' : `: ${detail}`}`;
}

function detailOf(denial: Denial): string {
  switch (denial.kind) {
    case 'too-few-sets':
      return `it selects ${denial.found}, and without another zone there is nothing to be kept up`;
    case 'pods-unreadable':
      return denial.set;
    case 'pod-not-seen':
      return denial.seenUid === undefined ? '' : `in its place is uid ${denial.seenUid}`;
    case 'disturbed':
      return `${obstacleTexts(denial.obstacles)}${endText(denial)}`;
    case 'unused':
      return `others have their turn, and evictions may be asked for again ${formatUtcSeconds(denial.until)}`;
    case 'ledger-full':
      return `its ledger has ${denial.reservations}, and takes at most ${denial.mostBytes} bytes`;
    default:
      return '';
  }
}

/** How many pods are named. */
const named = 3;

function obstacleTexts(obstacles: readonly Obstacle[]): string {
  const texts = obstacles.slice(0, named).map(obstacleText);
  const more = obstacles.length - texts.length;
  return `${texts.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function obstacleText({ pod, why, reservedBy }: Obstacle): string {
  switch (why) {
    case 'missing':
      return `${pod} is missing`;
    case 'left':
      return `${pod} has no StatefulSet any more`;
    case 'uncounted':
      return `the status of its set counts ${pod}, which is not seen`;
    case 'no-peer':
      return `${pod} has none of this partition`;
    case 'terminating':
      return `${pod} is going`;
    case 'not-ready':
      return `${pod} is not ready`;
    case 'settling':
      return `${pod} is ready, but not for minReadySeconds`;
    case 'in-delay':
      return `${pod} is ready, but not for the delay across zones`;
    case 'reserved':
      return `${pod} is given to ${reservedBy.map((asker) => askerTexts[asker]).join(' and ')}`;
    default:
      return assertNever(why);
  }
}

const askerTexts: Readonly<Record<Asker, string>> = {
  rollout: 'a rollout',
  eviction: 'an eviction',
  'scale-down': 'a scale-down',
};

function endText({ until, tolerated }: Disturbed): string {
  const end = until === undefined ? '' : `, until ${formatUtcSeconds(until)} if nothing changes`;
  return `${end}; at most ${tolerated} may be`;
}
