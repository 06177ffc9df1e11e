import type { JsonObject } from '#base/json.ts';
import type { Millis } from '#base/units.ts';
import { selects } from '../controllers/label-selector.ts';
import type { KubeletPod } from './views.ts';

/** Which pods behave so: those that meet every member that is present. */
export interface PodMatch {
  readonly namespace?: string;
  /** Name with `*` for any text, such as `ingester-zone-a-*`. */
  readonly name?: string;
  /** A LabelSelector, such as `{ matchLabels: { app: 'db' } }`. */
  readonly selector?: JsonObject;
  readonly node?: string;
  /** The pod's `controller-revision-hash` label. */
  readonly revision?: string;
  /** Image of any container, with `*` for any text, such as `*:broken`. */
  readonly image?: string;
}

/** How pods depart from a smooth start (KU-5). */
export type Behaviour =
  /** Runs, never Ready; a Ready pod loses it. */
  | { readonly behave: 'neverReady' }
  /** Ready `by` later than otherwise. */
  | { readonly behave: 'slow'; readonly by: Millis }
  /** Its start-up probe takes `by`: runs, but has not started, and is not Ready; as a store that replays its log. */
  | { readonly behave: 'slowStart'; readonly by: Millis }
  /** Each run ends after `runsFor` (default 1 s); the backoff is 10 s and doubles up to 5 min. */
  | { readonly behave: 'crashLoop'; readonly runsFor?: Millis }
  /** Stays Pending; containers wait with `ImagePullBackOff`. */
  | { readonly behave: 'imagePullBackOff' }
  /** Phase Failed `after` from the start of its containers. */
  | { readonly behave: 'failAfter'; readonly after: Millis }
  /** Ready and not Ready by turns, each for `period`. */
  | { readonly behave: 'flapReady'; readonly period: Millis }
  /** A deleted pod stays, terminating. */
  | { readonly behave: 'stuckTerminating' }
  /** Becomes Ready once, dies 1 s later, and then loops as `crashLoop`. */
  | { readonly behave: 'startThenDie' }
  /** Becomes Ready again and again, but restarts after `readyFor` (default 1 s): never available with minReadySeconds. */
  | { readonly behave: 'readyButUnavailable'; readonly readyFor?: Millis };

/** A behaviour and the pods that have it. */
export type BehaviourRule = Behaviour & { readonly match: PodMatch };

/** A rule in force. */
export interface ActiveRule {
  /** Removes it: pods that it held back go on from where they are. */
  remove(): void;
}

/** Returns a pattern with `*` for any text, as a test of a whole text. */
function glob(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}

type PodTest = (pod: KubeletPod) => boolean;

function compile(match: PodMatch): PodTest {
  const tests: PodTest[] = [];
  const { namespace, name, selector, node, revision, image } = match;
  if (namespace !== undefined) tests.push((pod) => pod.namespace === namespace);
  if (node !== undefined) tests.push((pod) => pod.nodeName === node);
  if (selector !== undefined) tests.push((pod) => selects(selector, pod.labels));
  if (revision !== undefined) {
    tests.push((pod) => pod.labels['controller-revision-hash'] === revision);
  }
  if (name !== undefined) {
    const pattern = glob(name);
    tests.push((pod) => pattern.test(pod.name));
  }
  if (image !== undefined) {
    const pattern = glob(image);
    tests.push((pod) => pod.containers.some((container) => pattern.test(container.image)));
  }
  return (pod) => tests.every((test) => test(pod));
}

/** The behaviours in force; changed at run time, at once effective for pods that exist (KU-5). */
export class Behaviours {
  readonly #rules: { readonly rule: BehaviourRule; readonly test: PodTest }[] = [];
  readonly #changed: () => void;

  /** @param changed called after each change */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Puts a rule in force. Of several that match a pod, the one added last wins. */
  add(rule: BehaviourRule): ActiveRule {
    const entry = { rule, test: compile(rule.match) };
    this.#rules.push(entry);
    this.#changed();
    return {
      remove: () => {
        const index = this.#rules.indexOf(entry);
        if (index < 0) return;
        this.#rules.splice(index, 1);
        this.#changed();
      },
    };
  }

  /** Takes all rules out of force. */
  clear(): void {
    this.#rules.length = 0;
    this.#changed();
  }

  /** Returns the behaviour of `pod`; undefined for a smooth one. */
  of(pod: KubeletPod): Behaviour | undefined {
    return this.#rules.findLast(({ test }) => test(pod))?.rule;
  }
}
