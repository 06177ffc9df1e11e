import type { Because } from '#base/because.ts';
import type { Millis } from '#base/units.ts';
import type { Plan } from '#control/decision.ts';
import { type Hold, primaryHold } from '#control/primary-hold.ts';
import { type Fact, operatorUser } from './facts.ts';

/** Where told facts go, and how a set is called. */
export interface PlanNarratorOptions {
  readonly onFact: (fact: Fact) => void;
  readonly zoneOf: (set: string) => string;
}

/**
 * Joins what happened with why: a deletion by the operator waits for the plan that it came from, and a hold is told
 * when its reason changes.
 */
export class PlanNarrator {
  readonly #options: PlanNarratorOptions;
  /** Facts from the first deletion without a plan on: they stay in their order. */
  #untold: Fact[] = [];
  #reason: Because | undefined;
  #lastHold = '';

  constructor(options: PlanNarratorOptions) {
    this.#options = options;
  }

  /** Why the newest plan does what it does, or waits; undefined when there is nothing to do. */
  get reason(): Because | undefined {
    return this.#reason;
  }

  /** Takes in a fact from the server's side. */
  happened(fact: Fact): void {
    const isUnexplained = fact.kind === 'deleted' && fact.by === operatorUser;
    if (isUnexplained || this.#untold.length > 0) this.#untold.push(fact);
    else this.#options.onFact(fact);
  }

  /** Takes in the plan of a pass that has ended. */
  planned({ decisions }: Plan, at: Millis): void {
    const deletions = decisions.filter((decision) => decision.kind === 'delete-pod');
    const becauseOf = new Map(deletions.map(({ pod, because }) => [pod.name, because]));
    this.#explain(becauseOf);
    const hold = primaryHold(decisions);
    this.#reason = deletions[0]?.because ?? hold?.because;
    // What else is held while pods go is no news: the deletions say what is going on.
    if (deletions.length > 0) return;
    const key = hold === undefined ? '' : holdKey(hold);
    if (hold !== undefined && key !== this.#lastHold) {
      const zone = this.#options.zoneOf(hold.set.name);
      this.#options.onFact({ at, zone, kind: 'waits', because: hold.because });
    }
    this.#lastHold = key;
  }

  /** Tells what has no plan yet; nothing more will come. */
  flush(): void {
    this.#explain(new Map());
  }

  #explain(becauseOf: ReadonlyMap<string, Because>): void {
    for (const fact of this.#untold.splice(0)) {
      const isDeletion = fact.kind === 'deleted' && fact.by === operatorUser;
      this.#options.onFact(isDeletion ? { ...fact, because: becauseOf.get(fact.pod) } : fact);
    }
  }
}

/** Pods on their way, in the words of the operator. */
const underWay = /\((?:terminating|pending|not ready|does not exist)/;

/** What has to change about a hold to make it news: whom it is about, its reason, or that only broken pods are left. */
function holdKey({ set, because }: Hold): string {
  const isStuck = /BackOff|Err/.test(because.message) && !underWay.test(because.message);
  return `${set.uid} ${because.reason} ${isStuck ? 'stuck' : ''}`;
}
