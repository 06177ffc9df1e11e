import { type Instant, instant, millis, seconds } from '#base/units.ts';
import type { PodAnswer, PodCall, PodHttp } from '#pod-http/pod-http.ts';
import type { DelayedDownscalePlan } from '#replica-coordination/delayed-downscale/delayed-downscale-snapshot.ts';
import { planDelay, preparationUse } from '#replica-coordination/delayed-downscale/plan-delay.ts';
import { PodPreparations } from '#replica-coordination/delayed-downscale/prepare-pods.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { createLogger, unbuffered } from '#telemetry/log/line-logger.ts';
import { FakeClock } from '../clocks/fake-clock.ts';
import { podView, readySince, statefulSetView, T0 } from '../objects/views.ts';
import { FakePodHttp } from '../pods/fake-pod-http.ts';
import { PodFleet } from '../pods/pod-fleet.ts';

/** What differs from the usual set: five replicas, a delay of one hour, five wanted. */
export interface BedOptions {
  /** @default 'ingester-zone-b' */
  readonly name?: string;
  /** @default 5 */
  readonly replicas?: number;
  /** @default the replicas */
  readonly wanted?: number;
  /** @default 0 */
  readonly ordinalsStart?: number;
  /** @default '1h' */
  readonly delay?: string;
  /** @default 'http://pod/prepare-delayed-downscale' */
  readonly url?: string;
  /** @default the name */
  readonly serviceName?: string;
}

/** A scale-down or scale-up that was carried out. */
export interface BedPatch {
  readonly at: Instant;
  readonly from: number;
  readonly to: number;
}

/** A call as it ended. */
export interface BedAnswer {
  readonly at: Instant;
  readonly pod: string;
  readonly method: string;
  readonly answer: PodAnswer;
}

/** Passes of one key without anything else; more than this at one time is a hot loop. */
const mostPasses = 20_000;

/**
 * One set with delayed down-scale, planned and carried out as its controller does it: a pass whenever answers came or
 * time has come, a write whenever the plan says so. Time stands still until {@link DelayedDownscaleBed.run}.
 */
export class DelayedDownscaleBed {
  readonly clock = new FakeClock(T0);
  readonly fleet = new PodFleet(this.clock);
  readonly patches: BedPatch[] = [];
  readonly answers: BedAnswer[] = [];
  readonly plans: Pick<DelayedDownscalePlan, 'verdict' | 'requeue'>[] = [];
  /** Pods by ordinal; those of new slots are ready at once. */
  readonly pods = new Map<number, PodView>();
  readonly logged: string[] = [];
  /** Whether the plan's writes are refused. */
  isRefusing = false;
  #set: StatefulSetView;
  #wanted: number;
  #timer: { cancel(): void } | undefined;
  #incarnation = 0;
  readonly #busy = new Set<string>();
  #preparations: PodPreparations;
  #process = new AbortController();

  constructor(options: BedOptions = {}) {
    const { name = 'ingester-zone-b', replicas = 5 } = options;
    const { delay = '1h', url = 'http://pod/prepare-delayed-downscale' } = options;
    this.#set = statefulSetView({
      name,
      annotations: {
        'grafana.com/rollout-mirror-replicas-from-resource-name': 'test',
        'grafana.com/rollout-mirror-replicas-from-resource-kind': 'CustomResource',
        'grafana.com/rollout-mirror-replicas-from-resource-api-version': 'my.group/v1',
        'grafana.com/rollout-delayed-downscale': delay,
        'grafana.com/rollout-prepare-delayed-downscale-url': url,
      },
      spec: {
        replicas,
        ordinalsStart: options.ordinalsStart ?? 0,
        serviceName: options.serviceName ?? name,
      },
    });
    this.#wanted = options.wanted ?? replicas;
    this.#fillSlots();
    this.#preparations = this.#newPreparations();
    this.#wakeIn(0);
  }

  get set(): StatefulSetView {
    return this.#set;
  }

  /** Returns what the running process knows of its pods. */
  get preparations(): PodPreparations {
    return this.#preparations;
  }

  /** Returns what the last pass planned. */
  get plan(): Pick<DelayedDownscalePlan, 'verdict' | 'requeue'> {
    const plan = this.plans.at(-1);
    if (plan === undefined) throw new Error('no pass has run yet');
    return plan;
  }

  /** Returns the name of the pod in slot `ordinal`. */
  podName(ordinal: number): string {
    return `${this.#set.name}-${ordinal}`;
  }

  /** Makes the pods of these ordinals prepared since so many minutes. */
  prepared(minutesByOrdinal: Readonly<Record<number, number>>): this {
    for (const [ordinal, minutes] of Object.entries(minutesByOrdinal)) {
      const since = Math.floor(this.clock.now() / 1_000) - minutes * 60;
      this.fleet.prepare(this.podName(Number(ordinal)), since);
    }
    return this;
  }

  /** Wants another count, as a user or an autoscaler does. */
  want(wanted: number): void {
    this.#wanted = wanted;
    this.#wakeIn(0);
  }

  /** Replaces the pod of a slot by a new one; undefined: it goes and does not come back. */
  replacePod(ordinal: number, pod?: { readonly isReady: boolean }): void {
    if (pod === undefined) this.pods.delete(ordinal);
    else this.pods.set(ordinal, this.#newPod(ordinal, pod.isReady));
    this.#wakeIn(0);
  }

  /** Makes the pod of a slot ready. */
  makeReady(ordinal: number): void {
    const pod = this.pods.get(ordinal);
    if (pod !== undefined)
      this.pods.set(ordinal, podView({ ...pod, readySince, unready: undefined }));
    this.#wakeIn(0);
  }

  /** Has a new process take over: it knows nothing, and the calls of the old one are given up. */
  restart(): void {
    this.#process.abort();
    this.#process = new AbortController();
    this.#preparations = this.#newPreparations();
    this.#wakeIn(0);
  }

  /** Lets `span` milliseconds pass, and everything happen that falls into them. */
  async run(span = 0): Promise<this> {
    await this.clock.advance(span);
    return this;
  }

  /** Returns the last plan's verdict in short: `settled`, `scale 3`, or the reason of its hold. */
  verdict(): string {
    const { verdict } = this.plan;
    if (verdict.kind === 'scale') return `scale ${verdict.to}`;
    return verdict.kind === 'hold' ? verdict.because.reason : verdict.kind;
  }

  #newPreparations(): PodPreparations {
    const { clock, fleet } = this;
    return new PodPreparations({
      podHttp: this.#watched(new FakePodHttp({ fleet, clock, timeout: seconds(5) })),
      clock,
      log: createLogger({
        format: 'logfmt',
        level: 'debug',
        clock,
        sink: unbuffered((line) => void this.logged.push(line)),
      }),
      clusterDomain: 'cluster.local.',
      wake: () => this.#wakeIn(0),
    });
  }

  #wakeIn(delay: number): void {
    this.#timer?.cancel();
    this.#timer = this.clock.timer(millis(delay), () => this.#pass());
  }

  #pass(): void {
    if (this.plans.length >= mostPasses) throw new Error('the plan asks for pass after pass');
    const { clock, preparations } = this;
    const heard = preparations.of(this.#set.uid);
    const group = {
      takenAt: clock.monotonic(),
      preparations: new Map(heard === undefined ? [] : [[this.#set.uid, heard]]),
    };
    const set = { set: this.#set, pods: [...this.pods.values()] };
    const plan = planDelay(set, this.#wanted, { group, now: clock.now() });
    this.plans.push(plan);
    preparations.retain([preparationUse(this.#set)]);
    preparations.start(this.#set, plan.calls, this.#process.signal);
    if (plan.verdict.kind === 'scale' && !this.isRefusing) this.#scale(plan.verdict.to);
    else if (plan.requeue.kind === 'at') this.#wakeIn(plan.requeue.at - this.clock.now());
  }

  #scale(to: number): void {
    this.patches.push({ at: this.clock.now(), from: this.#set.spec.replicas, to });
    this.#set = statefulSetView({ ...this.#set, spec: { ...this.#set.spec, replicas: to } });
    this.#fillSlots();
    this.#wakeIn(0);
  }

  #fillSlots(): void {
    const { ordinalsStart, replicas } = this.#set.spec;
    for (const ordinal of this.pods.keys()) {
      if (ordinal >= ordinalsStart + replicas) this.pods.delete(ordinal);
    }
    for (let ordinal = ordinalsStart; ordinal < ordinalsStart + replicas; ordinal += 1) {
      if (!this.pods.has(ordinal)) {
        this.pods.set(ordinal, this.#newPod(ordinal, true));
      }
    }
  }

  #newPod(ordinal: number, isReady: boolean): PodView {
    this.#incarnation += 1;
    const uid = `uid-${ordinal}-${this.#incarnation}`;
    const name = this.podName(ordinal);
    return podView({ name, uid, readySince: isReady ? readySince : undefined });
  }

  /** Keeps what was answered, and sees to it that no pod has two calls at once. */
  #watched(inner: PodHttp): PodHttp {
    return {
      call: async (call: PodCall) => {
        if (this.#busy.has(call.url)) throw new Error(`two calls at once of ${call.url}`);
        this.#busy.add(call.url);
        const answer = await inner.call(call);
        this.#busy.delete(call.url);
        const pod = new URL(call.url).hostname.split('.')[0] ?? '';
        this.answers.push({ at: instant(this.clock.now()), pod, method: call.method, answer });
        return answer;
      },
      close: () => inner.close(),
    };
  }
}
