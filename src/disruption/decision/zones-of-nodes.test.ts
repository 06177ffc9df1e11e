/** Zones of nodes, as a ZoneDisruptionBudget has them: the same vocabulary, without a change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodView } from '#statefulset/view.ts';
import { BudgetBed, budget, textOf } from '#support/budgets/budgeted-zones.ts';
import { podView, statefulSetView, unready } from '#support/objects/views.ts';
import { type Budget, type Limit, limitOf } from '../budget.ts';
import type { DisruptionSnapshot } from '../snapshot.ts';

const zoneOfOrdinal = ['a', 'b', 'c'] as const;

/** The zone of `web-<n>`: round robin over a, b and c. */
function zoneOf(podName: string): string | undefined {
  return zoneOfOrdinal[Number(podName.slice('web-'.length)) % 3];
}

function zdb(
  limit: number | Limit,
  zoneOfPod: (podName: string) => string | undefined = zoneOf,
): Budget {
  const ref = { kind: 'ZoneDisruptionBudget', namespace: 'test', name: 'web', uid: 'zdb' } as const;
  return { ...budget({ limit, mode: { kind: 'zones-of-nodes', zoneOf: zoneOfPod } }), ref };
}

type Differences = Readonly<Record<number, Partial<PodView> | 'missing'>>;

/** The set `web` of nine pods. */
function web(differs: Differences = {}, replicas = 9): DisruptionSnapshot {
  const set = statefulSetView({ name: 'web', spec: { replicas }, status: { replicas: 9 } });
  const pods = Array.from({ length: 9 }, (_, ordinal) => ordinal).flatMap((ordinal) => {
    const one = differs[ordinal] ?? {};
    return one === 'missing' ? [] : podView({ name: `web-${ordinal}`, ...one });
  });
  return { sets: [{ set, pods }], leaving: new Set() };
}

const pending = { phase: 'Pending', readySince: undefined } as const;

interface Case {
  readonly limit?: number | Limit;
  readonly given?: DisruptionSnapshot;
  /** How many pods of each of the zones a, b and c may go, each zone asked by itself. */
  readonly allowed: readonly [a: number, b: number, c: number];
}

const third: Limit = { kind: 'percent-of-all-sets', percent: 33 };

/** Worked numbers of the zone-aware controllers: 9 replicas in three zones, and the limit of each. */
const rows: Record<string, Case> = {
  'all ready': { allowed: [1, 1, 1] },
  'one pod of b pending': { given: web({ 1: pending }), allowed: [0, 0, 0] },
  'one pod of b pending, max unavailable 2': {
    limit: 2,
    given: web({ 1: pending }),
    allowed: [0, 1, 0],
  },
  'one pod of a and one of b pending': {
    given: web({ 0: pending, 1: pending }),
    allowed: [0, 0, 0],
  },
  'one pod of b gone and not made anew (W-04)': {
    given: web({ 1: 'missing' }),
    allowed: [0, 0, 0],
  },
  '33 % of nine': { limit: third, allowed: [3, 3, 3] },
  'a limit above the size of a zone': { limit: 5, allowed: [3, 3, 3] },
  'a negative limit': { limit: -1, allowed: [0, 0, 0] },
};

for (const [fact, { limit = 1, given = web(), allowed }] of Object.entries(rows)) {
  test(`decide() in zones of nodes gives away what the table of the specification says: ${fact}`, () => {
    const counts = zoneOfOrdinal.map((_, zone) => {
      const bed = new BudgetBed(zdb(limit), given);
      const ready = [zone, zone + 3, zone + 6].filter((ordinal) =>
        given.sets?.[0]?.pods?.some(
          ({ name, phase }) => name === `web-${ordinal}` && phase === 'Running',
        ),
      );
      return ready.filter((ordinal) => ask(bed, `web-${ordinal}`) === 'allowed').length;
    });
    assert.deepEqual(counts, allowed);
  });
}

function ask(bed: BudgetBed, name: string): string {
  const pod = { name, uid: `${name}-uid`, controllerUid: 'web-uid' };
  return textOf(bed.decide({ requests: [{ pod, asking: { by: 'eviction' } }] }).answers[0]);
}

test('limitOf() rounds the percentages of a ZoneDisruptionBudget up, over all its sets', () => {
  const sets = [4, 5].map((replicas) => statefulSetView({ spec: { replicas } }));
  const of = (percent: number): number | undefined =>
    limitOf({ kind: 'percent-of-all-sets', percent }, undefined, sets);
  assert.deepEqual([10, 33, 100, 150, 0, -5].map(of), [1, 3, 9, 14, 0, 0]);
});

test('decide() in zones of nodes lets no other zone go beside one just allowed (W-08)', () => {
  const bed = new BudgetBed(zdb(1), web());
  assert.equal(ask(bed, 'web-0'), 'allowed');
  assert.equal(ask(bed, 'web-1'), '1 pod not ready in a');
});

test('decide() in zones of nodes refuses a pod whose zone is unknown', () => {
  const bed = new BudgetBed(
    zdb(1, (name) => (name === 'web-0' ? undefined : zoneOf(name))),
    web(),
  );
  assert.equal(ask(bed, 'web-0'), 'the zone of the pod is not known');
  assert.equal(ask(bed, 'web-1'), 'allowed');
});

test('decide() in zones of nodes takes a missing pod of unknown zone for one of another zone', () => {
  const lost = (name: string): string | undefined => (name === 'web-0' ? undefined : zoneOf(name));
  const bed = new BudgetBed(zdb(2, lost), web({ 0: 'missing' }));
  assert.equal(ask(bed, 'web-3'), '1 pod unknown in a zone that is not known');
});

test('decide() in zones of nodes remembers the zone of a pod that it gave away', () => {
  const bed = new BudgetBed(zdb(2), web());
  assert.equal(ask(bed, 'web-0'), 'allowed');
  const lost = (name: string): string | undefined => (name === 'web-0' ? undefined : zoneOf(name));
  const later = new BudgetBed(zdb(2, lost), web({ 0: 'missing' }));
  later.ledger = bed.ledger;
  assert.equal(ask(later, 'web-1'), '1 pod unknown in a');
  assert.equal(ask(later, 'web-3'), 'allowed');
  assert.equal(ask(later, 'web-6'), '1 pod not ready, 1 pod unknown in a');
});

test('decide() in zones of nodes gives away a pod that nothing controls, until it is gone', () => {
  const alone = podView({ name: 'web-10' });
  const unowned = { ...alone, controllerUid: undefined };
  const bed = new BudgetBed(zdb(1), { ...web(), unmanaged: [unowned] });
  const answers = bed.decide({ requests: [{ pod: unowned, asking: { by: 'eviction' } }] }).answers;
  assert.deepEqual(answers.map(textOf), ['allowed']);
  assert.equal(ask(bed, 'web-0'), '1 pod not ready in b');
  bed.snapshot = web();
  assert.deepEqual(bed.reserved(), []);
  bed.snapshot = {
    ...web(),
    unmanaged: [{ ...unowned, readySince: undefined, unready: unready() }],
  };
  assert.equal(ask(bed, 'web-0'), '1 pod not ready in b');
});
