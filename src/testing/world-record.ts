import { primaryHold } from '#control/primary-hold.ts';
import type { StallStatement } from './reasons.ts';
import { type DisruptionStatement, statementOf } from './statement.ts';
import type { LogEntry } from './world-log.ts';
import type { PassedPlan } from './world-operator.ts';

/** What the operators of a world said, in the order in which they did. */
export class WorldRecord {
  readonly log: LogEntry[] = [];
  /** What they logged before they deleted a pod. */
  readonly statements: DisruptionStatement[] = [];
  /** The reasons that they gave for standing still, as their gauge of blocked groups had them. */
  readonly stalls: StallStatement[] = [];

  /** An operator logged `entry`. */
  logged(entry: LogEntry): void {
    this.log.push(entry);
    if (entry.message !== 'deleting pod') return;
    this.statements.push(statementOf(entry.at, entry.fields));
  }

  /** An operator passed over a group. */
  planned({ at, key, plan }: PassedPlan): void {
    const [namespace = '', group = ''] = key.split('/');
    const hold = primaryHold(plan.decisions);
    this.stalls.push({
      at,
      namespace,
      group,
      reason: hold?.because.reason ?? '',
      ...(hold !== undefined && { set: hold.set.name }),
    });
  }
}
