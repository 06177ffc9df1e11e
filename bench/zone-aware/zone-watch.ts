import type { Client } from '#kubernetes/client.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { WatchedSets } from '../cluster/watched-sets.ts';
import { namespace } from '../cluster/workload.ts';

/** Pods that went at one instant, as the watch shows them: their zone, and how many. */
export interface SeenStep {
  readonly zone: string;
  pods: number;
}

/** One set over several zones, as a watch of the API server shows it. */
export class ZoneWatch {
  readonly #seen: WatchedSets;
  readonly #zones: ReadonlyMap<string, string>;
  /** Of pods, by name. */
  readonly #lastZones = new Map<string, string>();
  readonly #name: string;
  readonly #wakes = new Set<() => void>();
  /** Pods that go since {@link begin}, those that go while others are away in one step. */
  steps: SeenStep[] = [];
  /** The most zones, and pods, that were away at once since {@link begin}. */
  most = { zones: 0, pods: 0 };

  /** @param zones of nodes, by name */
  constructor(client: Client, name: string, zones: ReadonlyMap<string, string>) {
    this.#name = name;
    this.#zones = zones;
    this.#seen = new WatchedSets(client);
    this.#seen.pods.onChange((change) => {
      this.zoneOf(change.object);
      if (change.kind === 'updated') this.#see(change.old, change.object);
      this.#wake();
    });
    this.#seen.sets.onChange(() => this.#wake());
  }

  /** Resolves once all is shown. */
  async start(): Promise<void> {
    await this.#seen.start();
  }

  /** A rollout begins now. */
  begin(): void {
    this.steps = [];
    this.most = { zones: 0, pods: 0 };
  }

  get set(): StatefulSetView {
    const set = this.#seen.sets.lister.get(namespace, this.#name);
    if (set === undefined) throw new Error(`There is no set ${this.#name}`);
    return set;
  }

  /** All pods of the set, the highest ordinal first. */
  pods(): readonly PodView[] {
    const { replicas } = this.set.spec;
    return Array.from({ length: replicas }, (_, index) =>
      this.#seen.pods.lister.get(namespace, `${this.#name}-${replicas - 1 - index}`),
    ).filter((pod) => pod !== undefined);
  }

  /** The zone of the pod, and while it has no node that of the one before it. */
  zoneOf({ name, nodeName }: PodView): string {
    const zone = this.#zones.get(nodeName ?? '') ?? this.#lastZones.get(name) ?? '';
    this.#lastZones.set(name, zone);
    return zone;
  }

  /** Whether all pods are there and ready. */
  isWhole(): boolean {
    const pods = this.pods();
    return pods.length === this.set.spec.replicas && pods.every(isUp);
  }

  /** Whether the controller of the set has observed its spec of `generation`. */
  hasObserved(generation: number): boolean {
    return this.set.status.observedGeneration >= generation;
  }

  /** Whether all pods are there and ready, and run what the set of `generation` says. */
  isRolled(generation: number): boolean {
    const { status } = this.set;
    if (!this.hasObserved(generation) || !this.isWhole()) return false;
    return this.pods().every(({ revision }) => revision === status.updateRevision);
  }

  /** Resolves as soon as the watch shows that `holds`. @param patience in ms */
  async until(what: string, holds: () => boolean, patience = 180_000): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (): void => {
      const { problem } = this.#seen;
      if (problem !== undefined) reject(problem);
      else if (holds()) resolve();
    };
    const late = setTimeout(() => reject(new Error(`Not after ${patience} ms: ${what}`)), patience);
    this.#wakes.add(look);
    look();
    try {
      await promise;
    } finally {
      clearTimeout(late);
      this.#wakes.delete(look);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#seen[Symbol.asyncDispose]();
  }

  #see(before: PodView, after: PodView): void {
    if (before.isTerminating || !after.isTerminating) return;
    const away = this.pods().filter((pod) => !isUp(pod));
    const zones = new Set(away.map((pod) => this.zoneOf(pod)));
    this.most = {
      zones: Math.max(this.most.zones, zones.size),
      pods: Math.max(this.most.pods, away.length + this.set.spec.replicas - this.pods().length),
    };
    const last = this.steps.at(-1);
    if (away.length > 1 && last !== undefined) last.pods += 1;
    else this.steps.push({ zone: this.zoneOf(after), pods: 1 });
  }

  #wake(): void {
    for (const wake of this.#wakes) wake();
  }
}

function isUp({ isTerminating, unready, areContainersReady, phase }: PodView): boolean {
  return !isTerminating && unready === undefined && areContainersReady && phase === 'Running';
}
