import type { Instant } from '#base/units.ts';
import { primaryHold } from '#control/decision/primary-hold.ts';
import {
  type DisruptionStatement,
  type ScaleStatement,
  scaleStatementOf,
  statementOf,
} from '../history/statement.ts';
import type { StallStatement } from '../invariants/liveness/reasons.ts';
import type { Telling } from '../invariants/liveness/retold.ts';
import { NAMESPACE } from './world-group.ts';
import type { LogEntry } from './world-log.ts';
import type { PassedPlan } from './world-operator.ts';

/** What the operators of a world said, in the order in which they did. */
export class WorldRecord {
  readonly log: LogEntry[] = [];
  /** What they logged before they deleted a pod. */
  readonly statements: DisruptionStatement[] = [];
  /** What they logged before they lowered replicas, where that says what it rests on. */
  readonly scaleStatements: ScaleStatement[] = [];
  /** What they logged of sets, deeds left out. */
  readonly tellings: Telling[] = [];
  /** The reasons that they gave for standing still, as their gauge of blocked groups had them. */
  readonly stalls: StallStatement[] = [];
  /** What each said last, by key of the group. */
  readonly #newest = new Map<string, Map<string, StallStatement>>();

  /** Notes that an operator logged `entry`. */
  logged(entry: LogEntry): void {
    this.log.push(entry);
    const { at, message, fields } = entry;
    if (message === 'deleting pod') this.statements.push(statementOf(at, fields));
    else if (message === 'scaling statefulset') this.#scaling(entry);
    else if (typeof fields['statefulset'] === 'string' && fields['reason'] !== undefined) {
      this.tellings.push({ at, namespace: NAMESPACE, set: fields['statefulset'] });
    }
  }

  #scaling({ at, client, fields }: LogEntry): void {
    const statement = scaleStatementOf({ at, namespace: NAMESPACE, client }, fields);
    if (statement !== undefined) this.scaleStatements.push(statement);
  }

  /** Notes that the operator `client` passed over a group. */
  planned(client: string, { at, key, plan }: PassedPlan): void {
    const [namespace = '', group = ''] = key.split('/');
    const hold = primaryHold(plan.decisions);
    const said = {
      at,
      namespace,
      group,
      reason: hold?.because.reason ?? '',
      ...(hold !== undefined && { set: hold.set.name }),
    };
    this.stalls.push(said);
    const own = this.#newest.get(client) ?? new Map<string, StallStatement>();
    this.#newest.set(client, own.set(key, said));
  }

  /** Notes that the operator `client` has ended by itself, and its gauges with it: what others said last counts again. */
  ended(client: string, at: Instant): void {
    this.#newest.delete(client);
    for (const own of this.#newest.values()) {
      for (const said of own.values()) this.stalls.push({ ...said, at });
    }
  }
}
