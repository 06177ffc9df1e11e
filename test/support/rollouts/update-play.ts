import { assertNever } from '#base/assert-never.ts';
import { valid } from '#base/parsed.ts';
import { type Instant, instant, monotonic } from '#base/units.ts';
import type { CheckAnswer, CheckVerdict, QuestionKey } from '#check/answer.ts';
import type { SetHold } from '#control/plan/set-holds.ts';
import type { PodView } from '#statefulset/view.ts';
import type { ZoneAwareUpdateSpec } from '#zone-aware-update/api.ts';
import type { UpdateDecision, UpdatePlan } from '#zone-aware-update/plan/plan-decision.ts';
import { planZoneAwareUpdate } from '#zone-aware-update/plan.ts';
import type { GateKind, GateSight, UpdateSnapshot } from '#zone-aware-update/snapshot.ts';
import {
  formatUpdateStatus,
  parseUpdateStatus,
  type UpdateStatus,
} from '#zone-aware-update/status.ts';
import { podView, statefulSetView, T0, unready } from '../objects/views.ts';

const never = monotonic(-3_600_000);

/** A pod of the play. */
export interface UpdatedPod {
  revision: string | undefined;
  /** Undefined: it is unknown. */
  zone: string | undefined;
  /** Absent: no node has taken it. */
  node?: string;
  state: 'ready' | 'not-ready' | 'crashing' | 'terminating' | 'of-no-phase';
}

/** The spec of most scenarios: two pods at most, growing by 2, without an alarm. */
const usualUpdateSpec: ZoneAwareUpdateSpec = {
  statefulSet: 'web',
  maxUnavailable: valid({ kind: 'count', count: 2 }),
  exponentialFactor: valid(2),
  alarm: undefined,
  query: undefined,
  isDryRun: false,
};

/** One ZoneAwareUpdate over one set, played by hand: what is stored, one process, and the controller of the set. */
export class UpdatePlay {
  /** In milliseconds, of both clocks. */
  time = 0;
  spec = usualUpdateSpec;
  status: UpdateStatus = parseUpdateStatus({});
  readonly pods = new Map<number, UpdatedPod>();
  update = 'rev-2';
  current = 'rev-1';
  /** `undefined`: there is no set. */
  replicas: number | undefined;
  /** What the set counts as ready; undefined: those that are. */
  readyReplicas: number | undefined;
  strategy = 'OnDelete';
  isObserved = true;
  rival: string | undefined;
  conflicts: readonly string[] = [];
  holds: readonly SetHold[] = [];
  /** What was sent of a step that is being sent, by name. */
  begun = new Map<string, PodView>();
  refusals = new Map<string, SetHold>();
  readonly asked = new Map<GateKind, QuestionKey>();
  readonly answers = new Map<GateKind, CheckAnswer>();
  /** All deletions, one step each, in words. */
  readonly steps: string[] = [];
  promotions = 0;

  /** Pods `web-0` to `web-<n>`, all ready on `rev-1`, those of `zones` in the zone of each key. */
  constructor(zones: Readonly<Record<string, readonly number[]>> = nineInThree) {
    for (const [zone, ordinals] of Object.entries(zones)) {
      for (const ordinal of ordinals)
        this.put(ordinal, { revision: 'rev-1', zone, state: 'ready' });
    }
    this.replicas = this.pods.size;
  }

  get now(): Instant {
    return instant(T0 + 3_600_000 + this.time);
  }

  put(ordinal: number, changes: Partial<UpdatedPod>): this {
    const before = this.pods.get(ordinal) ?? { revision: 'rev-1', zone: 'a', state: 'ready' };
    this.pods.set(ordinal, { ...before, ...changes });
    return this;
  }

  snapshot(): UpdateSnapshot {
    const steady = monotonic(this.time);
    return {
      resource: { name: 'zau', spec: valid(this.spec), status: this.status },
      target: this.#target(),
      rival: this.rival,
      conflicts: this.conflicts,
      holds: this.holds,
      refusals: this.refusals,
      gates: { alarm: this.#sightOf('alarm'), query: this.#sightOf('query') },
      leaving: new Set(),
      begun: this.begun,
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

  plan(): UpdatePlan {
    return planZoneAwareUpdate(this.snapshot(), this.now);
  }

  /** Takes one look, carried out and stored; of the deletions the first `most` succeed. @returns what was decided, in words */
  look(most = Number.POSITIVE_INFINITY): readonly string[] {
    const plan = this.plan();
    const deleted: string[] = [];
    for (const decision of plan.decisions) {
      if (decision.kind === 'delete-pod' && deleted.length < most) deleted.push(decision.pod.name);
      this.#carryOut(decision);
    }
    for (const name of deleted) this.#restart(Number(name.slice('web-'.length)));
    if (deleted.length > 0) this.steps.push(deleted.map((name) => name.slice(4)).join(' '));
    const status = plan.statusAfter(deleted.length);
    this.status = parseUpdateStatus({ status: formatUpdateStatus(status) });
    return plan.decisions.map(said);
  }

  /** Looks until nothing changes any more, each deleted pod being ready at once. @returns the steps */
  run(): readonly string[] {
    for (let count = 0; count < 200; count += 1) {
      const before = JSON.stringify([this.status, [...this.status.oldReplicas], this.steps.length]);
      this.look();
      const after = JSON.stringify([this.status, [...this.status.oldReplicas], this.steps.length]);
      if (before === after) return this.steps;
    }
    throw new Error(`It never ends: ${this.steps.join('; ')}`);
  }

  /** Says what the alarm, or the query, does, of what is asked. */
  ring(verdict: CheckVerdict, gate: GateKind = 'alarm'): this {
    const question = this.asked.get(gate);
    if (question === undefined) throw new Error(`Nothing is asked of the ${gate}`);
    this.answers.set(gate, {
      verdict,
      warnings: [],
      because: { reason: 'AsWanted', message: `the ${gate} ${verdict}` },
      question,
      askedAt: monotonic(this.time),
    });
    this.asked.delete(gate);
    return this;
  }

  /** Returns step, deleted pods and old pods by zone, as they are stored. */
  get stored(): string {
    const { updateStep, deletedReplicas, oldReplicas } = this.status;
    const zones = [...oldReplicas].map(([zone, count]) => `${zone}${count}`).toSorted();
    return `${updateStep} / ${deletedReplicas} / ${zones.join(' ')}`;
  }

  #restart(ordinal: number): void {
    this.put(ordinal, { revision: this.update, state: 'ready' });
  }

  #carryOut(decision: UpdateDecision): void {
    if (decision.kind === 'ask') this.asked.set(decision.gate, decision.question);
    if (decision.kind !== 'set-current-revision') return;
    this.current = decision.to;
    this.promotions += 1;
  }

  #sightOf(gate: GateKind): GateSight {
    const [asked, answer] = [this.asked.get(gate), this.answers.get(gate)];
    return {
      steady: monotonic(this.time),
      questionId: gate,
      ...(asked !== undefined && { asked }),
      ...(answer !== undefined && { answer }),
    };
  }

  #target(): UpdateSnapshot['target'] {
    if (this.replicas === undefined) return undefined;
    const ready = [...this.pods.values()].filter(({ state }) => state === 'ready').length;
    const set = statefulSetView({
      name: 'web',
      generation: this.isObserved ? 1 : 2,
      spec: { replicas: this.replicas, updateStrategy: this.strategy },
      status: {
        observedGeneration: 1,
        replicas: this.pods.size,
        readyReplicas: this.readyReplicas ?? ready,
        currentRevision: this.current,
        updateRevision: this.update,
      },
    });
    const pods = [...this.pods].map(([ordinal, pod]) => podOf(ordinal, pod));
    const zones = [...this.pods].flatMap(([ordinal, { zone }]) =>
      zone === undefined ? [] : [[`web-${ordinal}-uid`, zone] as const],
    );
    return { set, pods, zones: new Map(zones) };
  }
}

const nineInThree = { a: [0, 3, 6], b: [1, 4, 7], c: [2, 5, 8] } as const;

function podOf(ordinal: number, { revision, state, node }: UpdatedPod): ReturnType<typeof podView> {
  const isReady = state !== 'not-ready' && state !== 'crashing';
  return podView({
    name: `web-${ordinal}`,
    uid: `web-${ordinal}-uid`,
    revision,
    nodeName: node,
    isTerminating: state === 'terminating',
    phase: state === 'of-no-phase' ? 'Unknown' : 'Running',
    ...(!isReady && {
      readySince: undefined,
      unready: unready({ isBackingOff: state === 'crashing' }),
    }),
    ...(state === 'crashing' && { trouble: 'CrashLoopBackOff' }),
  });
}

/** Returns `decision` in words. */
function said(decision: UpdateDecision): string {
  switch (decision.kind) {
    case 'delete-pod':
      return `delete ${decision.pod.name}`;
    case 'set-current-revision':
      return `promote ${decision.from} to ${decision.to}`;
    case 'ask':
      return decision.gate === 'alarm' ? 'ask' : 'ask Prometheus';
    case 'hold':
      return `hold ${decision.because.reason}`;
    default:
      return assertNever(decision);
  }
}
