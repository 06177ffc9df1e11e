import type { Because } from '#base/because.ts';
import type { Instant, Monotonic } from '#base/units.ts';
import type { Decision, Requeue, Scale } from '#control/decision.ts';
import type { SetSnapshot } from '#control/group-sets.ts';
import type { Reason } from '#control/reasons.ts';
import { setRef } from '#control/refs.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { CoordinationSnapshot } from './snapshot.ts';

/** What one set wants of its replicas, looked at alone. */
export type Wish =
  | { readonly kind: 'settled'; readonly requeue?: Requeue }
  | {
      readonly kind: 'hold';
      readonly hold: Extract<Decision, { kind: 'hold' }>;
      readonly requeue?: Requeue;
    }
  | {
      readonly kind: 'scale';
      readonly scale: Scale;
      readonly isFollower: boolean;
      readonly requeue?: Requeue;
    };

/** When, and in the midst of what, a set is looked at. */
export interface Moment {
  readonly group: CoordinationSnapshot;
  readonly now: Instant;
}

/** The set has what it wants. */
export const settled: Wish = Object.freeze({ kind: 'settled' });

/** Nothing is done about `set`; `until` when time alone may end it. */
export function hold(set: StatefulSetView, why: Because<Reason>, until?: Instant): Wish {
  const base = { kind: 'hold', set: setRef(set), because: why } as const;
  return { kind: 'hold', hold: until === undefined ? base : { ...base, until } };
}

/** `set` goes to `to` replicas. What it costs is found out by `safely`. */
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
  const base = { kind: 'scale', set: setRef(set), from, to, takes: 0, because } as const;
  return {
    kind: 'scale',
    isFollower,
    scale: provenAt === undefined ? base : { ...base, provenAt },
  };
}
