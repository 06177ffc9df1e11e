import type { Because } from '#base/because.ts';
import type { Basis } from '../consistent-read/basis.ts';
import type { Plan, Scale, SetRef } from '../decision/decision.ts';
import type { Reason } from '../decision/reasons.ts';
import type { SetSnapshot } from '../watch/group-sets.ts';
import type { GroupMoment } from './group-moment.ts';

/** Something that has to be read or settled before a plan may be acted on. */
export interface Need {
  /** What is waited for, as a clause such as `the replicas of CustomResource "x"`; reported to users when it takes long. */
  readonly what: string;
  /** Sees to it. */
  readonly fulfil: (signal: AbortSignal) => Promise<void>;
  /** Why the group is held when this is still missing after it was seen to a few times; absent: that cannot be. */
  readonly unmet?: Because<Reason>;
}

/** What a capability is given to carry out its part of a plan. */
export interface Carrying {
  readonly key: string;
  /** The group as the plan knew it. */
  readonly sets: readonly SetSnapshot[];
  /**
   * To be called exactly when `scale` would leave: plans the group again (D-49).
   * @returns what the new plan, which still contains it, rests on; undefined where it takes nothing away
   * @throws OverruledError when the plan does not contain it any more, StaleBasisError when its view is not fresh
   */
  readonly approve: (scale: Scale) => Basis | undefined;
  /** Tells people, as an Event about `set`, one thing that was done. */
  readonly tell: (set: SetRef, why: Because<Reason>) => void;
}

/** What came of a write; `held`: the world keeps moving under it, which is reported. */
export type Wrote = 'written' | 'outrun' | { readonly held: Because<Reason> };

/** What works on groups of StatefulSets. Capabilities share keys, and know nothing of each other (D-18). */
export interface GroupCapability {
  /** Names it to people, such as `rollout`. */
  readonly name: string;
  /** What it has to read at the begin of each pass; undefined when nothing. */
  prepare?(moment: GroupMoment): Need | undefined;
  /**
   * Returns what it does about the group at this instant. Synchronous, and without effect: it is asked at the begin of a
   * pass, and again exactly when each disruptive request leaves (D-49).
   */
  plan(moment: GroupMoment): Plan;
  /** What must be known before `plan`, which it made of `moment`, may be acted on; undefined when nothing is missing. */
  needs?(moment: GroupMoment, plan: Plan): Need | undefined;
  /** Whether those that come after it must not act on `moment`, which led to `plan` (D-18). */
  endsPass?(moment: GroupMoment, plan: Plan): boolean;
  /**
   * Writes what has to be answered before anything else of the group is done; undefined when `plan` has nothing of the
   * kind. After `written` the group is planned again; after `outrun` later, as the world had moved.
   * @throws what a request fails with
   */
  write?(plan: Plan, carrying: Carrying, signal: AbortSignal): Promise<Wrote> | undefined;
  /** Carries out the rest, of which nothing else depends. It reports its own failures. */
  finish?(plan: Plan, carrying: Carrying, signal: AbortSignal): Promise<void> | undefined;
  /** The group is gone. */
  forget?(key: string): void;
}
