import { type Instant, millis } from '#base/units.ts';
import type { Budget, Limit, Mode } from '#disruption/budget.ts';
import {
  type BudgetAnswer,
  type DecidedRound,
  type DisruptionRequest,
  decide,
  type Round,
} from '#disruption/decision/decide.ts';
import { wireText } from '#disruption/decision/denial-text.ts';
import { emptyLedger, type Ledger } from '#disruption/ledger.ts';
import type { DisruptionSnapshot, GovernedSet } from '#disruption/snapshot.ts';
import { type Standing, standingOf } from '#disruption/standing.ts';
import type { PodView } from '#statefulset/view.ts';
import { podView, type StatefulSetOverrides, statefulSetView, T0 } from '../objects/views.ts';

/** What a test says of one zone of the scenarios of budgets: three ready pods, unless it says otherwise. */
export interface BudgetedZone extends StatefulSetOverrides {
  /** How each pod differs from a ready one, by ordinal; `missing`: there is none. */
  readonly pods?: Readonly<Record<number, Partial<PodView> | 'missing'>>;
  /** Pods that are listed. @default `spec.replicas` */
  readonly listed?: number;
  readonly arePodsUnreadable?: boolean;
}

/** A pod that has failed, as the scenarios call it. */
export const failed = {
  phase: 'Failed',
  readySince: undefined,
} as const satisfies Partial<PodView>;

/** Returns the set `ingester-zone-<letter>` with its pods. */
function budgetedZone(letter: string, zone: BudgetedZone = {}): GovernedSet {
  const replicas = zone.spec?.replicas ?? 3;
  const set = statefulSetView({
    ...zone,
    name: `ingester-zone-${letter}`,
    spec: { replicas, ...zone.spec },
    status: { replicas, readyReplicas: replicas, ...zone.status },
  });
  const pods = Array.from({ length: zone.listed ?? replicas }, (_, ordinal) => ordinal).flatMap(
    (ordinal) => {
      const differs = zone.pods?.[ordinal] ?? {};
      if (differs === 'missing') return [];
      return podView({ name: `${set.name}-${ordinal}`, controllerUid: set.uid, ...differs });
    },
  );
  return { set, pods: zone.arePodsUnreadable === true ? undefined : pods };
}

/** Returns zones a, b and c, each as it is unless overridden; `none` leaves one out. */
export function zones(
  overrides: Readonly<Partial<Record<'a' | 'b' | 'c', BudgetedZone | 'none'>>> = {},
): DisruptionSnapshot {
  const sets = (['a', 'b', 'c'] as const).flatMap((letter) => {
    const zone = overrides[letter] ?? {};
    return zone === 'none' ? [] : budgetedZone(letter, zone);
  });
  return { sets, leaving: new Set() };
}

/** Returns the partition in the names of the scenarios: their regular expression, as the parser of the budget compiles it. */
export function partitionOf(podName: string): string | undefined {
  return /^[a-z-]+-zone-[a-z]-([0-9]+)$/.exec(podName)?.[1];
}

/** Returns partition mode, without a delay unless there is one. */
export function partitions(crossZoneDelay = millis(0)): Mode {
  return { kind: 'partitions', partitionOf, crossZoneDelay };
}

/** Returns the budget `ingester` in zone mode, with a max unavailable of 1, unless overridden. */
export function budget(
  overrides: { readonly limit?: number | Limit; readonly mode?: Mode } = {},
): Budget {
  const { limit = 1, mode = { kind: 'zones-of-sets' } } = overrides;
  return {
    ref: {
      kind: 'ZoneAwarePodDisruptionBudget',
      namespace: 'test',
      name: 'ingester',
      uid: 'budget-uid',
    },
    limit: typeof limit === 'number' ? { kind: 'count', count: limit } : limit,
    mode,
  };
}

/** Returns a request for `ingester-zone-<slot>`, such as `a-0`, by an eviction unless overridden. */
export function request(
  slot: string,
  overrides: Partial<DisruptionRequest> = {},
): DisruptionRequest {
  const name = `ingester-zone-${slot}`;
  const controllerUid = `${name.slice(0, name.lastIndexOf('-'))}-uid`;
  return {
    pod: { name, uid: `${name}-uid`, controllerUid },
    asking: { by: 'eviction' },
    ...overrides,
  };
}

/** Returns `allowed`, or the text that clients of the reference know. */
export function textOf(answer: BudgetAnswer | undefined): string {
  if (answer === undefined) return 'no answer';
  return answer.kind === 'allowed' ? 'allowed' : wireText(answer.denial);
}

/** A budget, its ledger, and a world that changes. */
export class BudgetBed {
  readonly budget: Budget;
  ledger: Ledger;
  snapshot: DisruptionSnapshot;
  now: Instant = T0;

  constructor(given: Budget = budget(), snapshot: DisruptionSnapshot = zones()) {
    this.budget = given;
    this.snapshot = snapshot;
    this.ledger = emptyLedger(given.ref);
  }

  standing(): Standing {
    return standingOf(this.budget, this.snapshot, this.now);
  }

  /** Decides a round now, and stores what comes of it. */
  decide(round: Partial<Round> = {}): DecidedRound {
    const standing = this.standing();
    const decided = decide(this.ledger, { now: this.now, requests: [], ...round }, standing);
    this.ledger = decided.ledger;
    return decided;
  }

  /** Returns what is answered to a request for `slot`, such as `a-0`. */
  ask(slot: string, overrides: Partial<DisruptionRequest> = {}): string {
    return textOf(this.decide({ requests: [request(slot, overrides)] }).answers[0]);
  }

  /** Names of the pods that are given away, once all that has ended is released. */
  reserved(round: Partial<Round> = {}): readonly string[] {
    const { ledger } = this.decide(round);
    return [...ledger.reservations.values()].map(({ slot }) => slot.pod);
  }
}
