import { after, millis, monotonic } from '#base/units.ts';
import { isViewError } from '#control/consistent-read/view-error.ts';
import type { Requeue } from '#control/decision/decision.ts';
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
import type { UpdateView } from './parse-resource.ts';
import { parseKey } from './reconcile/update-moment.ts';
import { UpdatePass, type UpdatePassEnd, type UpdatePassPorts } from './reconcile/update-pass.ts';
import { ofZoneAwareUpdates } from './update-reasons.ts';

/** What reconciling ZoneAwareUpdates goes through; what it remembers is its own. */
export interface UpdateReconcilerPorts extends UpdatePassPorts {
  readonly queue: Pick<WorkQueue, 'add' | 'addAfter'>;
}

type Ended = Extract<UpdatePassEnd, { kind: 'ended' }>;

interface Said {
  readonly reason: string;
  readonly message: string;
}

const awaitChange: Requeue = { kind: 'await-change' };

function isAsking(reason: string): boolean {
  return reason === 'AwaitingAlarm' || reason === 'AwaitingQuery';
}

/** Reconciles ZoneAwareUpdates one at a time each, and tells what they wait for. */
export class UpdateReconciler {
  readonly #ports: UpdateReconcilerPorts;
  readonly #reporter: PlanReporter;
  /** uid of each, by key, so that what is kept of it can be forgotten when it is gone. */
  readonly #uids = new Map<string, string>();

  constructor(ports: UpdateReconcilerPorts) {
    this.#ports = ports;
    const { clock, log, events } = ports;
    this.#reporter = new PlanReporter({ clock, log, events, about: ofZoneAwareUpdates });
  }

  /** Runs one pass over the ZoneAwareUpdate `key`. @throws a fault of this program, or a view that cannot be trusted (D-6) */
  async reconcile(key: string, signal: AbortSignal): Promise<PassResult> {
    try {
      const end = await new UpdatePass(key, this.#ports).run(signal);
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
    return this.#ports.open.unansweredPods().length > 0;
  }

  #ended(key: string, { update, holds, requeue, ended }: Ended): PassResult {
    this.#uids.set(key, update.uid);
    for (const each of ended) this.#deletionEnded(key, each);
    // Alarm and query are asked again every 10 s while they pause: that is not new, and what they said last is not over.
    if (holds.some(({ reason }) => isAsking(reason))) return { kind: 'ended', requeue };
    const due = this.#report(key, update, holds);
    return { kind: 'ended', requeue: due === undefined ? requeue : sooner(requeue, due) };
  }

  #deletionEnded(key: string, { end }: EndedDeletion): void {
    const { queue, clock, refusals } = this.#ports;
    const now = clock.monotonic();
    switch (end.kind) {
      case 'deleted':
        refusals.recovered(key, now);
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

  /** Reports the outcome. @returns when something is to be reported again although nothing changes */
  #report(
    key: string,
    { namespace, name, uid }: UpdateView,
    said: readonly Said[],
  ): Requeue | undefined {
    const { clock, statefulSets, pods, updates } = this.#ports;
    const set = { namespace, name, uid };
    // What may be missing in the view comes first: whatever else is said rests on it.
    const stale = [updates, statefulSets, pods]
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
    const update = this.#ports.updates.lister.get(namespace, name);
    if (update !== undefined) this.#report(key, update, [because]);
  }

  #forget(key: string): PassResult {
    const { questions, refusals, budgets, writes } = this.#ports;
    questions.alarm.forget(key);
    questions.query.forget(key);
    refusals.forget(key);
    budgets.wants(key, new Set());
    const uid = this.#uids.get(key);
    if (uid !== undefined) writes.forget(uid);
    this.#uids.delete(key);
    this.#reporter.forget(key);
    return { kind: 'ended', requeue: awaitChange };
  }
}
