import type { Because } from '#base/because.ts';
import { after, type Instant, type Monotonic, millis } from '#base/units.ts';
import type { CallPod, Decision, Requeue, Scale } from '#control/decision/decision.ts';
import type { Reason } from '#control/decision/reasons.ts';
import { setRef } from '#control/decision/refs.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { CoordinationSnapshot } from './snapshot.ts';

/** What a wish asks for besides, whether or not it is granted. */
export interface WishExtras {
  readonly requeue?: Requeue;
  /** Pods that are called. */
  readonly calls?: readonly CallPod[];
  /** Where they are called; undefined where no pod is. */
  readonly calledAt?: string | undefined;
  /** How many pods of the set, from its first on, stay for sure. @default all */
  readonly stays?: number;
}

/** What one set wants of its replicas, looked at alone. */
export type Wish =
  | (WishExtras & { readonly kind: 'settled' })
  | (WishExtras & { readonly kind: 'hold'; readonly hold: Extract<Decision, { kind: 'hold' }> })
  | (WishExtras & { readonly kind: 'scale'; readonly scale: Scale; readonly isFollower: boolean });

/** When, and in the middle of what, a set is looked at. */
export interface CoordinationMoment {
  readonly group: CoordinationSnapshot;
  readonly now: Instant;
}

/** Returns the wall-clock time of a reading of the other clock, as seen from `moment`. */
export function timeOf({ group, now }: CoordinationMoment, at: Monotonic): Instant {
  return after(now, millis(at - group.takenAt));
}

/** The set has what it wants. */
export const settled: Wish = Object.freeze({ kind: 'settled' });

/** Returns the wish that nothing is done about `set`; `until` when time alone may end it. */
export function hold(set: StatefulSetView, why: Because<Reason>, until?: Instant): Wish {
  const base = { kind: 'hold', set: setRef(set), because: why } as const;
  return { kind: 'hold', hold: until === undefined ? base : { ...base, until } };
}

/** Returns the wish that `set` goes to `to` replicas. What it costs is found out by `safely`. */
export function scaleTo(
  { set }: SetSnapshot,
  to: number,
  rest: {
    readonly because: Because<Reason>;
    readonly isFollower: boolean;
    readonly provenAt?: Monotonic | undefined;
  },
): Wish {
  const { isFollower, provenAt, because } = rest;
  const from = set.spec.replicas;
  const revision = set.resourceVersion;
  const base = { kind: 'scale', set: setRef(set), from, to, takes: 0, revision, because } as const;
  return {
    kind: 'scale',
    isFollower,
    scale: provenAt === undefined ? base : { ...base, provenAt },
  };
}
