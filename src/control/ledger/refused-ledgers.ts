import type { Logger } from '#base/logger.ts';
import type { LedgerRefusal } from './ledger-store.ts';

/** What a Role has to permit for ledgers to be stored, as it is pasted into one. */
const rules = "[{apiGroups: [''], resources: [configmaps], verbs: [create, get, update]}]";

/** Says once a process that the Role permits no ledger to be stored, with the rule that it lacks. */
export class RefusedLedgers {
  readonly #log: Logger;
  readonly #onRefused: ((verb: string) => void) | undefined;
  #isTold = false;

  /** @param onRefused called once, with the verb that was refused */
  constructor(log: Logger, onRefused?: (verb: string) => void) {
    this.#log = log;
    this.#onRefused = onRefused;
  }

  /** Notes that a ledger is remembered by this process alone. */
  refused({ verb, namespace, name, why }: LedgerRefusal): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#onRefused?.(verb);
    this.#log.warn(
      `the Role does not permit ${verb} on the ConfigMap of a ledger: the pods that disruption budgets let go are remembered by this process alone, so run a single replica, or add the rule`,
      { verb, resource: 'configmaps', namespace, name, why, rules },
    );
  }
}
