/** What a plan gets to know of its budget, without a call of the ledger. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, minutes, monotonic, seconds } from '#base/units.ts';
import {
  BudgetBed,
  budget,
  failed,
  partitions,
  request,
  zones,
} from '#support/budgets/budgeted-zones.ts';
import { T0 } from '#support/objects/views.ts';
import { sight } from '../elapsed.ts';
import { emptyLedger } from '../ledger.ts';
import { type BudgetMoment, permissionsOn, type Wanted } from './governance.ts';
import type { Permission } from './permission.ts';

const term = 'term-1';
const rollout = { asking: { by: 'rollout', term } } as const;

/** What holds of a bed whose ledger was read just now, unless overridden. */
function momentOf(bed: BudgetBed, overrides: Partial<BudgetMoment> = {}): BudgetMoment {
  return {
    standing: bed.standing(),
    ledger: { kind: 'known', ledger: bed.ledger },
    isLedgerFresh: true,
    isViewFresh: true,
    release: {
      now: bed.now,
      leader: { term, arePredecessorsOver: true, isIntended: () => true },
    },
    dropping: new Set(),
    ...overrides,
  };
}

function wanted(slot: string, override = 1): Wanted {
  return { pod: request(slot).pod, by: 'rollout', override };
}

function textOf(permission: Permission): string {
  switch (permission.kind) {
    case 'refused':
    case 'unclear':
      return `${permission.kind}: ${permission.message}`;
    default:
      return permission.kind;
  }
}

function told(moment: BudgetMoment, ...slots: readonly string[]): readonly string[] {
  return permissionsOn(
    moment,
    slots.map((slot) => wanted(slot)),
  ).map(textOf);
}

/** A bed whose ledger has what is allowed to `slots`, in the name of a rollout. */
function given(...slots: readonly string[]): BudgetBed {
  const bed = new BudgetBed(budget({ limit: 2 }));
  for (const slot of slots) assert.equal(bed.ask(slot, rollout), 'allowed');
  return bed;
}

const notReady = 'refused: 1 pod not ready in ingester-zone-b';

test('permissionsOn() has a ledger asked about what nothing stands against', () => {
  assert.deepEqual(told(momentOf(given()), 'a-0', 'a-1'), ['to-ask', 'to-ask']);
});

test('permissionsOn() counts what those before take: one more than the limit is refused at once', () => {
  const [first, second, third = ''] = told(momentOf(given()), 'a-0', 'a-1', 'a-2');
  assert.deepEqual([first, second], ['to-ask', 'to-ask']);
  assert.match(third, /^refused: 2 pods not ready in ingester-zone-a .*given to a rollout/);
});

test('permissionsOn() lets go what is reserved in the name of this term', () => {
  assert.deepEqual(told(momentOf(given('a-0')), 'a-0', 'a-1'), ['given', 'to-ask']);
});

test('permissionsOn() refuses what is reserved, once a pod of another zone is down', () => {
  const bed = given('a-0');
  bed.snapshot = zones({ b: { pods: { 0: failed } } });
  assert.match(told(momentOf(bed), 'a-0')[0] ?? '', new RegExp(`^${notReady}`));
});

const notGiven: Record<string, (bed: BudgetBed) => Partial<BudgetMoment>> = {
  'that is too old': () => ({ isLedgerFresh: false }),
  'while the view is too old': () => ({ isViewFresh: false }),
  'that a write under way may take it out of': () => ({
    dropping: new Set([request('a-0').pod.uid]),
  }),
  'of another term': (bed) => ({
    release: {
      now: bed.now,
      leader: { term: 'term-2', arePredecessorsOver: false, isIntended: () => true },
    },
  }),
  'while this process does not lead': (bed) => ({ release: { now: bed.now } }),
};

for (const [fact, overrides] of Object.entries(notGiven)) {
  test(`permissionsOn() has the ledger asked again about a reservation in one ${fact}`, () => {
    const bed = given('a-0');
    assert.deepEqual(told(momentOf(bed, overrides(bed)), 'a-0'), ['to-ask']);
  });
}

test('permissionsOn() takes what an eviction was allowed for no permission of a rollout', () => {
  const bed = new BudgetBed(budget({ limit: 2 }));
  assert.equal(bed.ask('a-0'), 'allowed');
  assert.deepEqual(told(momentOf(bed), 'a-0'), ['to-ask']);
});

test('permissionsOn() knows nothing of a ledger that was not read, and refuses by what the pods show', () => {
  const bed = given('b-0');
  const ledger = { kind: 'unread' } as const;
  assert.deepEqual(told(momentOf(bed, { ledger, isLedgerFresh: false }), 'a-0'), ['to-ask']);
  bed.snapshot = zones({ b: { pods: { 0: failed } } });
  assert.match(told(momentOf(bed, { ledger }), 'a-0')[0] ?? '', new RegExp(`^${notReady}`));
});

test('permissionsOn() asks again where only what others were given a while ago stands against it', () => {
  const bed = given('b-0');
  assert.match(told(momentOf(bed), 'a-0')[0] ?? '', new RegExp(`^${notReady}`));
  assert.deepEqual(told(momentOf(bed, { isLedgerFresh: false }), 'a-0'), ['to-ask']);
});

test('permissionsOn() asks again where the view shows what may have come after the reservation in its way, or before', () => {
  const bed = given('b-0');
  bed.snapshot = zones({ b: { pods: { 0: { uid: 'newer-uid' } } } });
  const sightings = sight([...bed.ledger.reservations.values()], monotonic(5));
  const release = { now: bed.now, sightings: { ...sightings, now: monotonic(9) } };
  assert.deepEqual(told(momentOf(bed, { release })), []);
  assert.deepEqual(told(momentOf(bed, { release }), 'a-0'), ['to-ask']);
  const before = zones();
  bed.snapshot = before;
  assert.match(told(momentOf(bed, { release }), 'a-0')[0] ?? '', new RegExp(`^${notReady}`));
});

test('permissionsOn() tells why it is unknown what is given away, and until when', () => {
  const until = after(T0, seconds(120));
  const ledger = { kind: 'unclear', why: 'there is no ConfigMap ops/ledger', until } as const;
  assert.deepEqual(permissionsOn(momentOf(given(), { ledger }), [wanted('a-0')]), [
    {
      kind: 'unclear',
      message:
        'it is unknown which disruptions the ZoneAwarePodDisruptionBudget ingester has granted, until 2026-01-01T00:02:00Z: there is no ConfigMap ops/ledger',
      until,
    },
  ]);
});

const overrides: Record<
  string,
  { readonly bed: BudgetBed; readonly override: number; readonly want: RegExp }
> = {
  '[zpdb 111] a limit of 0 gives way to the limit of the rollout': {
    bed: new BudgetBed(budget({ limit: 0 })),
    override: 1,
    want: /^to-ask$/,
  },
  '[zpdb 112] a limit of 0 without another one refuses': {
    bed: new BudgetBed(budget({ limit: 0 })),
    override: 0,
    want: /^refused: max unavailable = 0 /,
  },
  '[zpdb 113] a limit of 1 holds whatever the rollout asks for': {
    bed: new BudgetBed(budget({ limit: 1 })),
    override: 0,
    want: /^to-ask$/,
  },
};

for (const [fact, { bed, override, want }] of Object.entries(overrides)) {
  test(`permissionsOn() ${fact}`, () => {
    const [permission] = permissionsOn(momentOf(bed), [wanted('a-0', override)]);
    assert.match(permission === undefined ? '' : textOf(permission), want);
  });
}

test('permissionsOn() [zpdb 114] a limit of 1 that is used up refuses, whatever the rollout asks for', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0'), 'allowed');
  const [permission] = permissionsOn(momentOf(bed), [wanted('b-0', 2)]);
  assert.match(
    permission === undefined ? '' : textOf(permission),
    /^refused: 1 pod not ready in ingester-zone-a/,
  );
});

test('permissionsOn() tells until when a delay across zones keeps a pod back', () => {
  const bed = new BudgetBed(budget({ mode: partitions(minutes(20)) }));
  bed.ledger = emptyLedger(bed.budget.ref);
  bed.snapshot = zones({ b: { pods: { 0: { readySince: after(T0, seconds(-60)) } } } });
  const [permission] = permissionsOn(momentOf(bed), [wanted('a-0')]);
  assert.ok(permission?.kind === 'refused');
  assert.equal(permission.until, after(T0, minutes(19)) + 1);
});
