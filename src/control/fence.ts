import type { Clock } from '#base/clock.ts';
import { type Monotonic, monotonic, seconds } from '#base/units.ts';
import { isConflict, isForbidden, isNotFound } from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Freshness } from '#kubernetes/freshness.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { PodRef } from './decision.ts';

/** How long a request of a predecessor may still take effect, where it cannot be voided (D-8). */
export const predecessorHorizon = seconds(120);

/**
 * The annotation by which a pod is touched; its value names the process that did, and the revision that it knew: a
 * second touch with the same value would change nothing, and void nothing.
 */
export const FENCE_ANNOTATION = 'rollout-operator/fenced-by';

const maxConcurrent = 32;

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

/** Whether a key may be disrupted with respect to an earlier process. */
export type FenceState =
  | { readonly kind: 'open' }
  /** Pods were touched; the cache does not show it yet. */
  | { readonly kind: 'touched'; readonly revisions: readonly string[] }
  /** Pods cannot be touched: until then nothing may be disrupted. */
  | { readonly kind: 'waiting'; readonly until: Monotonic };

/**
 * Voids what an earlier process may still have under way (D-8, reliability.md rule 2): a touch moves the pod's
 * resourceVersion, so that a late deletion decided on the old one can only get 409.
 */
export class Fence {
  readonly #ports: FencePorts;
  readonly #startedAt: Monotonic;
  readonly #open = new Set<string>();
  #canTouch: boolean;

  constructor(ports: FencePorts) {
    this.#ports = ports;
    this.#startedAt = ports.clock.monotonic();
    this.#canTouch = ports.canTouchPods;
  }

  /** Whether nothing of an earlier process can hit `key` any more. */
  isOpen(key: string): boolean {
    return this.#open.has(key);
  }

  /** A proven view of `key` showed nothing that an earlier process could have been deleting. */
  open(key: string): void {
    this.#open.add(key);
  }

  /** `key` is gone; if it comes back, it is looked at anew. */
  forget(key: string): void {
    this.#open.delete(key);
  }

  /**
   * Fences `key`, whose outdated pods are `pods`: touches each once, or waits where that is not permitted.
   * @throws what a touch failed with, unless the pod is gone or was changed meanwhile
   */
  async close(key: string, pods: readonly PodRef[], signal: AbortSignal): Promise<FenceState> {
    if (this.#open.has(key)) return { kind: 'open' };
    const until = monotonic(this.#startedAt + predecessorHorizon);
    if (this.#ports.clock.monotonic() >= until) {
      this.#open.add(key);
      return { kind: 'open' };
    }
    const touches = await this.touch(pods, signal);
    if (touches === 'forbidden') return { kind: 'waiting', until };
    this.#open.add(key);
    const revisions = touches.flatMap((touch) =>
      touch.kind === 'touched' ? [touch.revision] : [],
    );
    return revisions.length === 0 ? { kind: 'open' } : { kind: 'touched', revisions };
  }

  /**
   * Touches `pods`, so that no deletion decided on their present state can take effect any more.
   * @returns one answer a pod, in no order; `forbidden` where pods may not be patched, asked once only (D-1)
   */
  async touch(
    pods: readonly PodRef[],
    signal: AbortSignal,
  ): Promise<readonly Touch[] | 'forbidden'> {
    if (!this.#canTouch) return 'forbidden';
    const waiting = [...pods];
    const touches: Touch[] = [];
    const touchNext = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const touch = await this.#touchOne(next, signal);
        if (touch !== undefined) touches.push(touch);
        else waiting.length = 0;
      }
    };
    const lanes = Math.min(maxConcurrent, waiting.length);
    await Promise.all(Array.from({ length: lanes }, touchNext));
    return this.#canTouch ? touches : 'forbidden';
  }

  /** @returns undefined when it is forbidden */
  async #touchOne(pod: PodRef, signal: AbortSignal): Promise<Touch | undefined> {
    const { client, clock, pods, identity } = this.#ports;
    const sentAt = clock.monotonic();
    const document = {
      metadata: {
        uid: pod.uid,
        annotations: { [FENCE_ANNOTATION]: `${identity}/${pod.resourceVersion}` },
      },
    };
    try {
      const { metadata } = await client.patch(
        resourceTypes.pods,
        { namespace: pod.namespace, name: pod.name },
        { body: { kind: 'merge', document }, signal },
      );
      const revision = metadata.resourceVersion;
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
      this.#canTouch = false;
      return undefined;
    }
  }
}
