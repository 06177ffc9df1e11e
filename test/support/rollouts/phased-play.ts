import { assertNever } from '#base/assert-never.ts';
import { type Instant, instant, monotonic } from '#base/units.ts';
import type { CheckVerdict, QuestionKey } from '#check/answer.ts';
import type { CheckState } from '#check/check-state.ts';
import { SeenStates } from '#check/seen-states.ts';
import type { PhasedDecision, PhasedPlan } from '#phased-rollout/plan/plan-decision.ts';
import { gateStateOf } from '#phased-rollout/plan/plan-gate.ts';
import { planPhasedRollout } from '#phased-rollout/plan.ts';
import type {
  DisruptionHold,
  GateSight,
  PhasedSnapshot,
  TargetSet,
} from '#phased-rollout/snapshot.ts';
import { formatStatus, parseStatus, type RolloutStatus } from '#phased-rollout/status.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { T0 } from '../objects/views.ts';
import { type PlayedPod, type PlayedSet, said, targetOf, usualPhasedSpec } from './phased-set.ts';

const never = monotonic(-3_600_000);

/** One PhasedRollout over one set, played by hand: what is stored, one process, and the controller of the set. */
export class PhasedPlay {
  /** Both in milliseconds. */
  wall: number = T0 + 3_600_000;
  steady = 0;
  spec = usualPhasedSpec;
  status: RolloutStatus = parseStatus({});
  resource = { name: 'pr1', isDeleting: false, hasFinalizer: true };
  /** `undefined`: there is no set. */
  set: PlayedSet | undefined = {
    replicas: 3,
    partition: 0,
    current: 'A',
    update: 'A',
  };
  owner: string | undefined = 'pr1';
  hasMaxUnavailable = false;
  isObserved = true;
  uid = 'web-uid';
  strategy = 'RollingUpdate';
  ordinalsStart = 0;
  /** Who wrote fields of the set. */
  writers: StatefulSetView['writers'];
  pods = new Map<number, PlayedPod>();
  former: readonly TargetSet[] = [];
  others: PhasedSnapshot['others'] = [];
  conflicts: readonly string[] = [];
  holds: readonly DisruptionHold[] = [];
  isGoverned = false;
  problem: GateSight['problem'];
  /** What was reported, newest last. */
  readonly events: string[] = [];
  /** All values that the partition had, newest last. */
  readonly partitions: number[] = [];
  #seen = this.#process();
  #memory: CheckState | undefined;
  #asked: { readonly key: QuestionKey; readonly at: number } | undefined;
  #answer: GateSight['answer'];
  /** Times the server was asked, in milliseconds of the steady clock. */
  readonly asks: number[] = [];

  constructor(replicas = 3) {
    if (this.set !== undefined) this.set.replicas = replicas;
    for (let ordinal = 0; ordinal < replicas; ordinal += 1) this.put(ordinal, 'A');
  }

  get now(): Instant {
    return instant(this.wall);
  }

  get isAsked(): boolean {
    return this.#asked !== undefined;
  }

  /** Returns a play that is steady at its blocked state. */
  static steady(replicas = 3): PhasedPlay {
    const play = new PhasedPlay(replicas);
    play.settle();
    play.events.length = 0;
    play.partitions.length = 0;
    return play;
  }

  /** Returns a rollout to B that waits at partition 3, its analysis begun. */
  static rolling(replicas = 3): PhasedPlay {
    const play = PhasedPlay.steady(replicas);
    play.change('B').settle();
    return play;
  }

  put(ordinal: number, revision: string | undefined, state: PlayedPod['state'] = 'ready'): this {
    this.pods.set(ordinal, { revision, state });
    return this;
  }

  /** Changes the template. */
  change(update: string): this {
    if (this.set !== undefined) this.set.update = update;
    return this;
  }

  pass(span: number): this {
    this.wall += span;
    this.steady += span;
    return this;
  }

  restart(): this {
    this.#seen = this.#process();
    this.#memory = undefined;
    this.#asked = undefined;
    this.#answer = undefined;
    return this;
  }

  snapshot(): PhasedSnapshot {
    const resource = {
      ...this.resource,
      spec: { kind: 'valid', value: this.spec } as const,
      status: this.status,
    };
    const { target } = this;
    const memory = this.#memory === undefined ? {} : { memory: this.#memory };
    const state = gateStateOf({ resource, target, gate: memory });
    const steady = monotonic(this.steady);
    const known =
      state === undefined
        ? { began: steady, lastAnswer: steady, lastError: steady }
        : this.#seen.see('web', state);
    return {
      resource,
      target,
      former: this.former,
      others: this.others,
      conflicts: this.conflicts,
      holds: this.holds,
      isGoverned: this.isGoverned,
      gate: {
        steady,
        known,
        questionId: 'query',
        ...memory,
        ...(this.problem !== undefined && { problem: this.problem }),
        ...(this.#asked !== undefined && { asked: this.#asked.key }),
        ...(this.#answer !== undefined && { answer: this.#answer }),
      },
      leaving: new Set(),
      stuckAfter: undefined,
      watched: {
        now: steady,
        since: new Map([...this.pods.keys()].map((ordinal) => [`web-${ordinal}-uid`, never])),
        witnessed: new Set(),
        served: new Set(),
        gone: new Map(),
        begun: never,
      },
    };
  }

  get target(): TargetSet | undefined {
    return this.set === undefined ? undefined : targetOf(this, this.set);
  }

  plan(): PhasedPlan {
    return planPhasedRollout(this.snapshot(), this.now);
  }

  /** Takes one look, carried out and stored. @returns what was decided, in words */
  look(): readonly string[] {
    const plan = this.plan();
    for (const decision of plan.decisions) this.#carryOut(decision);
    this.status = parseStatus({ status: formatStatus(plan.status) });
    this.#memory = plan.memory;
    if (plan.isAnswerDone) this.#answer = undefined;
    return plan.decisions.map(said);
  }

  /** Looks until nothing more comes of it now. @returns all that was decided, holds apart */
  settle(): readonly string[] {
    const all: string[] = [];
    for (let count = 0; count < 50; count += 1) {
      const before = JSON.stringify([this.status, this.set, this.owner, this.resource]);
      const { requeue } = this.plan();
      const decided = this.look().filter((each) => !each.startsWith('hold'));
      all.push(...decided);
      const isSame = before === JSON.stringify([this.status, this.set, this.owner, this.resource]);
      if (isSame && !(requeue.kind === 'at' && requeue.at <= this.wall)) return all;
    }
    throw new Error(`It never settles: ${all.join('; ')}`);
  }

  /** Waits until the server is asked. @returns the seconds waited */
  untilAsked(): number {
    const start = this.steady;
    this.settle();
    for (let count = 0; !this.isAsked; count += 1) {
      const { requeue } = this.plan();
      if (requeue.kind !== 'at' || count > 20) throw new Error('Nothing is asked');
      this.pass(Math.max(1, requeue.at - this.wall)).settle();
    }
    return (this.steady - start) / 1_000;
  }

  /** Answers what is asked, or was. */
  answer(verdict: CheckVerdict): this {
    const asked = this.#asked;
    if (asked === undefined) throw new Error('Nothing is asked');
    this.#asked = undefined;
    this.#answer = {
      verdict,
      warnings: [],
      because: { reason: 'AsWanted', message: verdict },
      question: asked.key,
      askedAt: monotonic(asked.at),
    };
    return this;
  }

  /** Waits for the next question, answers it and looks. @returns what was decided */
  next(verdict: CheckVerdict): readonly string[] {
    this.untilAsked();
    return this.answer(verdict).settle();
  }

  /** Does what the controller of the set does in the end: updates pods from the partition on, and promotes a whole set. */
  controller(): this {
    const { set } = this;
    if (set === undefined) return this;
    for (let index = 0; index < set.replicas; index += 1) {
      const pod = this.pods.get(index + this.ordinalsStart);
      if (index >= set.partition) this.put(index + this.ordinalsStart, set.update);
      else if (pod === undefined) this.put(index + this.ordinalsStart, set.current);
    }
    if ([...this.pods.values()].every(({ revision }) => revision === set.update)) {
      set.current = set.update;
    }
    return this;
  }

  #process(): SeenStates {
    return new SeenStates({ monotonic: () => monotonic(this.steady) });
  }

  #carryOut(decision: PhasedDecision): void {
    switch (decision.kind) {
      case 'set-partition':
        this.#setPartition(decision.to);
        break;
      case 'add-finalizer':
      case 'remove-finalizer':
        this.resource.hasFinalizer = decision.kind === 'add-finalizer';
        break;
      case 'adopt':
        this.owner = this.resource.name;
        break;
      case 'release':
        this.#release(decision);
        break;
      case 'delete-pod':
        this.pods.delete(Number(decision.pod.name.slice('web-'.length)));
        break;
      case 'tell':
        this.events.push(decision.because.reason);
        break;
      case 'ask':
        this.#asked = { key: decision.question, at: this.steady };
        this.asks.push(this.steady);
        break;
      case 'hold':
        break;
      default:
        assertNever(decision);
    }
  }

  #setPartition(to: number): void {
    if (this.set !== undefined) this.set.partition = to;
    this.partitions.push(to);
  }

  #release({ set, drops }: Extract<PhasedDecision, { kind: 'release' }>): void {
    this.former = this.former.filter((each) => each.set.name !== set.name);
    if (set.name !== 'web') return;
    this.owner = undefined;
    if (drops !== 'nothing' && this.set !== undefined) this.set.partition = 0;
  }
}
