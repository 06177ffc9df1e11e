import type { Because } from '#base/because.ts';
import type { Millis } from '#base/units.ts';
import type { Decision, Plan } from '#control/decision/decision.ts';
import { type Hold, primaryHold } from '#control/decision/primary-hold.ts';
import { type Fact, operatorUser } from './facts.ts';

/** Where reported facts go, and how a set is called. */
export interface PlanNarratorOptions {
  readonly onFact: (fact: Fact) => void;
  readonly zoneOf: (set: string) => string;
  /** Whose waits are shown: one for the whole group, or one for each set. @default 'group' */
  readonly waitsOf?: 'group' | 'set';
}

/**
 * Joins what happened with why: a deletion by the operator has its reason from the plan that it came from, which is reported
 * before or after it happens; and a hold is shown when its reason changes.
 */
export class PlanNarrator {
  readonly #options: PlanNarratorOptions;
  /** Facts from the first deletion without a plan on: they stay in their order. */
  #untold: Fact[] = [];
  /** What plans do, by name of the pod or set; until it has happened. */
  readonly #actions = new Map<string, Because>();
  #reason: Because | undefined;
  /** What was last reported about a wait, by uid of the set; for the group under the empty text. */
  readonly #lastHolds = new Map<string, string>();

  constructor(options: PlanNarratorOptions) {
    this.#options = options;
  }

  /** Returns why the newest plan does what it does, or waits; undefined when there is nothing to do. */
  get reason(): Because | undefined {
    return this.#reason;
  }

  /** Reports whether something happened that waits for its plan. */
  get isBehind(): boolean {
    return this.#untold.length > 0;
  }

  /** Takes in a fact from the server's side. */
  happened(fact: Fact): void {
    if (this.#untold.length > 0) this.#untold.push(fact);
    else if (!isUnexplained(fact)) this.#options.onFact(fact);
    else if (this.#actions.has(subjectOf(fact))) this.#options.onFact(this.#explained(fact));
    else this.#untold.push(fact);
  }

  /** Takes in the plan of a pass that has ended. */
  planned({ decisions }: Plan, at: Millis): void {
    const actions = new Map<string, Because>();
    for (const decision of decisions) {
      if (decision.kind === 'delete-pod') actions.set(decision.pod.name, decision.because);
      if (decision.kind === 'scale') actions.set(decision.set.name, decision.because);
    }
    for (const [subject, why] of actions) this.#actions.set(subject, why);
    this.#explain();
    const hold = primaryHold(decisions);
    const [first] = actions.values();
    this.#reason = first ?? hold?.because;
    if (this.#options.waitsOf === 'set') return this.#tellEach(decisions, at);
    // What else is held while pods go is not new: the deletions say what is going on.
    if (actions.size > 0) return;
    if (hold === undefined) this.#lastHolds.clear();
    else this.#tellHold('', { hold, key: holdKey(hold) }, at);
  }

  /** Reports what has no plan yet; nothing more will come. */
  flush(): void {
    this.#explain();
  }

  #tellEach(decisions: readonly Decision[], at: Millis): void {
    const holds = new Map<string, Hold>();
    for (const decision of decisions) {
      if (decision.kind !== 'hold' || decision.because.reason === 'ZoneNotReady') continue;
      // The first one is about its replicas; why it could not be rolled comes after it.
      if (!holds.has(decision.set.uid)) holds.set(decision.set.uid, decision);
    }
    for (const uid of this.#lastHolds.keys()) if (!holds.has(uid)) this.#lastHolds.delete(uid);
    for (const [uid, hold] of holds) {
      // Another pod to wait for counts as a change; time that goes by does not.
      const key = `${hold.because.reason} ${/"[^"]*"/.exec(hold.because.message)?.[0] ?? ''}`;
      this.#tellHold(uid, { hold, key }, at);
    }
  }

  #tellHold(
    whose: string,
    { hold, key }: { readonly hold: Hold; readonly key: string },
    at: Millis,
  ): void {
    if (this.#lastHolds.get(whose) === key) return;
    this.#lastHolds.set(whose, key);
    const zone = this.#options.zoneOf(hold.set.name);
    this.#options.onFact({ at, zone, kind: 'waits', because: hold.because });
  }

  #explain(): void {
    for (const fact of this.#untold.splice(0)) {
      this.#options.onFact(isUnexplained(fact) ? this.#explained(fact) : fact);
    }
  }

  #explained(fact: Unexplained): Fact {
    const subject = subjectOf(fact);
    const why = this.#actions.get(subject);
    this.#actions.delete(subject);
    return { ...fact, because: why };
  }
}

/** Something that the operator did, whose plan has still to come. */
type Unexplained = Extract<Fact, { kind: 'deleted' | 'scaled' }>;

function isUnexplained(fact: Fact): fact is Unexplained {
  return (fact.kind === 'deleted' || fact.kind === 'scaled') && fact.by === operatorUser;
}

function subjectOf(fact: Unexplained): string {
  return fact.kind === 'deleted' ? fact.pod : fact.set;
}

/** Pods on their way, in the words of the operator. */
const underWay = /\((?:terminating|leaving|pending|not ready|does not exist)/;

/** Returns what has to change about a hold to make it news: the pods that it is about, its reason, or that only broken pods are left. */
function holdKey({ set, because }: Hold): string {
  const isStuck = /BackOff|Err/.test(because.message) && !underWay.test(because.message);
  return `${set.uid} ${because.reason} ${isStuck ? 'stuck' : ''}`;
}
