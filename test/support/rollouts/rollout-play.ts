import { valid } from '#base/parsed.ts';
import { type Instant, instant, millis, monotonic } from '#base/units.ts';
import type { SetHold } from '#control/plan/set-holds.ts';
import type { PodView } from '#statefulset/view.ts';
import type { StatefulsetRolloutSpec } from '#statefulset-rollout/api.ts';
import type { SelectingBudget } from '#statefulset-rollout/plan/plan-budget.ts';
import type { RolloutAction, RolloutPlan } from '#statefulset-rollout/plan/plan-decision.ts';
import { planStatefulsetRollout } from '#statefulset-rollout/plan.ts';
import { noProgress, type RolloutProgress } from '#statefulset-rollout/progress.ts';
import {
  type DiscoverySight,
  type EvictionResults,
  nothingElsewhere,
  type PinSupport,
  type RolledSet,
  type RolloutSnapshot,
  type SetComparison,
  type SetValidation,
} from '#statefulset-rollout/snapshot.ts';
import { podView, statefulSetView, T0, unready } from '../objects/views.ts';

const never = monotonic(-7_200_000);

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

/** The spec of most scenarios: ten pods, all of them new. */
const usualRolloutSpec: StatefulsetRolloutSpec = {
  set: { name: 'web', namespace: undefined, replicas: 10, object: {} },
  percent: 100,
  evictionInterval: millis(0),
  rollbackInterval: millis(0),
  isPauseRequested: false,
  identity: '',
  progressDeadline: millis(1_800_000),
  unreadyPodsOfRollback: 'Delete',
  replicasOwnership: 'Auto',
  onImmutableChange: 'Fail',
  deletionPolicy: 'Auto',
  leakPolicy: 'Report',
  isLeakRepaired: false,
  parallelWithoutBudget: 1,
};

/** One StatefulsetRollout, played by hand: what is stored, one process, and the controllers of sets and pods. */
export class RolloutPlay {
  /** In milliseconds, of both clocks. */
  time = 0;
  spec: StatefulsetRolloutSpec = usualRolloutSpec;
  /** What the carried set's pods are to run. */
  wanted = 'v1';
  generation = 1;
  observedGeneration = 0;
  isDeleting = false;
  hasFinalizer = true;
  progress: RolloutProgress = noProgress;
  set: PlayedSet | undefined;
  readonly pods = new Map<number, RolledPod>();
  budgets: SelectingBudget[] = [budgetOf(2)];
  /** Undefined: what the budget leaves. */
  allowed: number | undefined;
  pinSupport: PinSupport = { kind: 'supported' };
  discovery: 'off' | 'on' | DiscoverySight = 'off';
  holds: readonly SetHold[] = [];
  heldUntil: Instant | undefined;
  owner: string | undefined;
  conflicts: readonly string[] = [];
  unknownOwners: string | undefined;
  comparison: SetComparison | undefined;
  validation: SetValidation = { kind: 'accepted' };
  evictions: EvictionResults | undefined;
  /** What the API server says to evictions; undefined: it accepts them. */
  refusal: EvictionResults['refused'];
  /** What was done, in words, a line each. */
  readonly done: string[] = [];
  /** All phases that were stored, each once as long as it lasts. */
  readonly phases: string[] = [];
  /** Most pods that were away at a time. */
  mostAway = 0;
  /** Evictions by the pod's uid. */
  readonly evicted = new Map<string, number>();
  #uids = 0;
  #versions: string[] = [];

  get now(): Instant {
    return instant(T0 + 7_200_000 + this.time);
  }

  /** Returns a set of ten ready pods on `template`, rolled out before by this resource, which has ended. */
  static settled(template = 'v1'): RolloutPlay {
    const play = new RolloutPlay();
    play.wanted = template;
    play.run();
    play.done.length = 0;
    play.phases.length = 0;
    play.mostAway = 0;
    return play;
  }

  edit(changes: Partial<StatefulsetRolloutSpec>): this {
    this.spec = { ...this.spec, ...changes };
    this.generation += 1;
    return this;
  }

  /** Has another version wanted. */
  want(template: string): this {
    this.wanted = template;
    this.generation += 1;
    return this;
  }

  put(ordinal: number, changes: Partial<RolledPod>): this {
    const before = this.pods.get(ordinal);
    if (before === undefined) throw new Error(`There is no web-${ordinal}`);
    this.pods.set(ordinal, { ...before, ...changes });
    return this;
  }

  snapshot(): RolloutSnapshot {
    const { isDeleting, hasFinalizer, generation, observedGeneration, progress } = this;
    const { identity, percent } = this.spec;
    return {
      resource: {
        namespace: 'ns',
        name: 'rollout',
        generation,
        observedGeneration,
        isDeleting,
        hasFinalizer,
        isOrphaning: false,
        spec: valid(this.spec),
        progress,
      },
      wanted: {
        key: JSON.stringify([identity, percent, this.wanted]),
        templateHash: this.wanted,
      },
      target: this.#target(),
      comparison: this.comparison ?? this.#comparison(),
      validation: this.validation,
      owner: this.owner,
      conflicts: this.conflicts,
      unknownOwners: this.unknownOwners,
      evictions: this.evictions,
      budgets: this.#budgets(),
      discovery: this.#discovery(),
      pinSupport: this.pinSupport,
      holds: this.holds,
      heldUntil: this.heldUntil,
      elsewhere: nothingElsewhere,
      leaving: new Set(),
      watched: {
        now: monotonic(this.time),
        since: new Map([...this.pods.values()].map(({ uid }) => [uid, never])),
        witnessed: new Set(),
        served: new Set(),
        gone: new Map(),
        begun: never,
      },
      stuckAfter: undefined,
    };
  }

  plan(): RolloutPlan {
    return this.planOf(this.snapshot());
  }

  planOf(snapshot: RolloutSnapshot): RolloutPlan {
    return planStatefulsetRollout(snapshot, this.now);
  }

  /** Takes one look, carried out and stored. @returns what it does or waits for, as in `RollingOut PodsEvicted` */
  look(): string {
    const plan = this.plan();
    if (plan.action !== undefined) this.#carryOut(plan.action, plan);
    this.progress = plan.progress;
    this.observedGeneration = this.generation;
    const { phase = '' } = plan.progress;
    if (this.phases.at(-1) !== phase) this.phases.push(phase);
    const away = [...this.pods.values()].filter(({ state }) => state !== 'ready').length;
    this.mostAway = Math.max(this.mostAway, away);
    return `${phase} ${plan.because?.reason ?? ''}`;
  }

  /** Looks until nothing changes any more. @returns what it waits for then */
  rest(): string {
    for (let count = 0; count < 500; count += 1) {
      const before = this.#state();
      const said = this.look();
      if (this.#state() === before) return said;
    }
    throw new Error(`It never rests: ${this.done.slice(-5).join('; ')}`);
  }

  /** Has the controllers make anew what went, all of it ready. */
  settle(state: RolledPod['state'] = 'ready'): this {
    for (const [ordinal, pod] of this.pods) {
      if (pod.state === 'terminating') this.#make(ordinal, state);
      else if (pod.state === 'not-ready') this.put(ordinal, { state });
    }
    this.#promote();
    return this;
  }

  /** Looks and settles, a second each, until the rollout has ended. @returns how */
  run(): string {
    for (let count = 0; count < 500; count += 1) {
      const said = this.rest();
      if (said.startsWith('RolloutDone') || said.startsWith('RolloutFailed')) return said;
      this.settle();
      this.time += 1_000;
    }
    throw new Error(`It never ends: ${this.done.slice(-5).join('; ')}`);
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

  #state(): string {
    const { progress, set, pods, done } = this;
    return JSON.stringify([{ ...progress, rotated: [...progress.rotated] }, set, [...pods], done]);
  }

  #make(ordinal: number, state: RolledPod['state']): void {
    this.#uids += 1;
    const uid = `web-${ordinal}-${this.#uids}`;
    const { template = '', current = '', partition = 0 } = this.set ?? {};
    const runs = ordinal < partition ? current : template;
    this.pods.set(ordinal, { template: runs, uid, state, isDiscovered: state === 'ready' });
  }

  #apply(replicas: number, template: string, partition = this.set?.partition): void {
    if (!this.#versions.includes(template)) this.#versions.push(template);
    const { current = template } = this.set ?? {};
    this.set = { replicas, template, partition, current };
    for (const ordinal of this.pods.keys()) if (ordinal >= replicas) this.pods.delete(ordinal);
    for (let ordinal = 0; ordinal < replicas; ordinal += 1) {
      if (!this.pods.has(ordinal)) this.#make(ordinal, 'not-ready');
    }
  }

  #carryOut(action: RolloutAction, { because }: RolloutPlan): void {
    switch (action.kind) {
      case 'create-set':
      case 'update-set':
      case 'scale-set':
        this.#write(action.kind);
        return;
      case 'evict':
      case 'delete-pods':
        this.#removeAll(action);
        return;
      case 'add-finalizer':
      case 'remove-finalizer':
        this.hasFinalizer = action.kind === 'add-finalizer';
        this.done.push(action.kind);
        return;
      case 'set-partition':
        this.#setPartition(action.to);
        return;
      default:
        this.#finish(action, because?.reason);
    }
  }

  #setPartition(to: number | undefined): void {
    if (this.set !== undefined) this.set.partition = to;
    this.done.push(to === undefined ? 'OnDelete' : `partition ${to}`);
    this.#promote();
  }

  #write(kind: string): void {
    const comparison = this.comparison ?? this.#comparison();
    const partition = 'partition' in comparison ? comparison.partition : undefined;
    const replicas = this.spec.set.replicas ?? this.set?.replicas ?? 1;
    this.#apply(replicas, this.wanted, partition);
    const closed = partition === undefined ? '' : ` partition ${partition}`;
    this.done.push(`${kind} ${this.wanted} ${replicas}${closed}`);
  }

  #finish({ kind }: RolloutAction, reason = ''): void {
    if (kind === 'orphan-pods' || kind === 'delete-set') this.set = undefined;
    if (kind === 'delete-set') this.pods.clear();
    if (kind === 'validate') this.validation = { kind: 'accepted' };
    const isTold = kind === 'validate' || kind === 'compare' || kind === 'release-set';
    this.done.push(isTold ? `${kind} ${reason}` : kind);
  }

  #removeAll({ kind, pods }: Extract<RolloutAction, { kind: 'evict' | 'delete-pods' }>): void {
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

  #comparison(): SetComparison {
    if (this.set === undefined) return { kind: 'unread' };
    const { replicas = this.set.replicas } = this.spec.set;
    const closed = this.set.partition !== undefined && { partition: replicas };
    if (this.set.template !== this.wanted)
      return { kind: 'differs', paths: ['spec.template'], ...closed };
    if (replicas === this.set.replicas) return { kind: 'equal' };
    const isAtRest = this.set.current === this.set.template;
    return { kind: 'replicas', to: replicas, ...(isAtRest && closed) };
  }

  #budgets(): readonly SelectingBudget[] {
    const away = [...this.pods.values()].filter(({ state }) => state !== 'ready').length;
    return this.budgets.map((budget) => {
      const most = typeof budget.maxUnavailable === 'number' ? budget.maxUnavailable : 0;
      const left = this.allowed ?? Math.max(0, most - away);
      return { ...budget, disruptionsAllowed: left };
    });
  }

  #discovery(): DiscoverySight {
    if (this.discovery === 'off') return { kind: 'off' };
    if (this.discovery !== 'on') return this.discovery;
    const passing = [...this.pods.values()].filter(({ isDiscovered }) => isDiscovered);
    return { kind: 'known', passing: new Set(passing.map(({ uid }) => uid)), services: ['web'] };
  }

  #target(): RolledSet | undefined {
    if (this.set === undefined) return undefined;
    const { replicas, template, partition, current } = this.set;
    const set = statefulSetView({
      name: 'web',
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
    const before = this.progress.targetRevision;
    const isRollback =
      before !== '' && this.#versions.indexOf(template) < this.#versions.indexOf(before);
    return { set, pods, isOurs: true, isControlled: true, isRollback };
  }
}

/** Returns a native budget by which so many pods may be away. */
export function budgetOf(maxUnavailable: number, name = 'web'): SelectingBudget {
  return { name, maxUnavailable, minAvailable: undefined, disruptionsAllowed: undefined };
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
