import type { Clock } from '#base/clock.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after, type Instant, type Millis, millis, seconds } from '#base/units.ts';
import type { Requeue } from '#control/decision/decision.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import { integerAt, objectAt } from '#statefulset/parse-fields.ts';
import type { RolloutView } from '../parse-resource.ts';
import { isTerminal } from '../progress.ts';
import { tellRollout } from '../rollout-reasons.ts';

/** How old a partial rollout is when that is reported first. */
export const usualAging: Millis = seconds(86_400);
/** How long until it is reported again. */
const toldAgainAfter: Millis = seconds(86_400);

/** Returns the time from which `rollout` has been over, where its percentage left old pods; undefined where none is left. */
export function partialSince({ spec, progress, writtenStatus }: RolloutView): Instant | undefined {
  if (spec.kind === 'invalid' || spec.value.percent === 100) return undefined;
  if (!isTerminal(progress.phase)) return undefined;
  const replicas = integerAt(writtenStatus, 'replicas') ?? 0;
  const updated = integerAt(objectAt(writtenStatus, 'rollout'), 'updatedReplicas') ?? replicas;
  return updated < replicas ? progress.finishedAt : undefined;
}

function spanText(span: Millis): string {
  const whole = Math.floor(span / 60_000);
  return whole < 60 ? `${whole} min` : `${Math.floor(whole / 60)} h`;
}

/** What {@link PartialAging} goes through. */
export interface PartialAgingPorts {
  readonly clock: Pick<Clock, 'now'>;
  readonly events: EventRecorder;
  /** How old a partial rollout may grow; 0: that is never reported. */
  readonly limit: Millis;
}

/** Tells daily of rollouts that were left partial for long: whatever pod is lost comes back new (B-89). */
export class PartialAging {
  readonly #ports: PartialAgingPorts;
  /** What was reported last, by uid of the resource. */
  readonly #told = new Map<string, { readonly since: Instant; readonly at: Instant }>();

  constructor(ports: PartialAgingPorts) {
    this.#ports = ports;
  }

  /** Tells of `rollout` if that is due. @returns when it is due next */
  look(rollout: RolloutView): Requeue {
    const { clock, limit } = this.#ports;
    const since = partialSince(rollout);
    if (since === undefined || limit === 0) {
      this.#told.delete(rollout.uid);
      return { kind: 'await-change' };
    }
    const told = this.#told.get(rollout.uid);
    const now = clock.now();
    const due = told?.since === since ? after(told.at, toldAgainAfter) : after(since, limit);
    if (due > now) return { kind: 'at', at: due };
    this.#told.set(rollout.uid, { since, at: now });
    this.#tell(rollout, since);
    return { kind: 'at', at: after(now, toldAgainAfter) };
  }

  #tell(rollout: RolloutView, since: Instant): void {
    const { clock, events } = this.#ports;
    const message = `partial for ${spanText(millis(clock.now() - since))}, since ${formatUtcSeconds(since)}: an old pod that is lost comes back new`;
    tellRollout(rollout, { reason: 'PartialRolloutAging', message }, events);
  }

  forget(uid: string): void {
    this.#told.delete(uid);
  }
}
