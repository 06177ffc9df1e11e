import type { Clock } from '#base/clock.ts';
import { type Monotonic, monotonic, seconds } from '#base/units.ts';
import type { TargetSet } from '../snapshot.ts';

/** A gate that was lifted as a user wanted it so. */
interface LiftedGate {
  /** The partition before. */
  readonly from: number;
  /** The version of the set that the request names: once the set has another, it cannot take effect any more. */
  readonly revision: string;
  readonly at: Monotonic;
}

/** How long a request may arrive after it was sent (D-50). */
const horizon = seconds(120);

/**
 * Gates that a user had lifted, by a suspension or a release, until that shows: a request that arrives late must not lift the gate of a
 * rollout for which the user has taken it back meanwhile.
 */
export class LiftedGates {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Keyed by the uid of the set. */
  readonly #lifted = new Map<string, LiftedGate>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Notes that a request leaves now that lifts the gate of the set `uid`, whose partition is `from` at `revision`. */
  sent(uid: string, { from, revision }: Pick<LiftedGate, 'from' | 'revision'>): void {
    this.#lifted.delete(uid);
    this.#lifted.set(uid, { from, revision, at: this.#clock.monotonic() });
    this.#forgetOld();
  }

  /**
   * Notes that a request of an earlier process, which is unknown, may still lift the gate of `set`.
   *
   * @param followed the partition of the step that was stored last of the update under way; undefined where none was. Where
   * the gate is lifted and this says otherwise, such a request has arrived before it could be seen.
   * @param until when none can arrive any more
   */
  awaited(
    { set }: Pick<TargetSet, 'set'>,
    { followed, until }: { readonly followed: number | undefined; readonly until: Monotonic },
  ): void {
    const { uid, resourceVersion: revision, spec } = set;
    const known = this.#lifted.get(uid);
    const isLifted = spec.partition === 0;
    const from = isLifted ? (followed ?? 0) : spec.partition;
    // From 1 a check that passed may have lowered it, too.
    if (from <= 1 || (isLifted ? known !== undefined : known?.revision === revision)) return;
    this.#lifted.delete(uid);
    this.#lifted.set(uid, { from, revision, at: monotonic(until - horizon) });
  }

  /**
   * Returns the partition that a set had before a request of ours lifted its gate, which is not wanted any more; undefined
   * where none did.
   *
   * @param isWanted whether the gate is to be lifted as things are now
   */
  takenBack({ set }: Pick<TargetSet, 'set'>, isWanted: boolean): number | undefined {
    this.#forgetOld();
    const gate = this.#lifted.get(set.uid);
    if (gate === undefined) return undefined;
    const isLifted = set.spec.partition === 0;
    const isOver = isLifted ? isWanted : set.resourceVersion !== gate.revision;
    if (isOver) this.#lifted.delete(set.uid);
    return isLifted && !isWanted ? gate.from : undefined;
  }

  #forgetOld(): void {
    const now = this.#clock.monotonic();
    for (const [uid, { at }] of this.#lifted) {
      if (now - at >= horizon) this.#lifted.delete(uid);
    }
  }
}
