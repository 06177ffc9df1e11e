import { type Instant, instant } from '#base/units.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { SelectingBudget } from '#statefulset-rollout/plan/plan-budget.ts';
import type { RolloutAction } from '#statefulset-rollout/plan/plan-decision.ts';
import type { DiscoverySight, EvictionResults, RolledSet } from '#statefulset-rollout/snapshot.ts';
import { podView, statefulSetView, T0, unready } from '../objects/views.ts';

/** A pod of the play. */
export interface RolledPod {
  template: string;
  uid: string;
  state: 'ready' | 'not-ready' | 'crashing' | 'terminating';
  /** Whether service discovery passes it. */
  isDiscovered: boolean;
}

/** The set as the API server has it. */
interface PlayedSet {
  template: string;
  replicas: number;
  /** Undefined: its strategy is OnDelete. */
  partition: number | undefined;
  /** What pods below the partition run. */
  current: string;
}

/** The set `web`, its pods and what guards them, played by hand: what the controllers of sets and pods make of what is written. */
export class PlayedCluster {
  /** In milliseconds, of both clocks. */
  time = 0;
  set: PlayedSet | undefined;
  readonly pods = new Map<number, RolledPod>();
  /** Who wrote fields of the set. */
  writers: StatefulSetView['writers'];
  budgets: SelectingBudget[] = [budgetOf(2)];
  /** Undefined: what the budget leaves. */
  allowed: number | undefined;
  discovery: 'off' | 'on' | DiscoverySight = 'off';
  evictions: EvictionResults | undefined;
  /** What the API server says to evictions; undefined: it accepts them. */
  refusal: EvictionResults['refused'];
  /** What was done, in words, a line each. */
  readonly done: string[] = [];
  /** Evictions by the pod's uid. */
  readonly evicted = new Map<string, number>();
  #uids = 0;
  #versions: string[] = [];

  get now(): Instant {
    return instant(T0 + 7_200_000 + this.time);
  }

  put(ordinal: number, changes: Partial<RolledPod>): this {
    const before = this.pods.get(ordinal);
    if (before === undefined) throw new Error(`There is no web-${ordinal}`);
    this.pods.set(ordinal, { ...before, ...changes });
    return this;
  }

  /** Has the controllers make again what went, all of it ready. */
  settle(state: RolledPod['state'] = 'ready'): this {
    for (const [ordinal, pod] of this.pods) {
      if (pod.state === 'terminating') this.#make(ordinal, state);
      else if (pod.state === 'not-ready') this.put(ordinal, { state });
    }
    this.#promote();
    return this;
  }

  /** Names of the pods on `template`, highest ordinal first. */
  on(template: string): readonly number[] {
    return [...this.pods]
      .filter(([, pod]) => pod.template === template)
      .map(([ordinal]) => ordinal)
      .toSorted((one, other) => other - one);
  }

  /** Promotes as the controller does under RollingUpdate once all pods are new and ready. */
  #promote(): void {
    const { set } = this;
    if (set?.partition === undefined) return;
    const pods = [...this.pods.values()];
    if (pods.every(({ template, state }) => template === set.template && state === 'ready'))
      set.current = set.template;
  }

  #make(ordinal: number, state: RolledPod['state']): void {
    this.#uids += 1;
    const uid = `web-${ordinal}-${this.#uids}`;
    const { template = '', current = '', partition = 0 } = this.set ?? {};
    const runs = ordinal < partition ? current : template;
    this.pods.set(ordinal, { template: runs, uid, state, isDiscovered: state === 'ready' });
  }

  /** Has the set want `replicas` pods on `template`; those that are missing are made. */
  apply(replicas: number, template: string, partition = this.set?.partition): void {
    if (!this.#versions.includes(template)) this.#versions.push(template);
    const { current = template } = this.set ?? {};
    this.set = { replicas, template, partition, current };
    for (const ordinal of this.pods.keys()) if (ordinal >= replicas) this.pods.delete(ordinal);
    for (let ordinal = 0; ordinal < replicas; ordinal += 1) {
      if (!this.pods.has(ordinal)) this.#make(ordinal, 'not-ready');
    }
  }

  /** Writes the partition; undefined: the strategy is OnDelete. */
  setPartition(to: number | undefined): void {
    if (this.set !== undefined) this.set.partition = to;
    this.done.push(to === undefined ? 'OnDelete' : `partition ${to}`);
    this.#promote();
  }

  /** Evicts or deletes the pods of an action. */
  removeAll({ kind, pods }: Extract<RolloutAction, { kind: 'evict' | 'delete-pods' }>): void {
    const names = pods.map(({ name }) => name.slice('web-'.length));
    this.done.push(`${kind} ${names.join(' ')}`);
    for (const pod of pods) this.#remove(pod, kind === 'evict');
  }

  #remove(
    { name, uid }: { readonly name: string; readonly uid: string },
    isEviction: boolean,
  ): void {
    if (isEviction && this.refusal !== undefined) {
      this.evictions = { acceptedAt: this.evictions?.acceptedAt, refused: this.refusal };
      return;
    }
    this.evictions = { acceptedAt: this.now, refused: undefined };
    this.evicted.set(uid, (this.evicted.get(uid) ?? 0) + 1);
    this.put(Number(name.slice('web-'.length)), { state: 'terminating' });
  }

  /** Returns the budgets with what they leave now. */
  budgetsNow(): readonly SelectingBudget[] {
    const away = [...this.pods.values()].filter(({ state }) => state !== 'ready').length;
    return this.budgets.map((budget) => {
      const most = typeof budget.maxUnavailable === 'number' ? budget.maxUnavailable : 0;
      const left = this.allowed ?? Math.max(0, most - away);
      return { ...budget, disruptionsAllowed: left };
    });
  }

  /** Returns what service discovery says now. */
  discoveryNow(): DiscoverySight {
    if (this.discovery === 'off') return { kind: 'off' };
    if (this.discovery !== 'on') return this.discovery;
    const passing = [...this.pods.values()].filter(({ isDiscovered }) => isDiscovered);
    return { kind: 'known', passing: new Set(passing.map(({ uid }) => uid)), services: ['web'] };
  }

  /** Returns the set and its pods as they are seen. @param before the version that was rolled out last */
  target(before: string): RolledSet | undefined {
    if (this.set === undefined) return undefined;
    const { replicas, template, partition, current } = this.set;
    const set = statefulSetView({
      name: 'web',
      ...(this.writers !== undefined && { writers: this.writers }),
      spec: {
        replicas,
        updateStrategy: partition === undefined ? 'OnDelete' : 'RollingUpdate',
        partition: partition ?? 0,
      },
      status: {
        observedGeneration: 1,
        replicas: this.pods.size,
        updateRevision: template,
        currentRevision: partition === undefined ? (this.#versions[0] ?? template) : current,
      },
    });
    const pods = [...this.pods].map(([ordinal, pod]) => viewOf(ordinal, pod));
    const isRollback =
      before !== '' && this.#versions.indexOf(template) < this.#versions.indexOf(before);
    return { set, pods, isOurs: true, isControlled: true, isRollback };
  }
}

/** Returns a native budget by which so many pods may be away. */
export function budgetOf(maxUnavailable: number, name = 'web'): SelectingBudget {
  return {
    name,
    maxUnavailable,
    minAvailable: undefined,
    disruptionsAllowed: undefined,
    evictsUnready: false,
  };
}

function viewOf(ordinal: number, { template, uid, state }: RolledPod): PodView {
  const isReady = state === 'ready' || state === 'terminating';
  return podView({
    name: `web-${ordinal}`,
    uid,
    revision: template,
    isTerminating: state === 'terminating',
    ...(!isReady && {
      readySince: undefined,
      unready: unready({ isBackingOff: state === 'crashing' }),
    }),
    ...(state === 'crashing' && { trouble: 'CrashLoopBackOff' }),
  });
}
