import { valid } from '#base/parsed.ts';
import { type Instant, millis, monotonic } from '#base/units.ts';
import type { SetHold } from '#control/plan/set-holds.ts';
import type { StatefulsetRolloutSpec } from '#statefulset-rollout/api.ts';
import type { RolloutAction, RolloutPlan } from '#statefulset-rollout/plan/plan-decision.ts';
import { planStatefulsetRollout } from '#statefulset-rollout/plan.ts';
import { noProgress, type RolloutProgress } from '#statefulset-rollout/progress.ts';
import {
  nothingElsewhere,
  type PinSupport,
  type RolloutSnapshot,
  type SetComparison,
  type SetValidation,
  ungoverned,
} from '#statefulset-rollout/snapshot.ts';
import { PlayedCluster } from './played-cluster.ts';

const never = monotonic(-7_200_000);

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

/** One StatefulsetRollout in it: what is stored, and one process. */
export class RolloutPlay extends PlayedCluster {
  spec: StatefulsetRolloutSpec = usualRolloutSpec;
  /** What the carried set's pods are to run. */
  wanted = 'v1';
  generation = 1;
  observedGeneration = 0;
  isDeleting = false;
  hasFinalizer = true;
  progress: RolloutProgress = noProgress;
  pinSupport: PinSupport = { kind: 'supported' };
  holds: readonly SetHold[] = [];
  heldUntil: Instant | undefined;
  owner: string | undefined;
  conflicts: readonly string[] = [];
  unknownOwners: string | undefined;
  comparison: SetComparison | undefined;
  validation: SetValidation = { kind: 'accepted' };
  /** All phases that were stored, each once as long as it lasts. */
  readonly phases: string[] = [];
  /** Most pods that were away at a time. */
  mostAway = 0;

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
      target: this.target(progress.targetRevision),
      comparison: this.comparison ?? this.#comparison(),
      validation: this.validation,
      owner: this.owner,
      conflicts: this.conflicts,
      unknownOwners: this.unknownOwners,
      evictions: this.evictions,
      budgets: this.budgetsNow(),
      discovery: this.discoveryNow(),
      pinSupport: this.pinSupport,
      holds: this.holds,
      heldUntil: this.heldUntil,
      elsewhere: nothingElsewhere,
      governance: ungoverned,
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

  #state(): string {
    const { progress, set, pods, done } = this;
    return JSON.stringify([{ ...progress, rotated: [...progress.rotated] }, set, [...pods], done]);
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
        this.removeAll(action);
        return;
      case 'add-finalizer':
      case 'remove-finalizer':
        this.hasFinalizer = action.kind === 'add-finalizer';
        this.done.push(action.kind);
        return;
      case 'set-partition':
        this.setPartition(action.to);
        return;
      default:
        this.#finish(action, because?.reason);
    }
  }

  #write(kind: string): void {
    const comparison = this.comparison ?? this.#comparison();
    const partition = 'partition' in comparison ? comparison.partition : undefined;
    const replicas = this.spec.set.replicas ?? this.set?.replicas ?? 1;
    this.apply(replicas, this.wanted, partition);
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
}
