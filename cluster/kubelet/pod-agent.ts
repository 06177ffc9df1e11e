import type { Clock, Timer } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { type Monotonic, millis, monotonic } from '#base/units.ts';
import type { Change } from '#kubernetes/informer/informer.ts';
import { isConflict, isNotFound } from '#kubernetes/transport/api-error.ts';
import type { Behaviours } from './behaviours.ts';
import type { DelayTable } from './delays.ts';
import { nextStep, type Step, type StepKind, stageAfter, stageOf } from './pod-lifecycle.ts';
import { PodWriter, type WritingHost, type WrittenPod } from './pod-writer.ts';
import type { KubeletPod } from './views.ts';
import type { WriteLimit } from './write-limit.ts';

/** What the agent needs of nodes: where pods go, and who speaks for a node. */
export interface NodeHost extends WritingHost {
  /** Binds `pod`; undefined when no node fits, and then `retry` is called once that may have changed. */
  bind(pod: KubeletPod, retry: () => void): Promise<string | undefined>;
  /** Notes that the pod is on its node, by whomever it was bound. */
  hold(pod: KubeletPod): void;
  /** Notes that the pod holds its node no longer. */
  release(pod: KubeletPod): void;
  /** Reports whether the node's kubelet works. */
  isUp(node: string): boolean;
}

/** What a {@link PodAgent} is made of. */
export interface PodAgentOptions {
  readonly clock: Clock;
  readonly host: NodeHost;
  readonly behaviours: Behaviours;
  readonly delays: DelayTable;
  readonly limit: WriteLimit;
  readonly log: Logger;
}

/** A pod as the stand-in knows it; its own writes are ahead of the cache. */
interface PodLife extends WrittenPod {
  /** When the last step was due: what delays count from. */
  since: Monotonic;
  isStopping: boolean;
  /** Removed from the API: what is left of it waits for finalizers. */
  isRemoved: boolean;
  isWriting: boolean;
  isWaitingForNode: boolean;
  failures: number;
  /** Earliest next try after a failure. */
  notBefore: Monotonic;
  planned: { readonly kind: StepKind; readonly due: Monotonic; readonly timer: Timer } | undefined;
}

const firstRetry = 100;
const longestRetry = 10_000;

/** Leads every pod through its life (KU-3…KU-5): one timer per pod, one write per step, no polling. */
export class PodAgent {
  readonly #options: PodAgentOptions;
  readonly #writer: PodWriter;
  readonly #lives = new Map<string, PodLife>();
  #isStopped = false;

  constructor(options: PodAgentOptions) {
    this.#options = options;
    this.#writer = new PodWriter(options.clock, options.host);
  }

  /** Takes a change of the pod cache. */
  podChanged(change: Change<KubeletPod>): void {
    const pod = change.object;
    if (change.kind === 'deleted') {
      this.#forget(pod);
      return;
    }
    const life = this.#lives.get(pod.uid) ?? this.#meet(pod);
    life.pod = pod;
    this.#catchUp(life);
    if (pod.isTerminating && !life.isStopping) {
      life.isStopping = true;
      life.since = this.#options.clock.monotonic();
    }
    this.#evaluate(life);
  }

  /** Looks at every pod again: behaviours have changed. */
  evaluateAll(): void {
    for (const life of this.#lives.values()) this.#evaluate(life);
  }

  /** Looks at the pods of a node again: it went down or came back; a pod that lost Ready meanwhile becomes ready again. */
  nodeChanged(node: string, hasLostReady: boolean): void {
    const now = this.#options.clock.monotonic();
    for (const life of this.#lives.values()) {
      if (life.node !== node) continue;
      if (hasLostReady && life.stage === 'ready') life.stage = 'unready';
      life.since = now;
      this.#evaluate(life);
    }
  }

  /** Returns the pods on `node` that the cache shows. */
  podsOn(node: string): readonly KubeletPod[] {
    return [...this.#lives.values()].filter((life) => life.node === node).map(({ pod }) => pod);
  }

  /** Cancels all timers; writes under way end by themselves. */
  stop(): void {
    this.#isStopped = true;
    for (const life of this.#lives.values()) life.planned?.timer.cancel();
    this.#lives.clear();
  }

  #meet(pod: KubeletPod): PodLife {
    const life: PodLife = {
      pod,
      node: pod.nodeName,
      stage: stageOf(pod),
      restarts: pod.restarts,
      since: this.#options.clock.monotonic(),
      isStopping: false,
      isRemoved: false,
      isWriting: false,
      isWaitingForNode: false,
      failures: 0,
      notBefore: monotonic(0),
      podIP: pod.podIP,
      startedAt: undefined,
      planned: undefined,
    };
    this.#lives.set(pod.uid, life);
    return life;
  }

  #forget(pod: KubeletPod): void {
    const life = this.#lives.get(pod.uid);
    if (life === undefined) return;
    life.planned?.timer.cancel();
    life.planned = undefined;
    this.#lives.delete(pod.uid);
    this.#options.host.release(pod);
  }

  #isAlive(life: PodLife): boolean {
    return !this.#isStopped && this.#lives.get(life.pod.uid) === life;
  }

  /** Takes over what others did to the pod, or a binding of ours whose answer was lost. */
  #catchUp(life: PodLife): void {
    const { pod } = life;
    if (pod.nodeName === '') return;
    life.node = pod.nodeName;
    this.#options.host.hold(pod);
    if (life.stage !== 'unbound' || life.isWriting) return;
    life.stage = 'bound';
    life.isWaitingForNode = false;
    life.since = this.#options.clock.monotonic();
  }

  #nextStep(life: PodLife): Step | undefined {
    const { behaviours, delays, host } = this.#options;
    if (life.isWriting || life.isRemoved || life.isWaitingForNode) return undefined;
    if (life.node !== '' && !host.isUp(life.node)) return undefined;
    const { pod, stage, restarts } = life;
    return nextStep({
      pod,
      stage,
      restarts,
      behaviour: behaviours.of(pod),
      delays: delays.of(pod),
    });
  }

  #evaluate(life: PodLife): void {
    const step = this.#nextStep(life);
    if (step === undefined) {
      life.planned?.timer.cancel();
      life.planned = undefined;
      return;
    }
    const due = monotonic(Math.max(life.since + step.after, life.notBefore));
    if (life.planned?.kind === step.kind && life.planned.due === due) return;
    this.#schedule(life, step.kind, due);
  }

  #schedule(life: PodLife, kind: StepKind, due: Monotonic): void {
    const { clock } = this.#options;
    life.planned?.timer.cancel();
    const wait = millis(Math.max(0, due - clock.monotonic()));
    const fire = (): void => {
      life.planned = undefined;
      void this.#take(life, kind, due);
    };
    life.planned = { kind, due, timer: clock.timer(wait, fire, { owner: `kubelet-${kind}` }) };
  }

  async #take(life: PodLife, kind: StepKind, due: Monotonic): Promise<void> {
    life.isWriting = true;
    try {
      const isDone = await this.#options.limit.run(() => this.#write(life, kind));
      life.failures = 0;
      life.notBefore = monotonic(0);
      life.isWriting = false;
      if (!this.#isAlive(life)) return;
      if (isDone) {
        life.stage = stageAfter(kind, life.pod);
        // A deletion that was seen meanwhile has begun a new count.
        if (!life.isStopping || kind === 'stop') life.since = due;
      }
      life.isRemoved = kind === 'stop';
      this.#evaluate(life);
    } catch (error) {
      life.isWriting = false;
      this.#failed(life, kind, error);
    }
  }

  #failed(life: PodLife, kind: StepKind, error: unknown): void {
    if (!this.#isAlive(life)) return;
    this.#catchUp(life);
    if (isNotFound(error) || isConflict(error)) {
      // Gone, replaced or bound: a binding that the cache shows goes on from there, the watch will show the rest.
      if (kind === 'bind') this.#evaluateUnless(life, kind);
      return;
    }
    const { clock, log } = this.#options;
    const { namespace, name } = life.pod;
    log.warn('pod step failed', {
      pod: `${namespace}/${name}`,
      step: kind,
      error: errorOf(error),
    });
    const wait = Math.min(longestRetry, firstRetry * 2 ** Math.min(life.failures, 10));
    life.failures += 1;
    life.notBefore = monotonic(clock.monotonic() + wait);
    this.#evaluate(life);
  }

  #evaluateUnless(life: PodLife, refused: StepKind): void {
    if (this.#nextStep(life)?.kind !== refused) this.#evaluate(life);
  }

  async #write(life: PodLife, kind: StepKind): Promise<boolean> {
    if (!this.#isAlive(life)) return false;
    if (kind === 'bind') return this.#bind(life);
    const hasStartupProbe = this.#options.behaviours.of(life.pod)?.behave === 'slowStart';
    await this.#writer.writeStatus(life, kind, hasStartupProbe);
    if (kind === 'stop') await this.#writer.remove(life);
    return true;
  }

  async #bind(life: PodLife): Promise<boolean> {
    const node = await this.#options.host.bind(life.pod, () => {
      life.isWaitingForNode = false;
      if (this.#isAlive(life)) this.#evaluate(life);
    });
    if (node === undefined) {
      life.isWaitingForNode = true;
      return false;
    }
    life.node = node;
    return true;
  }
}
