import type { Clock } from '#base/clock.ts';
import type { Instant, Millis } from '#base/units.ts';
import type { MetricsRegistry } from '../metrics.ts';
import {
  declareRolloutOutside,
  declareRolloutStates,
  declareRolloutWork,
  type RolloutOutsideVectors,
  type RolloutStateVectors,
  type RolloutWorkVectors,
} from './rollout-vectors.ts';

/** Which StatefulsetRollout. */
export interface RolloutName {
  readonly namespace: string;
  readonly name: string;
}

const states = ['total', 'target', 'updated', 'ready', 'service_discovery', 'in_flight'] as const;

/** What the gauges of one StatefulsetRollout show. */
export interface RolloutFigures {
  /** One of those that the metrics were made with; undefined before it has one. */
  readonly phase: string | undefined;
  /** Undefined where the spec cannot be read. */
  readonly requested: number | undefined;
  readonly deployed: number;
  /** Those that are absent are not known. */
  readonly replicas: Readonly<Partial<Record<(typeof states)[number], number>>>;
  readonly leaked: number;
  /** Since when the rollout has been over, where it left old pods. */
  readonly partialSince: Instant | undefined;
}

const evictionResults = ['accepted', 'budget', 'throttled', 'gone', 'forbidden', 'error'] as const;

/** How an eviction ended that was sent. */
export type EvictionResult = (typeof evictionResults)[number];

const results = ['done', 'failed'] as const;

/** How a rollout ended. */
export interface RolloutCompletion {
  readonly result: (typeof results)[number];
  readonly isRollback: boolean;
  /** Pauses left out; undefined where it never began. */
  readonly duration: Millis | undefined;
}

const outcomes = ['ended', 'retried', 'failed', 'faulty'] as const;

/** How a reconcile ended: well, to be tried again as the world had moved, by a failed request, or by a fault of ours. */
export type ReconcileOutcome = (typeof outcomes)[number];

/** What {@link RolloutMetrics} needs to know. */
export interface RolloutMetricsOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** All that there are. */
  readonly phases: readonly string[];
}

/** The metrics of StatefulsetRollouts (G-1…G-6); series of what is gone go (G-7). */
export class RolloutMetrics {
  readonly #options: RolloutMetricsOptions;
  readonly #states: RolloutStateVectors;
  readonly #work: RolloutWorkVectors;
  readonly #outside: RolloutOutsideVectors;
  /** All that have a series, by key. */
  readonly #shown = new Map<string, RolloutName>();
  readonly #partialSince = new Map<string, Instant>();
  #depth: (() => number) | undefined;
  #consulAge: (() => Millis | undefined) | undefined;

  /** Declares the metrics in `registry`. @throws when that was done before, which is a bug */
  constructor(registry: MetricsRegistry, options: RolloutMetricsOptions) {
    this.#options = options;
    this.#states = declareRolloutStates(registry, { showAges: () => this.#showAges() });
    this.#work = declareRolloutWork(registry, { showQueue: () => this.#showQueue() });
    const showConsulAge = (): void => this.#showConsulAge();
    this.#outside = declareRolloutOutside(registry, { showConsulAge });
    // Those without labels would be 0 from the beginning.
    this.#work.queue.remove({});
    this.#outside.consulAge.remove({});
  }

  /** Shows `figures` of one of them, in place of what was shown. */
  show(of: RolloutName, figures: RolloutFigures): void {
    const labels = this.#labelsOf(of);
    const { phase, requested, deployed, replicas, leaked, partialSince } = figures;
    for (const each of this.#options.phases) {
      this.#states.phase.set({ ...labels, phase: each }, Number(each === phase));
    }
    if (requested === undefined) this.#states.requested.remove(labels);
    else this.#states.requested.set(labels, requested);
    this.#states.deployed.set(labels, deployed);
    this.#states.leaked.set(labels, leaked);
    for (const state of states) {
      const count = replicas[state];
      if (count === undefined) this.#states.replicas.remove({ ...labels, state });
      else this.#states.replicas.set({ ...labels, state }, count);
    }
    if (partialSince === undefined) this.#hideAge(labels);
    else this.#partialSince.set(keyOf(of), partialSince);
  }

  /** Shows how many pods the budget would let go. */
  setSlots(of: RolloutName, slots: number): void {
    this.#states.slots.set(this.#labelsOf(of), slots);
  }

  /** Counts an eviction that was sent. */
  evicted(of: RolloutName, result: EvictionResult): void {
    this.#work.evictions.add({ ...this.#labelsOf(of), result });
  }

  /** Counts evictions that were sent together; none is no batch. */
  batchSent(size: number): void {
    if (size > 0) this.#work.batches.observe({}, size);
  }

  /** Counts a rollout whose outcome is known. */
  completed(of: RolloutName, { result, isRollback, duration }: RolloutCompletion): void {
    const labels = this.#labelsOf(of);
    this.#work.completed.add({ ...labels, result, rollback: String(isRollback) });
    if (duration !== undefined) {
      this.#work.duration.observe({ ...labels, result }, duration / 1_000);
    }
  }

  /** Counts a pod whose successor is healthy. */
  rotated(of: RolloutName, duration: Millis): void {
    this.#work.rotation.observe(this.#labelsOf(of), duration / 1_000);
  }

  /** Counts a reconcile that ended. */
  reconciled(of: RolloutName, outcome: ReconcileOutcome, duration: Millis): void {
    const labels = this.#labelsOf(of);
    const isError = outcome === 'failed' || outcome === 'faulty';
    this.#work.reconciles.add({ ...labels, outcome });
    this.#work.errors.add(labels, Number(isError));
    this.#work.reconcileDuration.observe(labels, duration / 1_000);
  }

  /** Shows what `depth` returns, whenever it is asked. @param depth undefined: there is no queue any more */
  watchQueue(depth: (() => number) | undefined): void {
    this.#depth = depth;
    if (depth === undefined) this.#work.queue.remove({});
  }

  /** Counts a request to Slack that ended, such as `chat.update` with `ok`. */
  slackCalled(method: string, result: string): void {
    this.#outside.slack.add({ method, result });
  }

  /** Counts an answer of Slack that asked for patience. */
  slackLimited(): void {
    this.#outside.slackLimited.add({});
  }

  /** Counts a request to Consul that ended. */
  consulAsked(result: string): void {
    this.#outside.consul.add({ result });
  }

  /**
   * Shows what `age` returns, whenever it is asked.
   *
   * @param age since when Consul has reported nothing; undefined: it is not queried
   */
  watchConsul(age: (() => Millis | undefined) | undefined): void {
    this.#consulAge = age;
    if (age === undefined) this.#outside.consulAge.remove({});
  }

  /** Counts a callback that was tried. */
  callbackAttempted(result: string): void {
    this.#outside.callbacks.add({ result });
  }

  /** Shows nothing any more of one that is gone (G-7). */
  forget({ namespace, name }: RolloutName): void {
    const labels = { namespace, name };
    this.#shown.delete(keyOf(labels));
    const { requested, deployed, leaked, slots, phase, replicas } = this.#states;
    for (const gauge of [requested, deployed, leaked, slots]) gauge.remove(labels);
    for (const each of this.#options.phases) phase.remove({ ...labels, phase: each });
    for (const state of states) replicas.remove({ ...labels, state });
    this.#hideAge(labels);
    this.#forgetWork(labels);
  }

  /** Shows nothing any more of any of them, as by a process that does not lead. */
  forgetAll(): void {
    for (const each of this.#shown.values()) this.forget(each);
  }

  #forgetWork(labels: RolloutName): void {
    const { evictions, completed, duration, rotation, reconciles, errors, reconcileDuration } =
      this.#work;
    for (const result of evictionResults) evictions.remove({ ...labels, result });
    for (const result of results) {
      duration.remove({ ...labels, result });
      for (const rollback of ['true', 'false']) completed.remove({ ...labels, result, rollback });
    }
    for (const outcome of outcomes) reconciles.remove({ ...labels, outcome });
    for (const vector of [rotation, errors, reconcileDuration]) vector.remove(labels);
  }

  /** Returns the labels of one that has a series from now on. */
  #labelsOf({ namespace, name }: RolloutName): RolloutName {
    const labels = { namespace, name };
    this.#shown.set(keyOf(labels), labels);
    return labels;
  }

  #hideAge(labels: RolloutName): void {
    this.#partialSince.delete(keyOf(labels));
    this.#states.partialAge.remove(labels);
  }

  #showAges(): void {
    const now = this.#options.clock.now();
    for (const [key, since] of this.#partialSince) {
      const labels = this.#shown.get(key);
      if (labels === undefined) continue;
      this.#states.partialAge.set(labels, Math.max(0, now - since) / 1_000);
    }
  }

  #showQueue(): void {
    if (this.#depth !== undefined) this.#work.queue.set({}, this.#depth());
  }

  #showConsulAge(): void {
    const age = this.#consulAge?.();
    if (age === undefined) this.#outside.consulAge.remove({});
    else this.#outside.consulAge.set({}, age / 1_000);
  }
}

function keyOf({ namespace, name }: RolloutName): string {
  return `${namespace}/${name}`;
}
