import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Instant, Monotonic } from '#base/units.ts';
import { applyScale } from '#control/apply-scale.ts';
import type { Basis } from '#control/basis.ts';
import type { Decision, Plan, Scale } from '#control/decision.ts';
import type { PlanReporter } from '#control/report-plan.ts';
import type { ScaleWrites } from '#control/scale-writes.ts';
import { ApiError, isOutcomeUnknown, isRequestFailure } from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { TransportError } from '#kubernetes/transport.ts';
import { parseGroupKey } from '#statefulset/group.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { WritePaces } from './write-pace.ts';

/** What writes of replicas go through. */
export interface ScaleWriterPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly writes: ScaleWrites;
  readonly paces: WritePaces;
  readonly reporter: PlanReporter;
  /** Has the group `key` planned again. */
  wake(key: string): void;
}

/** A plan that may be applied, and what it rests on. */
export interface ScaleWork {
  /** Of the group. */
  readonly key: string;
  readonly plan: Plan;
  readonly basis: Basis | undefined;
}

/** What came of the write of a plan. */
export type Written =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'scaled' }
  | { readonly kind: 'outdated' }
  | { readonly kind: 'refused'; readonly hold: Decision; readonly until: Instant };

/** Writes replicas, and knows afterwards what became of each write: stored, refused, or not known yet. */
export class ScaleWriter {
  readonly #ports: ScaleWriterPorts;

  constructor(ports: ScaleWriterPorts) {
    this.#ports = ports;
  }

  /** Writes the replicas that the plan has decided on, if any. */
  async write(work: ScaleWork, signal: AbortSignal): Promise<Written> {
    const scale = work.plan.decisions.find((decision) => decision.kind === 'scale');
    if (scale === undefined) return { kind: 'nothing' };
    const { clock, statefulSets, writes } = this.#ports;
    const { namespace, name } = scale.set;
    const before = statefulSets.lister.get(namespace, name)?.resourceVersion;
    const startedAt = clock.monotonic();
    try {
      const log = this.#ports.log.with({ group: parseGroupKey(work.key).group });
      const ports = { ...this.#ports, log };
      const outcome = await applyScale({ scale, basis: work.basis }, ports, signal);
      if (outcome.kind === 'outdated') return outcome;
      const { revision: answered, sentAt } = outcome;
      if (before !== undefined) statefulSets.freshness.ownWrite({ sentAt, before, answered });
      writes.answered(scale, answered);
      this.#ports.paces.written(scale, clock.now());
      this.#ports.reporter.tell(scale.set, scale.because);
      this.#wakeWhenSeen(work.key, answered, signal);
      return { kind: 'scaled' };
    } catch (error) {
      if (!isRequestFailure(error)) throw error;
      const hasMoved = await this.#settle({ scale, error, startedAt }, signal);
      return hasMoved ? { kind: 'outdated' } : this.#refused(work.key, scale, error);
    }
  }

  /** Finds out whether a write that failed was stored all the same (reliability.md rule 7). @returns whether it was */
  async #settle(
    failed: { readonly scale: Scale; readonly error: Error; readonly startedAt: Monotonic },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { scale, error, startedAt } = failed;
    const { client, writes } = this.#ports;
    if (!isOutcomeUnknown(error)) return false;
    if (isWithoutAnswer(error)) {
      writes.unanswered(scale, startedAt);
      return false;
    }
    try {
      const { namespace, name, uid } = scale.set;
      const set = await client.get(resourceTypes.statefulSets, { namespace, name }, { signal });
      const isSame = set.metadata.uid === uid && parseStatefulSet(set).spec.replicas === scale.from;
      if (!isSame) writes.answered(scale, set.metadata.resourceVersion);
      return !isSame;
    } catch (failure) {
      if (!isRequestFailure(failure)) throw failure;
      writes.unanswered(scale, startedAt);
      return false;
    }
  }

  #refused(key: string, scale: Scale, error: Error): Written {
    const { log, clock } = this.#ports;
    const { group } = parseGroupKey(key);
    log.warn('scaling step failed', { group, err: error });
    const { until, because } = this.#ports.paces.refused(scale, error.message, clock.now());
    return { kind: 'refused', until, hold: { kind: 'hold', set: scale.set, until, because } };
  }

  /** The pass that follows a write needs the cache to show it; nothing else may wake the group by then. */
  #wakeWhenSeen(key: string, revision: string, signal: AbortSignal): void {
    const { statefulSets } = this.#ports;
    statefulSets.freshness.whenSeen(revision, signal).then(
      () => this.#ports.wake(key),
      () => undefined,
    );
  }
}

/** Whether the request may still be under way; an answer, whatever it says, ends it. */
function isWithoutAnswer(error: Error): boolean {
  if (error instanceof TransportError) return error.failure !== 'not-sent';
  return error instanceof ApiError && error.status === 504;
}
