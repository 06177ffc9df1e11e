import type { Because } from '#base/because.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { after, millis } from '#base/units.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Cached, Informer } from '#kubernetes/informer/informer.ts';
import { parseObjectKey } from '#kubernetes/object-key.ts';
import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isNotFound,
  isRequestFailure,
} from '#kubernetes/transport/api-error.ts';
import { isViewError } from '../consistent-read/view-error.ts';
import type { Requeue } from '../decision/decision.ts';
import { PlanReporter, type ReportSubject } from '../decision/report-plan.ts';
import { sooner } from '../plan/group-plan.ts';
import type { PassResult } from '../run-controller.ts';
import type { OpenDisruptions } from '../write/open-disruptions.ts';
import { OverruledError, type PodDeletions } from '../write/pod-deletions.ts';
import type { Refusals } from '../write/refusals.ts';
import { isGivenUp } from '../write/unless-sent.ts';
import type { EndedPass, ResourcePassEnd } from './resource-pass.ts';

/** What reconciling custom resources goes through, whatever their kind. */
export interface ResourceReconcilerPorts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly statefulSets: Pick<Informer<Cached>, 'staleness'>;
  readonly pods: Pick<Informer<Cached>, 'staleness'>;
  readonly refusals: Refusals;
  readonly open: OpenDisruptions;
  readonly deletions: PodDeletions;
}

/** The passes of one capability over its resources, and what it remembers from one to the next. */
export interface ResourcePasses<T extends Cached, Ended extends EndedPass<T> = EndedPass<T>> {
  /** The kind of the resources, as reports name them. */
  readonly about: ReportSubject;
  readonly resources: Pick<Informer<T>, 'lister' | 'staleness' | 'onState'>;
  /** Runs one pass. @throws what a request fails with, OverruledError, an error of the view, or a fault of this program */
  run(key: string, signal: AbortSignal): Promise<ResourcePassEnd<T, Ended>>;
  /**
   * Reports whether a pass is only one on the way to the next, which says what is waited for: what was reported before is not
   * over by it (D-54).
   */
  isPassing?(end: Ended): boolean;
  /** Tells what else is due of `resource`. @returns when it is looked at again for that */
  remind?(resource: T): Requeue;
  /** Forgets the resource `key`, which is gone; its uid, where a pass has seen it. */
  forget(key: string, uid: string | undefined): void;
}

const awaitChange: Requeue = { kind: 'await-change' };

/** Reconciles the resources of one kind, one pass at a time each, and says what they wait for. */
export class ResourceReconciler<T extends Cached, Ended extends EndedPass<T>> {
  readonly #ports: ResourceReconcilerPorts;
  readonly #passes: ResourcePasses<T, Ended>;
  readonly #reporter: PlanReporter;
  /** uid of each, by key, so that what is kept of it can be forgotten when it is gone. */
  readonly #uids = new Map<string, string>();

  constructor(ports: ResourceReconcilerPorts, passes: ResourcePasses<T, Ended>) {
    const { clock, log, events } = ports;
    this.#ports = ports;
    this.#passes = passes;
    this.#reporter = new PlanReporter({ clock, log, events, about: passes.about });
  }

  /** Runs one pass over the resource `key`. @throws a fault of this program, or a view that cannot be trusted (D-6) */
  async reconcile(key: string, signal: AbortSignal): Promise<PassResult> {
    try {
      const end = await this.#passes.run(key, signal);
      return end.kind === 'gone' ? this.#forget(key) : this.#ended(key, end);
    } catch (error) {
      return this.#failed(key, error, signal);
    }
  }

  /** Resolves when no deletion is under way. */
  async idle(): Promise<void> {
    await this.#ports.deletions.idle();
  }

  /** Reports whether a deletion was sent that may still take effect and has an unknown outcome. */
  hasUnanswered(): boolean {
    return this.#ports.open.unansweredPods().length > 0;
  }

  #ended(key: string, end: Ended): PassResult {
    const { resource, holds, requeue } = end;
    this.#uids.set(key, resource.uid);
    if (this.#passes.isPassing?.(end) === true) return { kind: 'ended', requeue };
    const due = sooner(requeue, this.#report(key, resource, holds));
    const reminded = this.#passes.remind?.(resource) ?? awaitChange;
    return { kind: 'ended', requeue: sooner(due, reminded) };
  }

  /** Reports the outcome. @returns when something is to be reported again although nothing changes */
  #report(key: string, { namespace, name, uid }: T, said: readonly Because[]): Requeue {
    const { clock, statefulSets, pods } = this.#ports;
    const set = { namespace, name, uid };
    // What may be missing in the view comes first: whatever else is said rests on it.
    const stale = [this.#passes.resources, statefulSets, pods]
      .flatMap(({ staleness }) => staleness ?? [])
      .map(({ message }) => ({ reason: 'ViewNotFresh', message }));
    const holds = [...stale.slice(0, 1), ...said];
    const reported = holds.map((because) => ({ kind: 'hold', set, because }));
    const due = this.#reporter.report(key, reported);
    if (due === undefined) return awaitChange;
    return { kind: 'at', at: after(clock.now(), millis(due - clock.monotonic())) };
  }

  #failed(key: string, error: unknown, signal: AbortSignal): PassResult {
    if (isGivenUp(error, signal)) return { kind: 'ended', requeue: awaitChange };
    const retry: PassResult = { kind: 'retry', retryAfter: undefined };
    if (hasMoved(error)) return retry;
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

  #say(key: string, because: Because): void {
    const { namespace, name } = parseObjectKey(key);
    const resource = this.#passes.resources.lister.get(namespace, name);
    if (resource !== undefined) this.#report(key, resource, [because]);
  }

  #forget(key: string): PassResult {
    this.#ports.refusals.forget(key);
    this.#passes.forget(key, this.#uids.get(key));
    this.#uids.delete(key);
    this.#reporter.forget(key);
    return { kind: 'ended', requeue: awaitChange };
  }
}

/** Reports whether `error` says that the world has moved: what to do now is found out by another look. */
export function hasMoved(error: unknown): boolean {
  return (
    error instanceof OverruledError ||
    isConflict(error) ||
    isNotFound(error) ||
    isAlreadyExists(error)
  );
}
