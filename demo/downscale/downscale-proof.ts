import { type Instant, type Millis, millis } from '#base/units.ts';
import type { PodCall } from '../cluster/answering-pods.ts';

/** A set that lost its pods from `to` up to, but without, `from` at one commit. */
export interface Shrinking {
  readonly set: string;
  readonly zone: string;
  readonly from: number;
  readonly to: number;
  readonly at: Instant;
  /** When it says that it did, to those that have to wait. */
  readonly notedAt: Instant;
}

/** One pod that went. */
export interface Departure {
  readonly pod: string;
  /** From the call that prepared it to the commit that took it; undefined when it was not prepared. */
  readonly waited: Millis | undefined;
}

/** What the demo promises of a delayed down-scale, from what the server stored and what the pods were asked. */
export class DownscaleProof {
  readonly #departures: Departure[] = [];
  readonly #shrinkings: Shrinking[] = [];
  readonly #asked = new Map<string, number>();
  readonly #refusals = new Map<string, number>();
  readonly #slowest = new Map<string, Millis>();
  readonly #preparedAt: (pod: string) => Instant | undefined;

  /** @param preparedAt when a pod was prepared, to the pod's own knowledge */
  constructor(preparedAt: (pod: string) => Instant | undefined) {
    this.#preparedAt = preparedAt;
  }

  /** Notes that a pod has answered. */
  called({ pod, method, took, status }: PodCall): void {
    if (method !== 'POST') return;
    this.#asked.set(pod, (this.#asked.get(pod) ?? 0) + 1);
    if (status !== 200) this.#refusals.set(pod, (this.#refusals.get(pod) ?? 0) + 1);
    this.#slowest.set(pod, millis(Math.max(took, this.#slowest.get(pod) ?? 0)));
  }

  /** Notes that a set has shrunk. */
  shrunk(shrinking: Shrinking): void {
    const { set, from, to, at } = shrinking;
    this.#shrinkings.push(shrinking);
    for (let ordinal = to; ordinal < from; ordinal += 1) {
      const pod = `${set}-${ordinal}`;
      const since = this.#preparedAt(pod);
      const waited = since === undefined ? undefined : millis(at - since);
      this.#departures.push({ pod, waited });
    }
  }

  /** Returns the pods that went, in order. */
  get departures(): readonly Departure[] {
    return this.#departures;
  }

  /** Returns how often each pod was asked to prepare. */
  get asked(): ReadonlyMap<string, number> {
    return this.#asked;
  }

  /** Returns how often each pod said that it cannot yet; pods that never did are left out. */
  get refusals(): ReadonlyMap<string, number> {
    return this.#refusals;
  }

  /** Returns the pod that took longest to answer. */
  get slowest(): { readonly pod: string; readonly took: Millis } | undefined {
    const [first] = [...this.#slowest].toSorted(([, a], [, b]) => b - a);
    return first === undefined ? undefined : { pod: first[0], took: first[1] };
  }

  /** Names of zones that shrank, in the order of their first time. */
  get zones(): readonly string[] {
    return [...new Set(this.#shrinkings.map(({ zone }) => zone))];
  }

  /** Returns the shortest time from when a zone noted that it shrank to when another one did; undefined without two. */
  get closest(): Millis | undefined {
    let closest: Millis | undefined;
    let before: Shrinking | undefined;
    for (const shrinking of this.#shrinkings) {
      if (before !== undefined && before.zone !== shrinking.zone) {
        closest = millis(
          Math.min(shrinking.at - before.notedAt, closest ?? Number.POSITIVE_INFINITY),
        );
      }
      before = shrinking;
    }
    return closest;
  }

  /** Starts again, for a further run. */
  reset(): void {
    this.#departures.length = 0;
    this.#shrinkings.length = 0;
    this.#asked.clear();
    this.#refusals.clear();
    this.#slowest.clear();
  }
}
