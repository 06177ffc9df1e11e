import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Monotonic } from '#base/units.ts';
import type { Scale } from '#control/decision/decision.ts';
import type { Carrying } from '#control/plan/group-capability.ts';
import { applyScale } from '#control/write/apply-scale.ts';
import type { ScaleWrites } from '#control/write/scale-writes.ts';
import { isGivenUp } from '#control/write/unless-sent.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError, isOutcomeUnknown, isRequestFailure } from '#kubernetes/transport/api-error.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import { parseGroupKey } from '#statefulset/group.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { PacedWrite, PaceMoment, WritePaces } from './write-pace.ts';

/** What writes of replicas go through. */
export interface ScaleWriterPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly writes: ScaleWrites;
  readonly paces: WritePaces;
  /** Has the group `key` planned again. */
  wake(key: string): void;
}

/** What came of a write: `refused` is remembered as a pace, and reported by the next plan. */
export type Written = 'scaled' | 'outdated' | 'refused';

/** Races for the replicas of one state of a set that are lost before that is reported. */
const freeRaces = 2;

/** Writes replicas, and knows afterwards what became of each write: stored, refused, or not known yet. */
export class ScaleWriter {
  readonly #ports: ScaleWriterPorts;
  /** Writes in a row that found another set than the cache shows, by uid of the set. */
  readonly #races = new Map<string, { readonly revision: string; readonly count: number }>();

  constructor(ports: ScaleWriterPorts) {
    this.#ports = ports;
  }

  /** Writes the replicas that were decided on, if they still are at the instant of sending. */
  async write(scale: Scale, carrying: Carrying, signal: AbortSignal): Promise<Written> {
    const { clock, statefulSets, writes } = this.#ports;
    const { key, tell } = carrying;
    const { namespace, name } = scale.set;
    const before = statefulSets.lister.get(namespace, name)?.resourceVersion;
    let leftAt: Monotonic | undefined;
    // Asked exactly when the request leaves; how long it waited for that says nothing of when it lands.
    const approve: Carrying['approve'] = (wanted) => {
      const basis = carrying.approve(wanted);
      leftAt = clock.monotonic();
      return basis;
    };
    try {
      const log = this.#ports.log.with({ group: parseGroupKey(key).group });
      const outcome = await applyScale(scale, { ...this.#ports, log, approve }, signal);
      if (outcome.kind === 'outdated') return this.#outdated(key, scale, outcome.answer);
      this.#races.delete(scale.set.uid);
      const { revision: answered, sentAt } = outcome;
      if (before !== undefined) statefulSets.freshness.ownWrite({ sentAt, before, answered });
      writes.answered(scale, answered);
      this.#ports.paces.written(pacedWrite(scale), this.#moment());
      tell(scale.set, scale.because);
      this.#wakeWhenSeen(key, answered, signal);
      return 'scaled';
    } catch (error) {
      // What the end of this process kept from leaving was not refused.
      if (!isRequestFailure(error) || isGivenUp(error, signal)) throw error;
      const hasMoved = await this.#settle({ scale, error, leftAt }, signal);
      if (hasMoved) return 'outdated';
      this.#refused(key, scale, error);
      return 'refused';
    }
  }

  /** Finds out whether a write that failed was stored all the same, as an error of the network says nothing of it. @returns whether it was */
  async #settle(
    failed: {
      readonly scale: Scale;
      readonly error: Error;
      /** When it left; undefined: it never did. */
      readonly leftAt: Monotonic | undefined;
    },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { scale, error, leftAt } = failed;
    const { client, writes } = this.#ports;
    if (leftAt === undefined || !isOutcomeUnknown(error)) return false;
    if (isWithoutAnswer(error)) {
      writes.unanswered(scale, leftAt);
      return false;
    }
    try {
      const { namespace, name, uid } = scale.set;
      const set = await client.get(resourceTypes.statefulSets, { namespace, name }, { signal });
      const isSame = set.metadata.uid === uid && parseStatefulSet(set).spec.replicas === scale.from;
      if (!isSame) {
        writes.answered(scale, set.metadata.resourceVersion);
        return true;
      }
      // That it was not stored yet says nothing: a balancer may have given up what it had passed on.
      writes.unanswered(scale, leftAt);
      return false;
    } catch (failure) {
      if (!isRequestFailure(failure)) throw failure;
      writes.unanswered(scale, leftAt);
      return false;
    }
  }

  /** Once or twice is nothing unusual; a set that the cache goes on to show as it was decided on is reported as refused. */
  #outdated(key: string, scale: Scale, answer: Error | undefined): Written {
    if (answer === undefined) return 'outdated';
    const { uid } = scale.set;
    const before = this.#races.get(uid);
    const count = before?.revision === scale.revision ? before.count + 1 : 1;
    this.#races.set(uid, { revision: scale.revision, count });
    if (count <= freeRaces) return 'outdated';
    this.#refused(key, scale, answer);
    return 'refused';
  }

  #refused(key: string, scale: Scale, error: Error): void {
    const { log, paces } = this.#ports;
    const { group } = parseGroupKey(key);
    log.warn('scaling step failed', { group, err: error });
    paces.refused(pacedWrite(scale), error.message, this.#moment());
  }

  #moment(): PaceMoment {
    const { clock } = this.#ports;
    return { now: clock.now(), at: clock.monotonic() };
  }

  /** Wakes the group when the cache shows a write: the pass that follows needs that, and nothing else may wake it by then. */
  #wakeWhenSeen(key: string, revision: string, signal: AbortSignal): void {
    const { statefulSets } = this.#ports;
    statefulSets.freshness.whenSeen(revision, signal).then(
      () => this.#ports.wake(key),
      () => undefined,
    );
  }
}

function pacedWrite({ set, from, to }: Scale): PacedWrite {
  return { key: set.uid, subject: set.name, from, to };
}

/** Reports whether the request may still be under way; an answer, whatever it says, ends it. */
function isWithoutAnswer(error: Error): boolean {
  if (error instanceof TransportError) return error.failure !== 'not-sent';
  return error instanceof ApiError && error.status === 504;
}
