import { millis } from '#base/units.ts';
import { podFacts, type SetFacts, setFacts } from '../history/facts.ts';
import type { Group } from '../objects/objects.ts';
import { Story } from './story.ts';
import { operatorUser, type RemovalOptions } from './story-operator.ts';

/** One way in which the driver's operator goes wrong, once. */
export type Mistake =
  | 'removes in a second zone'
  | 'removes what is not ready just now'
  | 'removes one too many'
  | 'forgets the uid'
  | 'forgets the resourceVersion'
  | 'removes an up-to-date pod'
  | 'names another uid'
  | 'says nothing'
  | 'claims what it was not given';

interface Slot {
  readonly set: SetFacts;
  readonly ordinal: number;
  readonly pod: string;
  readonly state: 'missing' | 'terminating' | 'unready' | 'available';
  readonly isOutdated: boolean;
}

/**
 * A rollout of one group by a simple correct operator: it removes an outdated pod when every other zone is whole and
 * the limit of its zone has room, an unready one before the others. Pods stop being ready now and then, none is stuck.
 * `choices` decide who acts next, on what, and how long that takes. With a `mistake` the operator makes it as soon as
 * the situation allows; `hasErred` says whether it did.
 */
export class RolloutDriver {
  readonly story: Story;
  hasErred = false;
  readonly #sets: readonly SetFacts[];
  readonly #mistake: Mistake | undefined;

  constructor(group: Group, mistake?: Mistake) {
    this.story = new Story(group);
    this.#sets = group.sets.map(setFacts);
    this.#mistake = mistake;
  }

  /** Lets one actor act. @param choice any non-negative integer */
  step(choice: number): void {
    this.story.wait(millis(choice % 997));
    const slots = this.#slots();
    if (this.#mistake !== undefined && !this.hasErred && this.#err(slots)) return;
    if (choice % 13 === 0) {
      this.#crash(slots[choice % slots.length]);
      return;
    }
    const broken = slots.filter((slot) => slot.state !== 'available');
    const candidate = candidates(slots)[0];
    const isEnvironment = candidate === undefined || (choice % 2 === 0 && broken.length > 0);
    if (!isEnvironment) this.story.remove(candidate.pod);
    else this.#environment(broken[choice % Math.max(1, broken.length)]);
  }

  /** Reports whether all pods are up to date and available. */
  get isComplete(): boolean {
    return this.#slots().every((slot) => slot.state === 'available' && !slot.isOutdated);
  }

  #slots(): readonly Slot[] {
    return this.#sets.flatMap((set) =>
      Array.from({ length: set.replicas }, (_, ordinal) => this.#slot(set, ordinal)),
    );
  }

  #slot(set: SetFacts, ordinal: number): Slot {
    const name = `${set.name}-${ordinal}`;
    const object = this.story.findPod(name);
    if (object === undefined) {
      return { set, ordinal, pod: name, state: 'missing', isOutdated: false };
    }
    const pod = podFacts(object);
    const isReady = pod.readySince !== undefined;
    const state = pod.isTerminating ? 'terminating' : isReady ? 'available' : 'unready';
    return { set, ordinal, pod: name, state, isOutdated: pod.revision !== set.target };
  }

  #environment(slot: Slot | undefined): void {
    if (slot?.state === 'missing') this.story.create(slot.pod, { revision: slot.set.target ?? '' });
    else if (slot?.state === 'terminating') this.story.gone(slot.pod);
    else if (slot?.state === 'unready') this.story.ready(slot.pod);
  }

  #crash(slot: Slot | undefined): void {
    if (slot?.state === 'available') this.story.ready(slot.pod, false);
  }

  #err(slots: readonly Slot[]): boolean {
    const wrong = this.#wrongRemoval(slots);
    if (wrong === undefined) return false;
    this.story.remove(wrong.pod, { user: operatorUser, ...wrong.options });
    this.hasErred = true;
    return true;
  }

  #wrongRemoval(
    slots: readonly Slot[],
  ): { readonly pod: string; readonly options?: RemovalOptions } | undefined {
    const right = candidates(slots)[0]?.pod;
    const whole = slots.filter((slot) => slot.state === 'available');
    switch (this.#mistake) {
      case 'removes in a second zone':
        return whole.find((slot) => slot.isOutdated && countBroken(slots, slot).elsewhere > 0);
      case 'removes what is not ready just now':
        return slots.find(
          (slot) =>
            slot.state === 'unready' && slot.isOutdated && countBroken(slots, slot).elsewhere > 0,
        );
      case 'removes one too many':
        return whole.find((slot) => slot.isOutdated && isZoneFull(slots, slot));
      case 'removes an up-to-date pod':
        return whole.find((slot) => !slot.isOutdated && isAllowed(slots, slot));
      default:
        return right === undefined ? undefined : { pod: right, options: this.#wrongOptions() };
    }
  }

  #wrongOptions(): RemovalOptions {
    switch (this.#mistake) {
      case 'forgets the uid':
        return { uid: undefined };
      case 'forgets the resourceVersion':
        return { resourceVersion: undefined };
      case 'names another uid':
        return { uid: 'another' };
      case 'says nothing':
        return { isSilent: true };
      case 'claims what it was not given':
        return { seen: this.story.revision + 1 };
      default:
        return {};
    }
  }
}

/** Returns what may go, unready pods first: they are among the unavailable ones already. */
function candidates(slots: readonly Slot[]): readonly Slot[] {
  const unready = slots.filter((slot) => slot.isOutdated && isReplaceable(slots, slot));
  return [...unready, ...slots.filter((slot) => slot.isOutdated && isAllowed(slots, slot))];
}

function isReplaceable(slots: readonly Slot[], slot: Slot): boolean {
  const { here, elsewhere } = countBroken(slots, slot);
  return slot.state === 'unready' && elsewhere === 0 && here <= slot.set.limit;
}

function isAllowed(slots: readonly Slot[], slot: Slot): boolean {
  return (
    slot.state === 'available' &&
    countBroken(slots, slot).elsewhere === 0 &&
    !isZoneFull(slots, slot)
  );
}

function isZoneFull(slots: readonly Slot[], slot: Slot): boolean {
  return countBroken(slots, slot).here >= slot.set.limit;
}

function countBroken(slots: readonly Slot[], slot: Slot): { here: number; elsewhere: number } {
  const broken = slots.filter((other) => other.state !== 'available');
  const here = broken.filter((other) => other.set.uid === slot.set.uid).length;
  return { here, elsewhere: broken.length - here };
}
