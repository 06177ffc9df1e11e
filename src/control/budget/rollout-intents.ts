import type { Begun } from '#disruption/decision/decide.ts';
import type { DisruptionsUnderWay } from './group-budgets.ts';

/** Which pods this process wants away, and which it has under way, by the capabilities that say so: what its ledgers keep. */
export class RolloutIntents {
  /** Pods that the last plan of each resource wants away, by capability and key; by uid. */
  readonly #wanted = new Map<string, ReadonlySet<string>>();
  /** Keyed by capability. */
  readonly #underWay = new Map<string, DisruptionsUnderWay>();

  /** Notes that the plan of the resource `key` of `capability` wants these pods away now, and no other. */
  wants(capability: string, key: string, uids: ReadonlySet<string>): void {
    const name = `${capability} ${key}`;
    if (uids.size === 0) this.#wanted.delete(name);
    else this.#wanted.set(name, uids);
  }

  /** Says who says what `capability` has under way, from now on. */
  follow(capability: string, underWay: DisruptionsUnderWay): void {
    this.#underWay.set(capability, underWay);
  }

  /** Forgets all that was wanted. */
  clear(): void {
    this.#wanted.clear();
    this.#underWay.clear();
  }

  /** Returns whether the pod `uid` is wanted away, or its deletion may have left. */
  isIntended(uid: string): boolean {
    return (
      [...this.#wanted.values()].some((uids) => uids.has(uid)) ||
      [...this.#underWay.values()].some((each) => each.isUnderWay(uid))
    );
  }

  /** Returns all that is under way in `term`, each pod once: capabilities share what they have deleted. */
  begun(term: string): readonly Begun[] {
    const begun = new Map(
      [...this.#underWay.values()]
        .flatMap((each) => each.begun())
        .map((each) => [each.pod.uid, each]),
    );
    return [...begun.values()].map(({ pod, by }) => ({ pod, asking: { by, term } }));
  }
}
