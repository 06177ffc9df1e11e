import type { Call } from '#cluster/event-log.ts';
import { domainOf, type History } from '../history/history.ts';
import type { Removal } from '../history/removal.ts';
import { Findings, type Invariant, type Violation } from './invariant.ts';

/**
 * RC-40: we delete no pod of a set that was paused at r(d). RC-23: nor of a group in which a set was not OnDelete.
 * Evictions are exempt: a user asked for them.
 */
export class RespectedHolds implements Invariant {
  readonly #history: History;
  readonly #findings = new Findings();

  constructor(history: History) {
    this.#history = history;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onAnswered(removal: Removal, call: Call): void {
    const { set, view, commit } = removal;
    if (set === undefined || call.subresource === 'eviction') return;
    const deed = `We deleted pod ${commit.namespace}/${commit.name}`;
    if (set.isPaused) {
      this.#findings.add('RC-40', commit, `${deed} although ${set.name} was paused`);
    }
    const other = this.#history
      .members(domainOf(set), view)
      .find((member) => member.updateStrategy !== 'OnDelete');
    if (set.group === undefined || other === undefined) return;
    const strategy = `the update strategy of ${other.name} was ${other.updateStrategy}`;
    this.#findings.add('RC-23', commit, `${deed} although ${strategy}`);
  }
}
