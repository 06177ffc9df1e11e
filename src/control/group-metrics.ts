import type { Instant, Millis } from '#base/units.ts';
import type { SetProgress } from './decision.ts';
import type { Reason } from './reasons.ts';

/** What the passes over rollout groups report (ME-1…ME-4, ME-10, KW-6); `telemetry/` exposes it. */
export interface GroupMetrics {
  /** A pass begins; the group's failed counter and last-success gauge exist from now on (RC-20). */
  reconcileStarted(group: string): void;
  reconcileEnded(
    group: string,
    pass: { readonly isFailed: boolean; readonly took: Millis; readonly at: Instant },
  ): void;
  /** Replaces the reasons that hold the group; none when it does not wait for anything. */
  blocked(group: string, reasons: ReadonlySet<Reason>): void;
  progress(group: string, sets: readonly SetProgress[]): void;
  /** Drops all series of a group that is gone. */
  forget(group: string): void;
}
