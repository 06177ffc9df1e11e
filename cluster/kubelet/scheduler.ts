import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Lister } from '#kubernetes/informer/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { timestamp } from '../clock/timestamp.ts';
import { SeededRandom } from '../seeded-random.ts';
import { type NodeLoad, pickNode } from './schedule-pod.ts';
import type { KubeletPod, NodeView } from './views.ts';

/** What a {@link Scheduler} is made of. */
export interface SchedulerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly nodes: Lister<NodeView>;
  readonly seed: number;
  readonly log: Logger;
}

/** Binds pods to nodes (KU-2); counts its own bindings before the cache shows them. */
export class Scheduler implements NodeLoad {
  readonly #options: SchedulerOptions;
  readonly #random: SeededRandom;
  readonly #ranks = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  readonly #nodeByPod = new Map<string, string>();
  readonly #waiting = new Map<string, () => void>();
  readonly #reported = new Set<string>();

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#random = new SeededRandom(options.seed);
  }

  podsOn(node: string): number {
    return this.#counts.get(node) ?? 0;
  }

  rankOf(node: string): number {
    const known = this.#ranks.get(node);
    if (known !== undefined) return known;
    const rank = this.#random.derive(node).uint32();
    this.#ranks.set(node, rank);
    return rank;
  }

  /**
   * Binds `pod` to the best node.
   *
   * @param retry called once after nodes or load have changed, when no node fits now
   * @returns the node, or undefined when none fits: the pod's status then says so
   * @throws the binding's failure
   */
  async bind(pod: KubeletPod, retry: () => void): Promise<string | undefined> {
    const { client, nodes } = this.#options;
    const node = pickNode(pod, nodes.list(), this);
    if (node === undefined) {
      this.#waiting.set(pod.uid, retry);
      await this.#report(pod);
      return undefined;
    }
    this.#assign(pod.uid, node);
    const { namespace, name, uid } = pod;
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    };
    try {
      await client.create(
        resourceTypes.pods,
        { namespace, name },
        { body, subresource: 'binding' },
      );
    } catch (error) {
      this.release(pod);
      throw error;
    }
    this.#reported.delete(uid);
    return node;
  }

  /** Counts a pod that is on its node, no matter who bound it. */
  hold(pod: KubeletPod): void {
    if (this.#nodeByPod.get(pod.uid) === pod.nodeName) return;
    this.#unassign(pod.uid);
    this.#assign(pod.uid, pod.nodeName);
  }

  /** Frees the place of a pod that is gone. */
  release(pod: KubeletPod): void {
    this.#unassign(pod.uid);
    this.#waiting.delete(pod.uid);
    this.#reported.delete(pod.uid);
    this.wakeWaiting();
  }

  /** Lets pods that fitted nowhere try again: nodes have changed. */
  wakeWaiting(): void {
    if (this.#waiting.size === 0) return;
    const retries = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const retry of retries) retry();
  }

  #assign(uid: string, node: string): void {
    this.#nodeByPod.set(uid, node);
    this.#counts.set(node, this.podsOn(node) + 1);
  }

  #unassign(uid: string): void {
    const node = this.#nodeByPod.get(uid);
    if (node === undefined) return;
    this.#nodeByPod.delete(uid);
    this.#counts.set(node, this.podsOn(node) - 1);
  }

  async #report(pod: KubeletPod): Promise<void> {
    if (this.#reported.has(pod.uid)) return;
    this.#reported.add(pod.uid);
    const { client, clock, nodes } = this.#options;
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: `0/${nodes.size} nodes are available`,
      lastProbeTime: null,
      lastTransitionTime: timestamp(clock.now()),
    };
    const document = { metadata: { uid: pod.uid }, status: { conditions: [condition] } };
    const { namespace, name } = pod;
    const body = { kind: 'strategic', document } as const;
    await client.patch(resourceTypes.pods, { namespace, name }, { body, subresource: 'status' });
  }
}
