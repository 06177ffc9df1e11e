import type { Millis } from '#base/units.ts';
import type { Call } from '#cluster/event-log.ts';
import { domainOf, type History } from '../history/history.ts';
import { type OwnDisruptions, shownAt } from '../history/own-disruptions.ts';
import type { ScaleDown } from '../history/removal.ts';
import { type ScaleStatement, viewOf } from '../history/statement.ts';
import { decisionAge } from './exclusion.ts';
import { Findings, type Invariant, type Violation } from './invariant.ts';
import { proofComplaint, type Receipts } from './proof.ts';

/** What the statements of down-scales are judged by. */
export interface StatedScalingOptions {
  readonly history: History;
  readonly disruptions: OwnDisruptions;
  /** Undefined where it is unknown what was delivered. */
  readonly receipts: Receipts | undefined;
  /** `A` of docs/rules/words.md. */
  readonly maxDecisionAge: Millis;
}

/**
 * D-7 and EXCL-2 of down-scales: each that takes available slots is stated; its view had been given to the client, is
 * no older than its proof, was the truth at most A before it was sent, and contains what we took in other zones.
 */
export class StatedScaling implements Invariant {
  readonly #options: StatedScalingOptions;
  readonly #findings = new Findings();

  constructor(options: StatedScalingOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onScaleDownAnswered(scaleDown: ScaleDown, call: Call): void {
    const { commit, statement, ordinals, set } = scaleDown;
    if (ordinals.length === 0) return;
    const deed = `We scaled ${set.namespace}/${set.name} down`;
    if (statement === undefined) {
      this.#findings.add('D-7', commit, `${deed} without a statement of what it rests on`);
      return;
    }
    const { client } = call;
    const proof = proofComplaint(statement, { ...this.#options, client, commit });
    if (proof !== undefined) this.#findings.add('D-7', commit, `${deed} ${proof}`);
    const view = this.#viewComplaint(scaleDown, statement);
    if (view !== undefined) this.#findings.add('EXCL-2', commit, `${deed} ${view}`);
  }

  #viewComplaint(scaleDown: ScaleDown, statement: ScaleStatement): string | undefined {
    const { history, disruptions, maxDecisionAge } = this.#options;
    const { set, commit } = scaleDown;
    const age = decisionAge(statement, history);
    if (age > maxDecisionAge) {
      return `on a view that was outdated for ${age} ms; ${maxDecisionAge} ms are allowed`;
    }
    const view = viewOf(statement);
    const unseen = disruptions.in(domainOf(set)).find((own) => {
      if (own.setUid === set.uid || own.revision >= commit.revision) return false;
      const seen = shownAt(own, view);
      return own.revision > seen;
    });
    if (unseen === undefined) return undefined;
    return `on a view without our disruption of ${unseen.setName}-${unseen.ordinal} (revision ${unseen.revision})`;
  }
}
