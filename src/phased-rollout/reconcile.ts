import { after, type Monotonic, millis, monotonic, seconds } from '#base/units.ts';
import { isViewError } from '#control/consistent-read/view-error.ts';
import type { DeletePod, Requeue } from '#control/decision/decision.ts';
import { PlanReporter } from '#control/decision/report-plan.ts';
import { sooner } from '#control/plan/group-plan.ts';
import type { PassResult } from '#control/run-controller.ts';
import { type EndedDeletion, OverruledError } from '#control/write/pod-deletions.ts';
import { isGivenUp } from '#control/write/unless-sent.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import {
  ApiError,
  isConflict,
  isNotFound,
  isRequestFailure,
} from '#kubernetes/transport/api-error.ts';
import type { RolloutView } from './parse-resource.ts';
import { ofPhasedRollouts } from './phased-reasons.ts';
import type { RememberedCheck } from './plan/plan-decision.ts';
import { parseKey } from './reconcile/phased-moment.ts';
import { PhasedPass, type PhasedPassEnd, type PhasedPassPorts } from './reconcile/phased-pass.ts';
import { rolloutRef } from './reconcile/phased-writes.ts';

/** What reconciling PhasedRollouts goes through; what it remembers is its own. */
export interface PhasedReconcilerPorts
  extends Omit<PhasedPassPorts, 'memories' | 'deletionEnded' | 'partitionLost'> {
  readonly queue: Pick<WorkQueue, 'add' | 'addAfter'>;
}

type Ended = Extract<PhasedPassEnd, { kind: 'ended' }>;

interface Said {
  readonly reason: string;
  readonly message: string;
}

/** How long a request without an answer may still take effect (D-7). */
const answerHorizon = seconds(120);
const awaitChange: Requeue = { kind: 'await-change' };

/** Reconciles PhasedRollouts one at a time each, and tells what they wait for. */
export class PhasedReconciler {
  readonly #ports: PhasedReconcilerPorts;
  readonly #passPorts: PhasedPassPorts;
  readonly #reporter: PlanReporter;
  /** What the last plan of each remembered of its check, by key: errors are stored nowhere else. */
  readonly #memories = new Map<string, RememberedCheck>();
  /** When nothing that was sent, and not answered, can take effect any more. */
  #settledAt: Monotonic = monotonic(0);

  constructor(ports: PhasedReconcilerPorts) {
    this.#ports = ports;
    const { clock, log, events } = ports;
    this.#reporter = new PlanReporter({ clock, log, events, about: ofPhasedRollouts });
    this.#passPorts = {
      ...ports,
      memories: this.#memories,
      deletionEnded: (key, ended) => this.#deletionEnded(key, ended),
      partitionLost: (sentAt) => {
        this.#settledAt = monotonic(Math.max(this.#settledAt, sentAt + answerHorizon));
      },
    };
  }

  /** Runs one pass over the PhasedRollout `key`. @throws a fault of this program, or a view that cannot be trusted (D-6) */
  async reconcile(key: string, signal: AbortSignal): Promise<PassResult> {
    try {
      const end = await new PhasedPass(key, this.#passPorts).run(signal);
      if (end.kind === 'gone') return this.#forget(key);
      return this.#ended(key, end);
    } catch (error) {
      return this.#failed(key, error, signal);
    }
  }

  /** Resolves when no deletion is under way. */
  async idle(): Promise<void> {
    await this.#ports.deletions.idle();
  }

  /** Reports whether something was sent that may take effect yet, and whose outcome nobody knows. */
  hasUnanswered(): boolean {
    const { clock, open } = this.#ports;
    return clock.monotonic() < this.#settledAt || open.unansweredPods().length > 0;
  }

  #ended(key: string, end: Ended): PassResult {
    const { rollout, holds, plan, requeue } = end;
    if (plan?.memory !== undefined) this.#memories.set(key, plan.memory);
    else if (plan !== undefined) this.#memories.delete(key);
    if (this.#isPassing(end)) return { kind: 'ended', requeue };
    const due = this.#report(key, rollout, holds);
    return { kind: 'ended', requeue: due === undefined ? requeue : sooner(requeue, due) };
  }

  /**
   * Reports whether a pass is only one on the way to the next, which says what is waited for: what was reported before is not
   * over by it, else a wait for checks would be news after each of them (D-54).
   */
  #isPassing({ holds, plan, requeue }: Ended): boolean {
    if (holds.length > 0) return false;
    if (plan === undefined || plan.decisions.some(({ kind }) => kind === 'ask')) return true;
    return requeue.kind === 'at' && requeue.at <= this.#ports.clock.now();
  }

  /** Reports the outcome. @returns when something is to be reported again although nothing changes */
  #report(key: string, rollout: RolloutView, said: readonly Said[]): Requeue | undefined {
    const { clock, statefulSets, pods, rollouts } = this.#ports;
    const set = rolloutRef(rollout);
    // What may be missing in the view comes first: whatever else is said rests on it.
    const stale = [rollouts, statefulSets, pods]
      .flatMap(({ staleness }) => staleness ?? [])
      .map(({ message }) => ({ reason: 'ViewNotFresh', message }));
    const holds = [...stale.slice(0, 1), ...said];
    const reported = holds.map((because) => ({ kind: 'hold', set, because }));
    const due = this.#reporter.report(key, reported);
    if (due === undefined) return undefined;
    return { kind: 'at', at: after(clock.now(), millis(due - clock.monotonic())) };
  }

  #failed(key: string, error: unknown, signal: AbortSignal): PassResult {
    if (isGivenUp(error, signal)) return { kind: 'ended', requeue: awaitChange };
    const retry: PassResult = { kind: 'retry', retryAfter: undefined };
    // The world has moved: what to do now is found out by another look.
    if (error instanceof OverruledError || isConflict(error) || isNotFound(error)) return retry;
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

  #deletionEnded(key: string, { deletion, end }: EndedDeletion): void {
    const { queue, clock, refusals } = this.#ports;
    const now = clock.monotonic();
    switch (end.kind) {
      case 'deleted':
        refusals.recovered(key, now);
        this.#tellDeleted(key, deletion);
        return;
      case 'outrun':
        queue.addAfter(key, refusals.outrun(key, end.answer, now));
        return;
      case 'stale':
        refusals.stale(key, end.error, now);
        queue.add(key);
        return;
      case 'failed':
        refusals.failed(key, end.error, now);
        queue.add(key);
        return;
      default:
        end satisfies never;
    }
  }

  #tellDeleted(key: string, { set, because }: DeletePod): void {
    const { apiVersion, kind } = ofPhasedRollouts;
    const about = { apiVersion, kind, ...this.#refOf(key, set) };
    this.#ports.events.record({ about, type: 'Normal', ...because });
  }

  #refOf(
    key: string,
    { namespace }: { readonly namespace: string },
  ): ReturnType<typeof rolloutRef> {
    const { name } = parseKey(key);
    const uid = this.#ports.rollouts.lister.get(namespace, name)?.uid ?? '';
    return { namespace, name, uid };
  }

  #forget(key: string): PassResult {
    const { questions, seen, refusals, writePaces } = this.#ports;
    questions.forget(key);
    refusals.forget(key);
    this.#ports.budgets.wants(key, new Set());
    seen.forget(key);
    writePaces.forget(key);
    this.#memories.delete(key);
    this.#reporter.forget(key);
    return { kind: 'ended', requeue: awaitChange };
  }
}
