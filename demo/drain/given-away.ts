import type { Commit } from '#cluster/event-log.ts';
import { objectAt, textAt } from '#cluster/json/read-json.ts';
import type { BudgetRef } from '#disruption/budget.ts';
import { parseLedger } from '#disruption/parse-ledger.ts';
import type { Asker, Reservation } from '#disruption/reservation.ts';
import { ledgerName } from '#disruption-budget/api.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';

const { plural, group } = resourceTypes.zoneAwarePodDisruptionBudgets;

/** A pod that a ledger has granted to a client. */
export interface Gift {
  readonly pod: string;
  readonly to: Asker;
}

/** For people: on whose behalf a pod goes. */
const askers: Readonly<Record<Asker, string>> = {
  rollout: 'the rollout',
  eviction: 'a drainer',
  'scale-down': 'a scale-down',
};

/** What the ledger of a budget gives away, as the API server stores it. */
export class GivenAway {
  readonly #namespace: string;
  readonly #name: string;
  #budget: BudgetRef | undefined;
  #reservations: readonly Reservation[] | undefined;

  /** @param name of the budget */
  constructor(namespace: string, name: string) {
    this.#namespace = namespace;
    this.#name = name;
  }

  /** Reports whether there is a ledger that can be read. */
  get isKept(): boolean {
    return this.#reservations !== undefined;
  }

  /** Reports whether there is one, and nothing is given away. */
  get isEmpty(): boolean {
    return this.#reservations?.length === 0;
  }

  /** Reports whether the pod of this uid is given away. */
  has(uid: string): boolean {
    return this.#reservations?.some((reservation) => reservation.uid === uid) === true;
  }

  /** Returns `the ledger: ingester-zone-a-0 is given to the rollout` */
  get line(): string {
    const given = gifts(this.#reservations ?? []).map(giftText);
    return `the ledger: ${given.length === 0 ? 'nothing is given away' : given.join(', ')}`;
  }

  /** Takes in one commit. @returns what the ledger has given since the one before */
  observe({ resource, namespace, name, uid, after }: Commit): readonly Gift[] {
    if (namespace !== this.#namespace) return [];
    if (resource === `${plural}.${group}` && name === this.#name && after !== undefined) {
      this.#budget = { kind: 'ZoneAwarePodDisruptionBudget', namespace, name, uid };
    }
    if (resource !== 'configmaps' || name !== ledgerName(this.#name)) return [];
    const before = new Set(gifts(this.#reservations ?? []).map(giftText));
    this.#reservations = this.#budget && reservationsIn(after, this.#budget);
    return gifts(this.#reservations ?? []).filter((gift) => !before.has(giftText(gift)));
  }
}

function reservationsIn(
  configMap: Commit['after'],
  budget: BudgetRef,
): readonly Reservation[] | undefined {
  if (configMap === undefined) return undefined;
  const object = `ConfigMap ${budget.namespace}/${textAt(configMap, 'metadata', 'name')}`;
  const stored = parseLedger(objectAt(configMap, 'data'), budget, object);
  return stored.kind === 'ledger' ? [...stored.ledger.reservations.values()] : undefined;
}

function gifts(reservations: readonly Reservation[]): readonly Gift[] {
  return reservations.flatMap(({ slot, claims }) =>
    claims.map(({ by }) => ({ pod: slot.pod, to: by })),
  );
}

/** Returns `ingester-zone-a-0 is given to the rollout` */
export function giftText({ pod, to }: Gift): string {
  return `${pod} is given to ${askers[to]}`;
}
