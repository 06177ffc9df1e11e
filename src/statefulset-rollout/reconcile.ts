import { after, millis, monotonic } from '#base/units.ts';
import { isViewError } from '#control/consistent-read/view-error.ts';
import type { Requeue } from '#control/decision/decision.ts';
import { PlanReporter } from '#control/decision/report-plan.ts';
import { sooner } from '#control/plan/group-plan.ts';
import type { PassResult } from '#control/run-controller.ts';
import { OverruledError } from '#control/write/pod-deletions.ts';
import { isGivenUp } from '#control/write/unless-sent.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isNotFound,
  isRequestFailure,
} from '#kubernetes/transport/api-error.ts';
import type { ReconcileOutcome } from '#telemetry/metrics/rollout-metrics.ts';
import type { PartialAging } from './events/partial-aging.ts';
import type { RolloutView } from './parse-resource.ts';
import { parseKey } from './reconcile/rollout-moment.ts';
import {
  type RolloutPassEnd,
  type RolloutPassPorts,
  RolloutPassRun,
} from './reconcile/rollout-pass.ts';
import { ofStatefulsetRollouts } from './rollout-reasons.ts';

/** What reconciling StatefulsetRollouts goes through; what it remembers is its own. */
export interface RolloutReconcilerPorts extends RolloutPassPorts {
  readonly queue: Pick<WorkQueue, 'add' | 'addAfter'>;
  readonly aging: PartialAging;
}

type Ended = Extract<RolloutPassEnd, { kind: 'ended' }>;

interface Said {
  readonly reason: string;
  readonly message: string;
}

const awaitChange: Requeue = { kind: 'await-change' };

/** Reconciles StatefulsetRollouts one at a time each, and tells what they wait for. */
export class RolloutReconciler {
  readonly #ports: RolloutReconcilerPorts;
  readonly #reporter: PlanReporter;
  /** uid of each, by key, so that what is kept of it can be forgotten when it is gone. */
  readonly #uids = new Map<string, string>();

  constructor(ports: RolloutReconcilerPorts) {
    this.#ports = ports;
    const { clock, log, events } = ports;
    this.#reporter = new PlanReporter({ clock, log, events, about: ofStatefulsetRollouts });
  }

  /** Runs one pass. @throws a fault of this program, or a view that went back */
  async reconcile(key: string, signal: AbortSignal): Promise<PassResult> {
    const { clock, witness } = this.#ports;
    const begun = clock.monotonic();
    const end = (outcome: ReconcileOutcome): void =>
      witness.reconciled(parseKey(key), outcome, millis(clock.monotonic() - begun));
    try {
      const pass = await new RolloutPassRun(key, this.#ports).run(signal);
      if (pass.kind === 'gone') return this.#forget(key);
      end('ended');
      return this.#ended(key, pass);
    } catch (error) {
      end(outcomeOf(error, signal));
      return this.#failed(key, error, signal);
    }
  }

  /** Resolves when no deletion and no call is under way; calls are given up. */
  async idle(): Promise<void> {
    await Promise.all([this.#ports.deletions.idle(), this.#ports.callbacks.close()]);
  }

  /** Reports whether something was sent that may take effect yet, and whose outcome nobody knows. */
  hasUnanswered(): boolean {
    return this.#ports.open.unansweredPods().length > 0;
  }

  #ended(key: string, { rollout, holds, requeue }: Ended): PassResult {
    this.#uids.set(key, rollout.uid);
    this.#ports.refusals.recovered(key, this.#ports.clock.monotonic());
    const due = this.#report(key, rollout, holds);
    const aging = this.#ports.aging.look(rollout);
    const next = due === undefined ? requeue : sooner(requeue, due);
    return { kind: 'ended', requeue: sooner(next, aging) };
  }

  /** Reports the outcome. @returns when something is to be reported again although nothing changes */
  #report(
    key: string,
    { namespace, name, uid }: RolloutView,
    said: readonly Said[],
  ): Requeue | undefined {
    const { clock, statefulSets, pods, rollouts } = this.#ports;
    const set = { namespace, name, uid };
    // What may be missing in the view comes first: whatever else is said rests on it.
    const stale = [rollouts, statefulSets, pods]
      .flatMap(({ staleness }) => staleness ?? [])
      .map(({ message }) => ({ reason: 'ViewNotFresh', message }));
    const holds = [...stale.slice(0, 1), ...said];
    const due = this.#reporter.report(
      key,
      holds.map((because) => ({ kind: 'hold', set, because })),
    );
    if (due === undefined) return undefined;
    return { kind: 'at', at: after(clock.now(), millis(monotonic(due) - clock.monotonic())) };
  }

  #failed(key: string, error: unknown, signal: AbortSignal): PassResult {
    if (isGivenUp(error, signal)) return { kind: 'ended', requeue: awaitChange };
    const retry: PassResult = { kind: 'retry', retryAfter: undefined };
    // The world has moved: what to do now is found out by another look.
    if (error instanceof OverruledError || isMoved(error)) return retry;
    if (isViewError(error)) {
      this.#say(key, { reason: 'ViewNotFresh', message: error.message });
      return retry;
    }
    if (!isRequestFailure(error)) throw error;
    this.#ports.refusals.failed(key, error, this.#ports.clock.monotonic());
    this.#say(key, { reason: 'RequestRefused', message: error.message });
    const retryAfter = error instanceof ApiError ? error.retryAfter : undefined;
    return { kind: 'retry', retryAfter };
  }

  #say(key: string, because: Said): void {
    const { namespace, name } = parseKey(key);
    const rollout = this.#ports.rollouts.lister.get(namespace, name);
    if (rollout !== undefined) this.#report(key, rollout, [because]);
  }

  #forget(key: string): PassResult {
    const { refusals, writes, sights, evictions, held } = this.#ports;
    const { slack, discovery, witness, aging, callbacks } = this.#ports;
    refusals.forget(key);
    held.forget(key);
    discovery.forget(key);
    const uid = this.#uids.get(key);
    if (uid !== undefined) {
      writes.forget(uid);
      sights.forget(uid);
      evictions.forget(uid);
      slack.forget(uid);
      callbacks.forget(uid);
      aging.forget(uid);
    }
    witness.forget(parseKey(key), uid);
    this.#uids.delete(key);
    this.#reporter.forget(key);
    return { kind: 'ended', requeue: awaitChange };
  }
}

function outcomeOf(error: unknown, signal: AbortSignal): ReconcileOutcome {
  const isNoFailure = isGivenUp(error, signal) || error instanceof OverruledError;
  if (isNoFailure || isMoved(error) || isViewError(error)) return 'retried';
  return isRequestFailure(error) ? 'failed' : 'faulty';
}

function isMoved(error: unknown): boolean {
  return isConflict(error) || isNotFound(error) || isAlreadyExists(error);
}
