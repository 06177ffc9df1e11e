import type { Logger } from '#base/logger.ts';
import type { EventRecorder } from '#kubernetes/event-recorder.ts';
import type { Decision, SetRef } from './decision.ts';
import { type Reason, reasonCatalogue } from './reasons.ts';

/** Where reports go. */
export interface ReportPorts {
  readonly events: EventRecorder;
  readonly log: Logger;
}

/**
 * Tells people what a plan does and waits for (LIVE-2, KW-6): an Event and a log line whenever what is said of a
 * set changes, never again while it stays the same.
 */
export class PlanReporter {
  readonly #ports: ReportPorts;
  /** What was said last, by key and then by set and reason. */
  readonly #said = new Map<string, ReadonlyMap<string, string>>();

  constructor(ports: ReportPorts) {
    this.#ports = ports;
  }

  /** Reports the decisions of the newest plan of `key`; what changes objects reports itself when it is done. */
  report(key: string, decisions: readonly Decision[]): void {
    const before = this.#said.get(key);
    if (decisions.length === 0 && (before === undefined || before.size === 0)) return;
    const now = new Map<string, string>();
    for (const decision of decisions) {
      if (reportsItself(decision)) continue;
      const { set, because } = decision;
      const subject = `${set.uid} ${because.reason}`;
      const text = decision.kind === 'warn' ? `${subject} ${because.message}` : subject;
      now.set(text, because.message);
      if (before === undefined || !before.has(text)) this.#tell(decision);
    }
    this.#said.set(key, now);
  }

  /** Forgets a key that is gone. */
  forget(key: string): void {
    this.#said.delete(key);
  }

  /** Reports one thing that was done, or could not be. */
  tell(set: SetRef, because: { readonly reason: Reason; readonly message: string }): void {
    const isWarning = reasonCatalogue[because.reason].kind === 'warn';
    this.#record(set, { ...because, isWarning });
  }

  #tell(decision: Decision): void {
    const { set, because } = decision;
    const isWarning = decision.kind === 'warn' || isAlarming(because.reason);
    const fields = { statefulset: set.name, reason: because.reason, because: because.message };
    if (isWarning) this.#ports.log.warn('rollout needs attention', fields);
    else this.#ports.log.info('rollout', fields);
    this.#record(set, { ...because, isWarning });
  }

  #record(
    set: SetRef,
    note: { readonly reason: Reason; readonly message: string; readonly isWarning: boolean },
  ): void {
    this.#ports.events.record({
      about: { apiVersion: 'apps/v1', kind: 'StatefulSet', ...set },
      type: note.isWarning ? 'Warning' : 'Normal',
      reason: note.reason,
      message: note.message,
    });
  }
}

/** Whether `decision` is told by who carries it out, once it is done. */
function reportsItself({ kind }: Decision): boolean {
  return kind === 'delete-pod' || kind === 'scale' || kind === 'write-back';
}

const alarming: ReadonlySet<Reason> = new Set<Reason>([
  'MultipleZonesUnavailable',
  'PausedZoneUnavailable',
  'BudgetUnclear',
  'PodNotPrepared',
  'InvalidDelayedDownscale',
  'WrongUpdateStrategy',
  'RevisionMissing',
  'CapabilityNotBuilt',
  'ViewNotFresh',
  'LeaderNotFound',
  'MinimumTimeUnknown',
  'LastDownscaleUnknown',
  'ConflictingSources',
  'ReferenceUnresolved',
  'ReferenceUnreadable',
  'ScaleRefused',
  'ReplicasContested',
  'RequestRefused',
]);

/** Whether a hold is not a part of an ordinary rollout, but needs somebody to look. */
function isAlarming(reason: Reason): boolean {
  return alarming.has(reason);
}
