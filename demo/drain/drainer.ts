import type { Clock } from '#base/clock.ts';
import type { Millis } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError, isNotFound } from '#kubernetes/transport/api-error.ts';
import { demoNamespace } from '../cluster/demo-namespace.ts';
import { denialText } from '../cluster/kubectl-text.ts';

const { kind } = resourceTypes.zoneAwarePodDisruptionBudgets;

/** What a {@link Drainer} is given. */
export interface DrainerOptions {
  readonly name: string;
  /** Which it empties. */
  readonly node: string;
  readonly client: Client;
  readonly clock: Clock;
  /** Until it asks again for a pod that it was denied; kubectl waits 5 s. */
  readonly pause: Millis;
  /** Called with what it reads, when that is new. */
  readonly onNote: (text: string) => void;
}

/** What became of the evictions that a drainer asked for. */
export interface DrainRecord {
  readonly name: string;
  readonly node: string;
  /** Pods that it was permitted to evict. */
  readonly evicted: number;
  /** How often it was answered with 429. */
  readonly denied: number;
}

/** Empties one node as `kubectl drain` does: asks for all of its pods at once, and again wherever the answer is 429. */
export class Drainer {
  readonly #options: DrainerOptions;
  /** What it was last answered, by name of the pod that it may not evict yet; in the order of asking. */
  readonly #waits = new Map<string, string>();
  #told = '';
  #evicted = 0;
  #denied = 0;
  #isDone = false;

  constructor(options: DrainerOptions) {
    this.#options = options;
  }

  get record(): DrainRecord {
    const { name, node } = this.#options;
    return { name, node, evicted: this.#evicted, denied: this.#denied };
  }

  /**
   * Returns `drainer-1 (node-a-2) waits with ingester-zone-a-0: 1 pod not ready in …`; short, so that a picture has room for
   * until when.
   */
  get line(): string {
    const { name, node } = this.#options;
    const [wait] = this.#waits;
    const who = `${name} (${node})`;
    if (this.#isDone) return `${who} has evicted all that was there`;
    if (wait === undefined) return `${who} waits until its pods are gone`;
    const [pod, why] = wait;
    return `${who} waits with ${pod}: ${why.replace(kind, 'zpdb')}`;
  }

  /**
   * Asks until every pod of the node may go, or is not there any more.
   *
   * @throws {ApiError} for an answer after which kubectl gives up; the reason of `signal` when that aborts first
   */
  async drain(signal: AbortSignal): Promise<void> {
    const { client, node } = this.#options;
    const fieldSelector = `spec.nodeName=${node}`;
    const query = { namespace: demoNamespace, fieldSelector };
    const { items } = await client.list(resourceTypes.pods, query, { signal });
    await Promise.all(items.map(({ metadata }) => this.#evict(metadata.name, signal)));
    this.#isDone = true;
  }

  async #evict(pod: string, signal: AbortSignal): Promise<void> {
    const { clock, pause } = this.#options;
    for (;;) {
      const denial = await this.#ask(pod, signal);
      if (denial === undefined) break;
      this.#denied += 1;
      this.#waits.set(pod, denial);
      this.#tell(pod, denial);
      await clock.sleep(pause, { signal });
    }
    this.#waits.delete(pod);
  }

  /** Asks for an eviction. @returns what prevents it with 429; undefined where the pod goes, or has gone */
  async #ask(name: string, signal: AbortSignal): Promise<string | undefined> {
    const key = { namespace: demoNamespace, name };
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: key };
    try {
      const write = { body, subresource: 'eviction', signal } as const;
      await this.#options.client.create(resourceTypes.pods, key, write);
      this.#evicted += 1;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (error instanceof ApiError && error.status === 429) return denialText(error);
      throw error;
    }
    return undefined;
  }

  /** Reports once what its pods wait for: it is the same for most of them. */
  #tell(pod: string, denial: string): void {
    if (this.#told === denial) return;
    this.#told = denial;
    const { name, onNote } = this.#options;
    onNote(`${name} may not evict ${pod} yet (429): ${denial}`);
  }
}
