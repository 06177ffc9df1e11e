/** Numbers by zone, by the scenarios of zone-aware controllers, with what is corrected in them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { after, millis, minutes, seconds } from '#base/units.ts';
import { heldIn } from '#disruption/decision/decide.ts';
import type { BudgetBed } from '#support/budgets/budgeted-zones.ts';
import { labels, type ZonedWeb, zoneBudgetBed, zoneInTurn } from '#support/budgets/zone-budgets.ts';
import { podView, statefulSetView, T0 } from '#support/objects/views.ts';
import { formatZoneStatus, type ZoneBudgetStatus } from '../status.ts';
import { projectStatus } from './project-status.ts';

function statusOf(bed: BudgetBed): ZoneBudgetStatus | undefined {
  const standing = bed.standing();
  const moment = { now: bed.now };
  const held = heldIn(bed.ledger, standing, moment);
  return projectStatus({ standing, held, moment, generation: 1 });
}

/** Whether `name` is given away, or by which text not. */
function evict(bed: BudgetBed, name: string): string {
  const pod = { name, uid: `${name}-uid`, controllerUid: 'web-uid' };
  const [answer] = bed.decide({ requests: [{ pod, asking: { by: 'eviction' } }] }).answers;
  return answer?.kind ?? 'no answer';
}

const pending = { phase: 'Pending' } as const;

type Numbers = readonly [a: number, b: number, c: number];

interface Row {
  readonly given?: ZonedWeb;
  /** Pods that are given to an eviction before. */
  readonly evicted?: readonly string[];
  readonly expected?: Numbers;
  readonly healthy: Numbers;
  readonly unhealthy: Numbers;
  readonly desired?: Numbers;
  readonly allowed: Numbers;
}

const rows: Record<string, Row> = {
  'all ready [zau 50]': {
    healthy: [3, 3, 3],
    unhealthy: [0, 0, 0],
    allowed: [1, 1, 1],
  },
  'one pod of a Pending though its condition is Ready [zau 51]': {
    given: { pods: { 0: pending } },
    healthy: [2, 3, 3],
    unhealthy: [1, 0, 0],
    allowed: [0, 0, 0],
  },
  'one pod of b Pending [zau 51]': {
    given: { pods: { 1: pending } },
    healthy: [3, 2, 3],
    unhealthy: [0, 1, 0],
    allowed: [0, 0, 0],
  },
  'one pod of c Pending [zau 51]': {
    given: { pods: { 2: pending } },
    healthy: [3, 3, 2],
    unhealthy: [0, 0, 1],
    allowed: [0, 0, 0],
  },
  'one pod of b Pending, two may be unavailable': {
    given: { pods: { 1: pending }, maxUnavailable: 2 },
    healthy: [3, 2, 3],
    unhealthy: [0, 1, 0],
    desired: [1, 1, 1],
    allowed: [0, 1, 0],
  },
  'one pod of a and one of b Pending [zau 52]': {
    given: { pods: { 0: pending, 1: pending }, maxUnavailable: 2 },
    healthy: [2, 2, 3],
    unhealthy: [1, 1, 0],
    desired: [1, 1, 1],
    allowed: [0, 0, 0],
  },
  'one pod of b given away [zau 53]': {
    evicted: ['web-1'],
    healthy: [3, 2, 3],
    unhealthy: [0, 1, 0],
    allowed: [0, 0, 0],
  },
  'one of two pods of b given away: no other zone is open any more (W-08)': {
    given: { maxUnavailable: 2 },
    evicted: ['web-1'],
    healthy: [3, 2, 3],
    unhealthy: [0, 1, 0],
    desired: [1, 1, 1],
    allowed: [0, 1, 0],
  },
  'one pod of b terminating [zau 55]': {
    given: { pods: { 1: { isTerminating: true } } },
    healthy: [3, 2, 3],
    unhealthy: [0, 1, 0],
    allowed: [0, 0, 0],
  },
  'one pod of b gone and not made anew, with its zone known (W-04) [zau 65]': {
    given: { pods: { 1: 'missing' } },
    healthy: [3, 2, 3],
    unhealthy: [0, 1, 0],
    allowed: [0, 0, 0],
  },
  'one pod of b gone, two may be unavailable (W-04)': {
    given: { pods: { 1: 'missing' }, maxUnavailable: 2 },
    healthy: [3, 2, 3],
    unhealthy: [0, 1, 0],
    desired: [1, 1, 1],
    allowed: [0, 1, 0],
  },
  'one pod gone, and it is unknown from where: it is expected where there are fewest': {
    given: {
      pods: { 1: 'missing' },
      maxUnavailable: 2,
      zoneOf: (name) => (name === 'web-1' ? undefined : zoneInTurn(name)),
    },
    healthy: [3, 2, 3],
    unhealthy: [0, 0, 0],
    desired: [1, 1, 1],
    allowed: [0, 0, 0],
  },
  '33 % of nine [zau 57]': {
    given: { maxUnavailable: '33%' },
    healthy: [3, 3, 3],
    unhealthy: [0, 0, 0],
    desired: [0, 0, 0],
    allowed: [3, 3, 3],
  },
  '10 % of nine is one of all, and not one of each three rounded up [zau 57]': {
    given: { maxUnavailable: '10%' },
    healthy: [3, 3, 3],
    unhealthy: [0, 0, 0],
    allowed: [1, 1, 1],
  },
  '12 % of nine is two': {
    given: { maxUnavailable: '12%' },
    healthy: [3, 3, 3],
    unhealthy: [0, 0, 0],
    desired: [1, 1, 1],
    allowed: [2, 2, 2],
  },
  'a limit above the size of a zone [zau 63]': {
    given: { maxUnavailable: 5 },
    healthy: [3, 3, 3],
    unhealthy: [0, 0, 0],
    desired: [0, 0, 0],
    allowed: [3, 3, 3],
  },
  'a limit of 0': {
    given: { maxUnavailable: 0 },
    healthy: [3, 3, 3],
    unhealthy: [0, 0, 0],
    desired: [3, 3, 3],
    allowed: [0, 0, 0],
  },
  'a pod that nothing controls counts in its zone, and not in the total [zau 62]': {
    given: {
      maxUnavailable: '100%',
      others: [podView({ name: 'alone-0', labels, controllerUid: undefined })],
    },
    expected: [4, 3, 3],
    healthy: [4, 3, 3],
    unhealthy: [0, 0, 0],
    desired: [0, 0, 0],
    allowed: [4, 3, 3],
  },
  'pods that a scale-down is about to take: they are on their way [zau 59]': {
    given: { replicas: 6, listed: 9, maxUnavailable: '50%' },
    healthy: [2, 2, 2],
    unhealthy: [1, 1, 1],
    desired: [0, 0, 0],
    allowed: [0, 0, 0],
  },
  'a pod whose labels the selector does not match any more is not missing': {
    given: { pods: { 1: { labels: {} } } },
    healthy: [3, 3, 3],
    unhealthy: [0, 0, 0],
    allowed: [1, 1, 1],
  },
};

function numbers([a, b, c]: Numbers): JsonObject {
  return { a, b, c };
}

for (const [fact, row] of Object.entries(rows)) {
  test(`projectStatus() shows ${fact}`, () => {
    const bed = zoneBudgetBed(row.given);
    for (const pod of row.evicted ?? []) assert.equal(evict(bed, pod), 'allowed');
    const status = statusOf(bed);
    assert.ok(status !== undefined);
    const { disruptedPods, ...shown } = formatZoneStatus(status);
    assert.deepEqual(shown, {
      observedGeneration: 1,
      disruptionsAllowed: numbers(row.allowed),
      currentHealthy: numbers(row.healthy),
      currentUnhealthy: numbers(row.unhealthy),
      desiredHealthy: numbers(row.desired ?? [2, 2, 2]),
      expectedPods: numbers(row.expected ?? [3, 3, 3]),
    });
    assert.deepEqual(Object.keys(disruptedPods ?? {}), row.evicted ?? []);
  });
}

/** Zones of `counts` pods each, of a set that should have `total` pods whose others are nowhere. */
function expectedOf(counts: Readonly<Record<string, number>>, total: number): unknown {
  const names = Object.entries(counts).flatMap(([zone, count]) => Array<string>(count).fill(zone));
  const bed = zoneBudgetBed({
    replicas: total,
    pods: Object.fromEntries(
      Array.from({ length: total - names.length }, (_, at) => [names.length + at, 'missing']),
    ),
    zoneOf: (name) => names[Number(name.slice('web-'.length))],
  });
  const status = statusOf(bed);
  return status && Object.fromEntries(status.expectedPods);
}

test('projectStatus() expects pods of no known zone in each zone in turn, from the least on [zau 58]', () => {
  assert.deepEqual(expectedOf({ a: 1, b: 3 }, 8), { a: 3, b: 5 });
  assert.deepEqual(expectedOf({ a: 2, b: 3, c: 3 }, 9), { a: 3, b: 3, c: 3 });
  assert.deepEqual(expectedOf({ b: 1, a: 1 }, 3), { a: 2, b: 1 });
  assert.deepEqual(expectedOf({}, 5), {});
});

test('projectStatus() shows when a pod was given away, in whole seconds (ZDB-13)', () => {
  const bed = zoneBudgetBed();
  bed.now = after(T0, millis(1_999));
  assert.equal(evict(bed, 'web-1'), 'allowed');
  const status = statusOf(bed);
  assert.ok(status !== undefined);
  const written = new Date(T0 + 1_000).toISOString().replace('.000Z', 'Z');
  assert.deepEqual(formatZoneStatus(status)['disruptedPods'], { 'web-1': written });
});

test('projectStatus() counts a pod again that stayed for 120 s [zau 54, 56]', () => {
  const bed = zoneBudgetBed();
  assert.equal(evict(bed, 'web-1'), 'allowed');
  bed.now = after(T0, millis(seconds(120) - 1));
  assert.deepEqual([...(statusOf(bed)?.disruptedPods.keys() ?? [])], ['web-1']);
  assert.equal(statusOf(bed)?.currentUnhealthy.get('b'), 1);
  bed.now = after(T0, minutes(2));
  assert.deepEqual([...(statusOf(bed)?.disruptedPods.keys() ?? [])], []);
  assert.deepEqual([...(statusOf(bed)?.disruptionsAllowed.values() ?? [])], [1, 1, 1]);
});

test('projectStatus() does not take a pod for the one of its name that was given away (W-11)', () => {
  const bed = zoneBudgetBed();
  assert.equal(evict(bed, 'web-1'), 'allowed');
  // The successor is there, and not ready yet: its zone is disturbed, and nobody was given it.
  bed.snapshot = zoneBudgetBed({
    pods: { 1: { uid: 'web-1-again', ...pending } },
  }).snapshot;
  assert.deepEqual([...(statusOf(bed)?.disruptedPods ?? [])], []);
  assert.equal(statusOf(bed)?.currentUnhealthy.get('b'), 1);
});

test('projectStatus() does not show a pod as given away that is going (ZDB-13) [zau 55]', () => {
  const bed = zoneBudgetBed();
  assert.equal(evict(bed, 'web-1'), 'allowed');
  bed.snapshot = zoneBudgetBed({ pods: { 1: { isTerminating: true } } }).snapshot;
  assert.deepEqual([...(statusOf(bed)?.disruptedPods ?? [])], []);
  assert.equal(statusOf(bed)?.currentUnhealthy.get('b'), 1);
});

test('projectStatus() keeps the zone of a pod that was given away, whatever else forgets it', () => {
  const bed = zoneBudgetBed({ maxUnavailable: 2 });
  assert.equal(evict(bed, 'web-1'), 'allowed');
  const later = zoneBudgetBed({
    maxUnavailable: 2,
    pods: { 1: 'missing' },
    zoneOf: (name) => (name === 'web-1' ? undefined : zoneInTurn(name)),
  });
  later.ledger = bed.ledger;
  assert.deepEqual(Object.fromEntries(statusOf(later)?.disruptionsAllowed ?? []), {
    a: 0,
    b: 1,
    c: 0,
  });
});

const unknown: Record<string, ZonedWeb> = {
  'a pod of something else than a StatefulSet is selected [zau 60]': {
    others: [podView({ name: 'front-x', labels, controllerUid: 'replica-set' })],
  },
  'its StatefulSet has another uid [zau 61]': {
    others: [podView({ name: 'web-9', labels, controllerUid: 'web-uid-before' })],
  },
  'a set is too large to be looked at (D-56)': { replicas: 20_001, listed: 1 },
};
for (const [fact, given] of Object.entries(unknown)) {
  test(`projectStatus() shows nothing, and nothing may go, while ${fact}`, () => {
    const bed = zoneBudgetBed(given);
    assert.equal(statusOf(bed), undefined);
    assert.equal(evict(bed, 'web-0'), 'denied');
  });
}

test('projectStatus() counts a set that has lost all its pods (W-04)', () => {
  const set = statefulSetView({ name: 'db', spec: { replicas: 1, templateLabels: labels } });
  const bed = zoneBudgetBed({ otherSets: [set] });
  assert.deepEqual(Object.fromEntries(statusOf(bed)?.disruptionsAllowed ?? []), {
    a: 0,
    b: 0,
    c: 0,
  });
  assert.equal(evict(bed, 'web-0'), 'denied');
});

test('projectStatus() passes over a set that the selector does not match', () => {
  const set = statefulSetView({ name: 'db', spec: { replicas: 1 } });
  const pods = [podView({ name: 'db-0', phase: 'Pending' })];
  const bed = zoneBudgetBed({ otherSets: [set], others: pods });
  assert.deepEqual(Object.fromEntries(statusOf(bed)?.disruptionsAllowed ?? []), {
    a: 1,
    b: 1,
    c: 1,
  });
});
