import type { ResourcePasses } from '#control/resource/resource-reconciler.ts';
import { noteDeletion } from '#control/write/noted-deletions.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import type { UpdateView } from './parse-resource.ts';
import {
  type EndedUpdatePass,
  UpdatePass,
  type UpdatePassEnd,
  type UpdatePassPorts,
} from './reconcile/update-pass.ts';
import { ofZoneAwareUpdates } from './update-reasons.ts';

/** What reconciling ZoneAwareUpdates goes through. */
export interface UpdatePassesPorts extends UpdatePassPorts {
  readonly queue: Pick<WorkQueue, 'add' | 'addAfter'>;
}

/** The passes over ZoneAwareUpdates. */
export class UpdatePasses implements ResourcePasses<UpdateView, EndedUpdatePass> {
  readonly about = ofZoneAwareUpdates;
  readonly resources: UpdatePassesPorts['updates'];
  readonly #ports: UpdatePassesPorts;

  constructor(ports: UpdatePassesPorts) {
    this.resources = ports.updates;
    this.#ports = ports;
  }

  async run(key: string, signal: AbortSignal): Promise<UpdatePassEnd> {
    const end = await new UpdatePass(key, this.#ports).run(signal);
    if (end.kind === 'gone') return end;
    for (const { end: deletionEnd } of end.deletions ?? []) {
      noteDeletion(key, deletionEnd, this.#ports);
    }
    return end;
  }

  /** Alarm and query are asked again every 10 s while they pause: that is not new, and what they said last is not over. */
  isPassing({ holds }: EndedUpdatePass): boolean {
    return holds.some(({ reason }) => reason === 'AwaitingAlarm' || reason === 'AwaitingQuery');
  }

  forget(key: string, uid: string | undefined): void {
    const { questions, budgets, writes, lastDeletions } = this.#ports;
    lastDeletions.forget(key);
    questions.alarm.forget(key);
    questions.query.forget(key);
    budgets.wants(key, new Set());
    if (uid !== undefined) writes.forget(uid);
  }
}
