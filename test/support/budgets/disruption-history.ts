/** Histories of a budget: what happens to its zones, and who asks for what, in an order that a test makes up. */
import * as fc from 'fast-check';
import { instant, millis } from '#base/units.ts';
import type { Budget, Mode } from '#disruption/budget.ts';
import type { DisruptionRequest } from '#disruption/decision/decide.ts';
import type { DisruptionSnapshot, GovernedSet } from '#disruption/snapshot.ts';
import { podView, statefulSetView, unready } from '../objects/views.ts';
import type {
  ModelBudget,
  ModelRequest,
  World,
  WorldPod,
  WorldSet,
} from '../oracles/disruption-model.ts';
import { budget, partitionOf } from './budgeted-zones.ts';

/** Where a pod is: a letter of a zone, and an ordinal. */
export interface Place {
  readonly zone: string;
  readonly ordinal: number;
}

/** One request of a round. */
export interface Asked extends Place {
  readonly by: ModelRequest['by'];
  readonly override: number | undefined;
  readonly isDryRun: boolean;
  /** Whether it names a pod that is not there. */
  readonly isStale: boolean;
}

/** What happens next. */
export type Step =
  | { readonly do: 'ask'; readonly round: readonly Asked[] }
  | ({ readonly do: 'set-state'; readonly state: WorldPod['state'] } & Place)
  | ({ readonly do: 'remove' } & Place)
  | ({
      readonly do: 'replace';
      readonly state: WorldPod['state'];
      readonly isNoted: boolean;
    } & Place)
  | { readonly do: 'scale'; readonly zone: string; readonly to: number }
  /** The status of the set takes notice of its pods. */
  | { readonly do: 'observe'; readonly zone: string }
  /** All zones are as they should be, with new pods where some were lost. */
  | { readonly do: 'heal' }
  | { readonly do: 'pass'; readonly seconds: number }
  | { readonly do: 'new-term'; readonly isOver: boolean }
  | ({ readonly do: 'take-back'; readonly by: ModelRequest['by'] } & Place)
  /** Whether the pods of a set can be read is turned round. */
  | { readonly do: 'read'; readonly zone: string };

/** What a history begins with. */
export interface Beginning {
  readonly replicas: readonly number[];
  readonly minReady: number;
  readonly budget: ModelBudget;
}

const zoneLetter = fc.constantFrom('a', 'b', 'c');
const state = fc.constantFrom<WorldPod['state']>('ready', 'ready', 'not-ready', 'terminating');
const by = fc.constantFrom<ModelRequest['by']>('eviction', 'eviction', 'rollout', 'scale-down');
/** Mostly one that there is. */
const place = { zone: zoneLetter, ordinal: fc.constantFrom(0, 0, 0, 1, 1, 1, 2, 2, 3, 4) };

const asked: fc.Arbitrary<Asked> = fc.record({
  ...place,
  by,
  override: fc.constantFrom(undefined, undefined, 0, 1, 2),
  isDryRun: fc.nat({ max: 5 }).map((at) => at === 0),
  isStale: fc.nat({ max: 15 }).map((at) => at === 0),
});

const ask = fc.record({
  do: fc.constant('ask' as const),
  round: fc.array(asked, { minLength: 1, maxLength: 6 }),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: ask },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('set-state' as const), state, ...place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), ...place }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('replace' as const),
      state,
      isNoted: fc.boolean(),
      ...place,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('scale' as const),
      zone: zoneLetter,
      to: fc.nat({ max: 5 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('observe' as const), zone: zoneLetter }) },
  { weight: 3, arbitrary: fc.constant({ do: 'heal' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      seconds: fc.constantFrom(1, 10, 29, 30, 60, 119, 120, 300),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('new-term' as const), isOver: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('take-back' as const), by, ...place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('read' as const), zone: zoneLetter }) },
);

/** A budget in either mode over up to three zones. */
export const beginnings: fc.Arbitrary<Beginning> = fc.record({
  replicas: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 3, size: 'max' }),
  minReady: fc.constantFrom(0, 0, 30_000),
  budget: fc.oneof(
    fc.record({
      limit: fc.constantFrom(
        0,
        1,
        1,
        1,
        2,
        2,
        3,
        '0%' as const,
        '40%' as const,
        '75%' as const,
        '100%' as const,
      ),
      isPartitioned: fc.constant(false),
      delay: fc.constant(0),
    }),
    fc.record({
      limit: fc.constantFrom(0, 1, 1, 1, 2, 2, 3),
      isPartitioned: fc.constant(true),
      delay: fc.constantFrom(0, 60_000),
    }),
  ),
});

/** Up to forty steps. */
export const histories: fc.Arbitrary<readonly Step[]> = fc.array(step, {
  minLength: 5,
  maxLength: 40,
  size: 'max',
});

/** Returns the budget as the operator has it. */
export function budgetOf({ limit, isPartitioned, delay }: ModelBudget): Budget {
  const mode: Mode = isPartitioned
    ? { kind: 'partitions', partitionOf, crossZoneDelay: millis(delay) }
    : { kind: 'zones-of-sets' };
  return budget({
    limit:
      typeof limit === 'number'
        ? limit
        : { kind: 'percent-of-own-set', percent: Number(limit.slice(0, -1)) },
    mode,
  });
}

/** Returns the world as the operator sees it. */
export function snapshotOf({ sets }: World): DisruptionSnapshot {
  return { sets: sets.map(governed), leaving: new Set() };
}

function governed({
  name,
  wanted,
  counted,
  minReady,
  pods,
  arePodsReadable,
}: WorldSet): GovernedSet {
  const set = statefulSetView({
    name,
    spec: { replicas: wanted, minReady: millis(minReady) },
    status: { replicas: counted },
  });
  const views = [...pods].map(([ordinal, { uid, state, readyAt, notedAt }]) => {
    const readySince = instant(readyAt);
    return podView({
      name: `${name}-${ordinal}`,
      uid,
      controllerUid: set.uid,
      isTerminating: state === 'terminating',
      ...(state === 'not-ready' ? { readySince: undefined, unready: unready() } : { readySince }),
      readyTime: notedAt === undefined ? undefined : new Date(notedAt).toISOString(),
    });
  });
  return { set, pods: arePodsReadable ? views : undefined };
}

/** Returns the request as the operator gets it. */
export function requestOf(request: ModelRequest): DisruptionRequest {
  const { set, ordinal, uid, by: asker, term, override, isDryRun } = request;
  return {
    pod: { name: `${set}-${ordinal}`, uid, controllerUid: `${set}-uid` },
    asking: asker === 'eviction' ? { by: asker } : { by: asker, term },
    isDryRun,
    ...(override !== undefined && { override }),
  };
}
