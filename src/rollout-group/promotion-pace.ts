import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after, millis } from '#base/units.ts';
import type { Decision, Plan } from '#control/decision/decision.ts';
import { because } from '#control/decision/refs.ts';
import type { GroupMoment } from '#control/plan/group-moment.ts';
import { sooner } from '#control/plan/group-plan.ts';
import { WriteAttempts } from '#control/write/write-attempts.ts';

type Moment = Pick<GroupMoment, 'now' | 'monotonic'>;
type SetCurrentRevision = Extract<Decision, { kind: 'set-current-revision' }>;

/** How soon a current revision is written again that another client keeps changing back: ever later, and reported. */
export class PromotionPaces {
  readonly #attempts = new WriteAttempts<string>();

  /** Notes that the revision was stored. */
  written({ set, from, to }: SetCurrentRevision, { now, monotonic: at }: Moment): void {
    this.#attempts.sweep(at);
    this.#attempts.written({ key: set.uid, to, at }, (writes, wait) => {
      const message =
        `status.currentRevision of ${set.name} was set to ${to} ${writes} times, and another client changes it back to ` +
        `${from}; it is written again at ${formatUtcSeconds(after(now, wait))}`;
      return because('RevisionContested', message);
    });
  }

  /** Returns `plan` with a hold in place of each revision that may not be written again yet; what else it does goes on. */
  held(plan: Plan, { now, monotonic: at }: Moment): Plan {
    let held = plan;
    for (const decision of plan.decisions) {
      if (decision.kind !== 'set-current-revision') continue;
      const { set, to } = decision;
      const pause = this.#attempts.of(set.uid, at);
      if (pause === undefined || pause.to !== to) continue;
      const until = after(now, millis(pause.until - at));
      const hold: Decision = { kind: 'hold', set, until, because: pause.because };
      const decisions = held.decisions.map((each) => (each === decision ? hold : each));
      held = { ...held, decisions, requeue: sooner(held.requeue, { kind: 'at', at: until }) };
    }
    return held;
  }
}
