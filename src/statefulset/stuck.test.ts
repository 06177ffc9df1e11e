import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, type Millis, millis, minutes, monotonic, seconds } from '#base/units.ts';
import { podView, T0, unready } from '#support/objects/views.ts';
import { isStuckReplacement, type Stuckness, stuckness } from './stuck.ts';
import type { PodView, Unready } from './view.ts';

interface Row {
  readonly pod: Partial<PodView>;
  /** How long its condition is as it is. @default unreadable */
  readonly toldFor?: Millis;
  /** How long this process has seen it so. @default not at all */
  readonly seenFor?: Millis;
  /** @default 30 minutes */
  readonly stuckAfter?: Millis | 'never';
  /** What is said in words; `left` in seconds. */
  readonly want: string;
}

const NOW = monotonic(100_000_000);

function view({ pod, toldFor }: Row): PodView {
  const since = toldFor === undefined ? undefined : after(T0, millis(0 - toldFor));
  return podView({
    readySince: undefined,
    areContainersReady: false,
    unreadyAfter: minutes(60),
    ...pod,
    unready: pod.readySince === undefined ? unready({ ...pod.unready, since }) : undefined,
  });
}

function ask(row: Row): Stuckness {
  const pod = view(row);
  const { seenFor, stuckAfter = minutes(30) } = row;
  const since = new Map(
    seenFor === undefined ? [] : [[pod.uid, monotonic(NOW - seenFor)] as const],
  );
  return stuckness(pod, {
    now: T0,
    watched: {
      now: NOW,
      since,
      witnessed: new Set<string>(),
      served: new Set<string>(),
      gone: new Map(),
      begun: monotonic(0),
    },
    stuckAfter: stuckAfter === 'never' ? undefined : stuckAfter,
  });
}

function words(found: Stuckness): string {
  switch (found.kind) {
    case 'stuck-by-time':
      return `for ${found.time / 1_000}`;
    case 'stuck-by-cause':
      return `${found.cause}${found.isNew ? ', new' : ''}${left(found.left)}`;
    default:
      return `not${left(found.left)}`;
  }
}

function left(span: Millis | undefined): string {
  return span === undefined ? '' : `, ${span / 1_000} left`;
}

const some = (facts: Partial<Unready>): Unready => ({ ...unready(), ...facts });
const backingOff = { unready: some({ isBackingOff: true }), trouble: 'CrashLoopBackOff' };
const never = { unreadyAfter: millis(0) };

const rows: Record<string, Row> = {
  // (a): it waits for what the kubelet repeats, or is Pending or Failed …
  'a crash loop of a pod that was never ready': {
    pod: { ...backingOff, ...never },
    toldFor: seconds(2),
    seenFor: seconds(2),
    want: 'CrashLoopBackOff, new, 58 left',
  },
  'a crash loop of one that was never ready, although this process has just begun': {
    pod: { ...backingOff, ...never },
    toldFor: minutes(20),
    want: 'CrashLoopBackOff, new, 60 left',
  },
  'a pod that is Pending since it was made': {
    pod: { phase: 'Pending', ...never },
    toldFor: seconds(2),
    seenFor: seconds(2),
    want: 'Pending, new, 58 left',
  },
  'a pod that no node takes, of which no kubelet has said anything': {
    pod: {
      phase: 'Pending',
      unreadyAfter: undefined,
      unready: some({ condition: undefined, isUnscheduled: true }),
      trouble: 'Unschedulable',
    },
    toldFor: seconds(0),
    want: 'Unschedulable, new, 60 left',
  },
  'a pod that failed before it was ready': {
    pod: { phase: 'Failed', ...never },
    toldFor: seconds(2),
    seenFor: seconds(2),
    want: 'Failed, new, 58 left',
  },
  '[found R-14] one that has run to its end, and never runs again': {
    pod: { phase: 'Succeeded', ...never },
    toldFor: seconds(2),
    seenFor: seconds(2),
    want: 'Succeeded, new, 58 left',
  },
  '[found R-14] one that has run to its end for a minute, after it had been ready': {
    pod: { phase: 'Succeeded' },
    toldFor: minutes(1),
    seenFor: minutes(1),
    want: 'Succeeded',
  },
  'a pod that was never ready, and whose container runs': {
    pod: never,
    toldFor: seconds(2),
    seenFor: seconds(2),
    want: 'not, 1798 left',
  },
  // … and it was not ready for 60 s, by its condition and as long as it was watched.
  'a crash loop of one that was ready 59 s ago': {
    pod: backingOff,
    toldFor: seconds(59),
    seenFor: seconds(59),
    want: 'not, 1 left',
  },
  'a crash loop of one that was ready 60 s ago': {
    pod: backingOff,
    toldFor: seconds(60),
    seenFor: seconds(60),
    want: 'CrashLoopBackOff',
  },
  'a crash loop for an hour by its condition that was watched for 5 s': {
    pod: backingOff,
    toldFor: minutes(60),
    seenFor: seconds(5),
    want: 'not, 55 left',
  },
  'a crash loop for an hour that was watched for 5 s by its condition': {
    pod: backingOff,
    toldFor: seconds(5),
    seenFor: minutes(60),
    want: 'not, 55 left',
  },
  'a crash loop for an hour that this process sees for the first time': {
    pod: backingOff,
    toldFor: minutes(60),
    want: 'not, 60 left',
  },
  'a crash loop whose condition is of a time to come': {
    pod: backingOff,
    toldFor: minutes(-60),
    seenFor: minutes(60),
    want: 'not, 60 left',
  },
  'a crash loop whose condition has no readable time': {
    pod: backingOff,
    seenFor: minutes(60),
    want: 'not',
  },
  'a crash loop whose condition cannot be read': {
    pod: { ...backingOff, unready: some({ isBackingOff: true, condition: undefined }) },
    toldFor: minutes(60),
    seenFor: minutes(60),
    want: 'not',
  },
  'a crash loop of which nobody can say whether it was ever ready': {
    pod: { ...backingOff, unreadyAfter: undefined },
    toldFor: seconds(2),
    seenFor: seconds(2),
    want: 'not, 58 left',
  },
  'a crash loop whose condition is older than its start': {
    pod: { ...backingOff, unreadyAfter: seconds(-5) },
    toldFor: seconds(2),
    seenFor: seconds(2),
    want: 'not, 58 left',
  },
  'a crash loop on a node that cannot be reached': {
    pod: {
      ...backingOff,
      unready: some({ isBackingOff: true, condition: 'Unknown', isOutOfReach: true }),
    },
    toldFor: minutes(60),
    seenFor: minutes(60),
    want: 'not',
  },
  'an image that cannot be pulled, of a pod that is Ready all the same': {
    pod: { ...backingOff, readySince: T0 },
    seenFor: minutes(60),
    want: 'not',
  },
  'a pod of which nothing is known but that it is Pending': {
    pod: {
      phase: 'Pending',
      unreadyAfter: undefined,
      unready: some({ condition: undefined }),
    },
    seenFor: minutes(60),
    want: 'not',
  },
  // (b): time.
  'a pod that is not ready for 30 minutes less a millisecond': {
    pod: {},
    toldFor: millis(1_799_999),
    seenFor: minutes(30),
    want: 'not, 0.001 left',
  },
  'a pod that is not ready for 30 minutes': {
    pod: {},
    toldFor: minutes(30),
    seenFor: minutes(30),
    want: 'for 1800',
  },
  'a pod that is not ready for a day, and watched for a minute': {
    pod: {},
    toldFor: minutes(1_440),
    seenFor: minutes(1),
    want: 'not, 1740 left',
  },
  'a pod that is not ready for as long as a person wants to wait': {
    pod: {},
    toldFor: minutes(5),
    seenFor: minutes(5),
    stuckAfter: minutes(5),
    want: 'for 300',
  },
  'a pod that is not ready for a day where time does not count': {
    pod: {},
    toldFor: minutes(1_440),
    seenFor: minutes(1_440),
    stuckAfter: 'never',
    want: 'not',
  },
  'a store that replays its log for a day, its start-up probe running': {
    pod: { unready: some({ isStartingUp: true }) },
    toldFor: minutes(1_440),
    seenFor: minutes(1_440),
    want: 'not',
  },
  'a pod of a node that is lost for a day': {
    pod: { unready: some({ condition: 'Unknown', isOutOfReach: true }) },
    toldFor: minutes(1_440),
    seenFor: minutes(1_440),
    want: 'not',
  },
  'a pod that the node controller has marked, of a node that is lost for a day': {
    pod: { unready: some({ isOutOfReach: true }), areContainersReady: true },
    toldFor: minutes(1_440),
    seenFor: minutes(1_440),
    want: 'not',
  },
  'a pod without a Ready condition': {
    pod: { unready: some({ condition: undefined }) },
    seenFor: minutes(1_440),
    want: 'not',
  },
};

for (const [what, row] of Object.entries(rows)) {
  test(`stuckness() answers "${row.want}" for ${what} (D-48)`, () => {
    assert.equal(words(ask(row)), row.want);
  });
}

const replacements: Record<string, Row & { readonly isStuck: boolean }> = {
  'one that is only being made': {
    ...rowOf('a pod that is Pending since it was made'),
    isStuck: false,
  },
  'one that is Pending for a minute': {
    pod: { phase: 'Pending', ...never },
    toldFor: seconds(60),
    seenFor: seconds(60),
    want: '',
    isStuck: true,
  },
  'one whose image cannot be pulled': {
    pod: { phase: 'Pending', ...never, ...backingOff, trouble: 'ImagePullBackOff' },
    toldFor: seconds(1),
    want: '',
    isStuck: true,
  },
  'one that starts': { pod: never, toldFor: seconds(1), want: '', isStuck: false },
  'one that is not ready for 30 minutes': {
    ...rowOf('a pod that is not ready for 30 minutes'),
    isStuck: true,
  },
};

function rowOf(what: string): Row {
  const row = rows[what];
  if (row === undefined) throw new Error(`no row ${what}`);
  return row;
}

for (const [what, row] of Object.entries(replacements)) {
  test(`isStuckReplacement() answers ${row.isStuck} for ${what} (D-48)`, () => {
    assert.equal(isStuckReplacement(view(row), ask(row)), row.isStuck);
  });
}
