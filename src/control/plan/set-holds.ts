import type { Because } from '#base/because.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after, type Instant, instant, type Monotonic, millis, seconds } from '#base/units.ts';
import type { Permission } from '#disruption/decision/permission.ts';
import type { OtherOwners } from '../watch/owners-of-sets.ts';
import type { Refusals } from '../write/refusals.ts';
import type { AwaitingView, PredecessorWait } from './predecessor-wait.ts';

/** All that {@link SetHeldReason} can be. */
export const setHeldReasons = [
  'AwaitingPredecessor',
  'AwaitingAnswer',
  'ViewNotFresh',
  'BudgetRefused',
  'BudgetUnclear',
  'RequestRefused',
] as const;

/** Who forbids the disruption of a set that one resource rolls out. */
export type SetHeldReason = (typeof setHeldReasons)[number];

/** What is wrong with a resource, or with the set that it names, so that nothing is begun. */
export type UnfitReason =
  | 'InvalidSpec'
  | 'SetNotFound'
  | 'SetTooLarge'
  | 'ConflictingOwners'
  | 'OwnedByAnother'
  | 'WrongUpdateStrategy'
  | 'RevisionMissing'
  | 'RevisionUnusable'
  | 'RevisionUnknown';

/** Why nothing may be disrupted now. */
export interface SetHold {
  /** When time alone ends it; undefined: a change does. */
  readonly until?: Instant;
  readonly because: Because<SetHeldReason>;
}

/** An instant, on both clocks, in which the resource `key` is looked at. */
export interface LookedAt {
  readonly key: string;
  readonly now: Instant;
  readonly monotonic: Monotonic;
}

/** A resource as an instant shows it, and the set that it names. */
export type LookedAtSet = LookedAt & AwaitingView;

/** Returns the names of the sets that a resource is about which names `setName`, or none. */
export function namesOf(setName: string | undefined): readonly string[] {
  return setName === undefined ? [] : [setName];
}

/** What {@link holdsOn} asks. */
export interface HoldPorts {
  readonly predecessor: PredecessorWait;
  readonly refusals: Refusals;
  /** What names sets besides resources of this kind. */
  readonly owners: OtherOwners;
}

/**
 * Returns all that forbids any disruption for the resource `at.key`, the first to be reported.
 *
 * @param isInMotion whether it was in the middle of a rollout, as it stands
 */
export function holdsOn(
  at: LookedAtSet,
  { predecessor, refusals, owners }: HoldPorts,
  isInMotion: () => boolean,
): readonly SetHold[] {
  predecessor.note(at.key, isInMotion);
  return [predecessorHold(at, predecessor), ownersHold(owners), refusalHold(at, refusals)].filter(
    (hold) => hold !== undefined,
  );
}

/** Returns the hold while an earlier process may have a request under way that arrives late (D-50). */
function predecessorHold(view: LookedAtSet, predecessor: PredecessorWait): SetHold | undefined {
  const over = predecessor.until(view);
  if (over === undefined) return undefined;
  const until = after(view.now, millis(over - view.monotonic));
  const message =
    'nothing is disrupted yet, as a request that an earlier process sent may still arrive: ' +
    `waiting until ${formatUtcSeconds(until)}`;
  return { until, because: { reason: 'AwaitingPredecessor', message } };
}

/** Returns the hold while it is being read what else may name a set (D-63). */
function ownersHold(owners: OtherOwners): SetHold | undefined {
  const message = owners.unknown();
  return message === undefined ? undefined : { because: { reason: 'ViewNotFresh', message } };
}

/** Returns the hold after a disruption that failed just now: it is not repeated on every change of the world. */
function refusalHold(
  { key, now, monotonic: at }: LookedAt,
  refusals: Refusals,
): SetHold | undefined {
  const refusal = refusals.of(key, at);
  if (refusal === undefined) return undefined;
  const until = after(now, millis(refusal.until - at));
  const { reason, message } = refusal.because;
  const held = reason === 'ViewNotFresh' ? reason : 'RequestRefused';
  return { until, because: { reason: held, message } };
}

/** What is refused may be allowed by something that is not seen here, such as a permission that a user did not use. */
const lookAgainAfter = seconds(10);

/** Returns why a budget keeps a pod that `permission` is about; undefined where it does not. */
export function budgetHold(permission: Permission | undefined, now: Instant): SetHold | undefined {
  if (permission?.kind !== 'refused' && permission?.kind !== 'unclear') return undefined;
  const reason = permission.kind === 'refused' ? 'BudgetRefused' : 'BudgetUnclear';
  const until = Math.min(permission.until ?? Infinity, after(now, lookAgainAfter));
  const { message } = permission;
  return { until: instant(until), because: { reason, message } };
}
