/** What the operators' logs say that a judge can check. */
import type { JsonObject } from '#base/json.ts';
import { type Instant, instant } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import {
  type DisruptionStatement,
  type ScaleStatement,
  scaleStatementOf,
  statementOf,
} from '#support/history/statement.ts';

/** A reason why a StatefulSet stands still, as a line of a log gave it. */
export interface SaidHold {
  readonly at: Instant;
  readonly set: string;
  readonly reason: string;
}

/** The lines by which a plan tells of its holds. */
const holdLines: ReadonlySet<string> = new Set(['rollout', 'rollout needs attention']);

/** Sorts log lines as they come. */
export class SaidBook {
  /** The removals that the logs state. */
  readonly statements: DisruptionStatement[] = [];
  /** The writes of replicas that the logs state. */
  readonly scaleStatements: ScaleStatement[] = [];
  /** Why sets stand still; nothing tells when that has ended. */
  readonly holds: SaidHold[] = [];
  readonly #namespace: string;
  readonly #client: string;

  /** @param who the namespace that the operators serve, and the user as whom they do */
  constructor(who: { readonly namespace: string; readonly user: string }) {
    this.#namespace = who.namespace;
    this.#client = who.user;
  }

  /** An operator logged `entry`. */
  take(entry: JsonObject): void {
    const message = textAt(entry, 'msg');
    const at = instant(Date.parse(textAt(entry, 'ts')));
    if (message === 'deleting pod') this.statements.push(statementOf(at, entry));
    if (message === 'scaling statefulset') this.#scaling(at, entry);
    if (holdLines.has(message)) {
      this.holds.push({ at, set: textAt(entry, 'statefulset'), reason: textAt(entry, 'reason') });
    }
  }

  #scaling(at: Instant, entry: JsonObject): void {
    const utterance = { at, namespace: this.#namespace, client: this.#client };
    const statement = scaleStatementOf(utterance, entry);
    if (statement !== undefined) this.scaleStatements.push(statement);
  }
}
