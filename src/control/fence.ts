import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { type Monotonic, monotonic, seconds } from '#base/units.ts';
import { isConflict, isForbidden, isNotFound } from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Freshness } from '#kubernetes/freshness.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { PodRef } from './decision.ts';

/** How long a request of a predecessor may still take effect, where it cannot be voided (D-8). */
const predecessorHorizon = seconds(120);

/**
 * The annotation by which a pod is touched. Its value names the process and counts its touches: a patch that changes
 * nothing moves no resourceVersion, and so would void nothing.
 */
export const FENCE_ANNOTATION = 'rollout-operator/fenced-by';

const maxConcurrent = 32;

/** How long 403 may pass: until its RBAC caches are filled, an API server that has just started forbids too much. */
const forbiddenPatience = seconds(10);
const always = monotonic(Number.NEGATIVE_INFINITY);

/** What fencing goes through. */
export interface FencePorts {
  readonly client: Client;
  readonly clock: Clock;
  /** Freshness of the pod cache. */
  readonly pods: Freshness;
  /** Names this process; new at every start. */
  readonly identity: string;
  /** Whether the Role permits to patch pods; where it is not known, it is found out (D-1). */
  readonly canTouchPods: boolean;
}

/** What became of one touch. */
export type Touch =
  | {
      readonly kind: 'touched';
      readonly pod: PodRef;
      readonly revision: string;
      /** Whether the pod was being deleted already. */
      readonly isTerminating: boolean;
    }
  /** The pod is gone, or another incarnation has its name. */
  | { readonly kind: 'moved'; readonly pod: PodRef };

/** How touching some pods ended. */
export interface TouchReport {
  /** One answer a pod that was asked for and got one, in no order. */
  readonly touches: readonly Touch[];
  /** Whether pods may not be patched. */
  readonly isForbidden: boolean;
  /** The first failure that is not an answer about the pod; the rest was not sent. */
  readonly error: Error | undefined;
}

/** Whether a StatefulSet may be disrupted with respect to an earlier process. */
export type FenceState =
  | { readonly kind: 'open' }
  /** Pods cannot be touched: until then nothing may be disrupted. */
  | { readonly kind: 'waiting'; readonly until: Monotonic };

/**
 * Voids what an earlier process may still have under way (D-8, reliability.md rule 2): a touch moves the pod's
 * resourceVersion, so that a late deletion decided on the old one can only get 409. Kept by the uid of the
 * StatefulSet, so that a set that moves to another group takes its fence along.
 */
export class Fence {
  readonly #ports: FencePorts;
  readonly #startedAt: Monotonic;
  /** Since when nothing of an earlier process can change a set, by its uid; grows only in the first 120 s. */
  readonly #open = new Map<string, Monotonic>();
  /** uids of pods that were touched, of sets that are not open yet: each is touched once. */
  readonly #touched = new Map<string, Set<string>>();
  #canTouch: boolean;
  /** Since when no touch was answered but with 403. */
  #forbiddenSince: Monotonic | undefined;
  #count = 0;

  constructor(ports: FencePorts) {
    this.#ports = ports;
    this.#startedAt = ports.clock.monotonic();
    this.#canTouch = ports.canTouchPods;
  }

  /**
   * Since when nothing of an earlier process can hit the pods of `set` any more: a disruption must rest on a view
   * proven by a request that was sent after that time. Undefined while something still can.
   */
  openSince(set: string): Monotonic | undefined {
    const since = this.#open.get(set);
    const horizon = this.#horizon;
    return since ?? (this.#ports.clock.monotonic() >= horizon ? horizon : undefined);
  }

  /** A view proven since the start showed nothing of `set` that an earlier process could have been deleting. */
  open(set: string): void {
    if (this.openSince(set) !== undefined) return;
    this.#open.set(set, always);
    this.#touched.delete(set);
  }

  /**
   * Fences `set`, whose outdated pods are `pods`: touches each once, or waits where that is not permitted.
   * @throws what a touch failed with, unless the pod is gone or was changed meanwhile
   */
  async close(set: string, pods: readonly PodRef[], signal: AbortSignal): Promise<FenceState> {
    if (this.openSince(set) !== undefined) return { kind: 'open' };
    const done = this.#touched.get(set) ?? new Set<string>();
    this.#touched.set(set, done);
    const report = await this.touch(
      pods.filter((pod) => !done.has(pod.uid)),
      signal,
    );
    for (const { pod } of report.touches) done.add(pod.uid);
    if (report.isForbidden) return { kind: 'waiting', until: this.#horizon };
    if (report.error !== undefined) throw report.error;
    this.#touched.delete(set);
    this.#open.set(set, this.#ports.clock.monotonic());
    return { kind: 'open' };
  }

  /** Touches `pods`, so that no deletion decided on their present state can take effect any more. */
  async touch(pods: readonly PodRef[], signal: AbortSignal): Promise<TouchReport> {
    const waiting = this.#canTouch ? [...pods] : [];
    const touches: Touch[] = [];
    let error: Error | undefined;
    const touchNext = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        try {
          const touch = await this.#touchOne(next, signal);
          if (touch !== undefined) touches.push(touch);
        } catch (failure) {
          error ??= errorOf(failure);
        }
        if (error !== undefined || !this.#canTouch) waiting.length = 0;
      }
    };
    const lanes = Math.min(maxConcurrent, waiting.length);
    await Promise.all(Array.from({ length: lanes }, touchNext));
    return { touches, isForbidden: !this.#canTouch, error };
  }

  /** Whether pods may be touched, as far as is known. */
  get canTouch(): boolean {
    return this.#canTouch;
  }

  /** Until when sets that are not open must not be disrupted; undefined where they can be touched instead. */
  get waitsUntil(): Monotonic | undefined {
    return this.#canTouch ? undefined : this.#horizon;
  }

  get #horizon(): Monotonic {
    return monotonic(this.#startedAt + predecessorHorizon);
  }

  /** @returns undefined when it is forbidden */
  async #touchOne(pod: PodRef, signal: AbortSignal): Promise<Touch | undefined> {
    const { client, clock, pods, identity } = this.#ports;
    const sentAt = clock.monotonic();
    this.#count += 1;
    const annotations = { [FENCE_ANNOTATION]: `${identity}/${this.#count}` };
    const document = { metadata: { uid: pod.uid, annotations } };
    try {
      const { metadata } = await client.patch(
        resourceTypes.pods,
        { namespace: pod.namespace, name: pod.name },
        { body: { kind: 'merge', document }, signal },
      );
      this.#forbiddenSince = undefined;
      const revision = metadata.resourceVersion;
      if (revision === pod.resourceVersion) {
        throw new Error(
          `Cannot void a deletion of Pod "${pod.namespace}/${pod.name}" as touching it left its resourceVersion at ${revision}`,
        );
      }
      pods.ownWrite({ sentAt, before: pod.resourceVersion, answered: revision });
      return {
        kind: 'touched',
        pod,
        revision,
        isTerminating: metadata.deletionTimestamp !== undefined,
      };
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return { kind: 'moved', pod };
      if (!isForbidden(error)) throw error;
      this.#forbiddenSince ??= sentAt;
      if (sentAt - this.#forbiddenSince < forbiddenPatience) throw error;
      this.#canTouch = false;
      return undefined;
    }
  }
}
