/** When a reservation ends (BUDG-4); in the place of the scenarios 92 to 97 of the reference, whose memory ends early. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, millis, minutes, monotonic, seconds } from '#base/units.ts';
import { BudgetBed, budget, failed, zones } from '#support/budgets/budgeted-zones.ts';
import { T0, unready } from '#support/objects/views.ts';
import type { Round } from './decision/decide.ts';
import { type Sightings, sight } from './elapsed.ts';
import type { Leader } from './release.ts';
import type { DisruptionSnapshot } from './snapshot.ts';

const a0 = 'ingester-zone-a-0';
const aged = minutes(3);

interface Case {
  /** What has become of the zones. */
  readonly becomes: DisruptionSnapshot;
  /** How long after the permission. @default 3 min */
  readonly later?: ReturnType<typeof seconds>;
  readonly holds: boolean;
}

const successor = { uid: 'newer-uid' };
const notReady = { readySince: undefined, unready: unready() };

/** What holds of a permission for a-0, no matter who has it. */
const always: Record<string, Case> = {
  'while a container of the pod is not ready [zpdb 92]': {
    becomes: zones({ a: { pods: { 0: { areContainersReady: false } } } }),
    holds: true,
  },
  'while the pod has failed [zpdb 93]': {
    becomes: zones({ a: { pods: { 0: failed } } }),
    holds: true,
  },
  'while the pod is terminating': {
    becomes: zones({ a: { pods: { 0: { isTerminating: true } } } }),
    holds: true,
  },
  'while its deletion was sent and is not seen': {
    becomes: { ...zones(), leaving: new Set([`${a0}-uid`]) },
    holds: true,
  },
  'while there is no pod in the slot [zpdb 95]': {
    becomes: zones({ a: { pods: { 0: 'missing' } } }),
    holds: true,
  },
  'while the next pod of the slot is pending [zpdb 94]': {
    becomes: zones({ a: { pods: { 0: { ...successor, phase: 'Pending', ...notReady } } } }),
    holds: true,
  },
  'while the next pod is ready, and not yet for minReadySeconds': {
    becomes: zones({
      a: {
        spec: { minReady: minutes(5) },
        pods: { 0: { ...successor, readySince: after(T0, seconds(60)) } },
      },
    }),
    holds: true,
  },
  'no more once the slot is gone': {
    becomes: zones({ a: { spec: { replicas: 0, ordinalsStart: 0 }, listed: 0 } }),
    later: seconds(1),
    holds: false,
  },
  'for less than 120 s while its set is not under the budget: it may come back': {
    becomes: zones({ a: 'none' }),
    later: millis(119_999),
    holds: true,
  },
  'while the status of the set still counts the slot': {
    becomes: zones({ a: { spec: { replicas: 0 }, status: { replicas: 3 }, listed: 0 } }),
    holds: true,
  },
  'while the pods of any zone cannot be read': {
    becomes: zones({ a: { pods: { 0: successor } }, c: { arePodsUnreadable: true } }),
    holds: true,
  },
  'while the sets cannot be read': {
    becomes: { sets: undefined, leaving: new Set() },
    holds: true,
  },
};

const replaced = zones({ a: { pods: { 0: successor } } });

const ofPods: Record<string, Case> = {
  ...always,
  'no more once the next pod of the slot is available': {
    becomes: replaced,
    later: seconds(1),
    holds: false,
  },
};

const ofEvictions: Record<string, Case> = {
  ...ofPods,
  'no more 120 s after, while its set is not under the budget [zpdb 97]': {
    becomes: zones({ a: 'none' }),
    later: seconds(120),
    holds: false,
  },
  'for less than 120 s while the same pod stays available': {
    becomes: zones(),
    later: millis(119_999),
    holds: true,
  },
  'no more 120 s after, while the same pod stays available [zpdb 96]': {
    becomes: zones(),
    later: seconds(120),
    holds: false,
  },
};

const forEver: Record<string, Case> = {
  'for ever while the same pod stays available': { becomes: zones(), holds: true },
  'for ever while its set is not under the budget, and it is wanted': {
    becomes: zones({ a: 'none' }),
    holds: true,
  },
};

const ofSlots: Record<string, Case> = {
  ...always,
  ...forEver,
  'once the next pod of the slot is available: it names none, and takes that': {
    becomes: replaced,
    holds: true,
  },
};

const term = 'term-1';

/** Who leads in `of`, and wants all away that was given to it. */
function leads(of: string): Leader {
  return { term: of, arePredecessorsOver: true, isIntended: () => true };
}

/** The leader of `term`, which wants `pod` away no more. */
function dropping(pod: string): Leader {
  return { ...leads(term), isIntended: (uid) => uid !== `${pod}-uid` };
}

const askers = {
  eviction: { asking: { by: 'eviction' }, cases: ofEvictions },
  rollout: { asking: { by: 'rollout', term }, cases: { ...ofPods, ...forEver } },
  'scale-down': { asking: { by: 'scale-down', term }, cases: ofSlots },
} as const;

for (const [asker, { asking, cases }] of Object.entries(askers)) {
  for (const [fact, { becomes, later = aged, holds }] of Object.entries(cases)) {
    test(`decide() holds what it gave to the ${asker} ${fact}`, () => {
      const bed = new BudgetBed();
      assert.equal(bed.ask('a-0', { asking }), 'allowed');
      bed.now = after(T0, later);
      bed.snapshot = becomes;
      const leader = leads(term);
      assert.deepEqual(bed.reserved({ leader }), holds ? [a0] : []);
    });
  }
}

test('decide() ends a scale-down whose pod was replaced once it is not wanted any more, and not before the next pod serves', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0', { asking: { by: 'scale-down', term } }), 'allowed');
  bed.snapshot = zones({ a: { pods: { 0: { ...successor, ...notReady } } } });
  assert.deepEqual(bed.reserved({ leader: dropping(a0) }), [a0]);
  bed.snapshot = replaced;
  assert.deepEqual(bed.reserved({ leader: leads(term) }), [a0]);
  assert.deepEqual(bed.reserved({ leader: dropping(a0) }), []);
});

test('decide() ends a rollout whose pod was replaced, though a scale-down of the slot goes on', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0', { asking: { by: 'rollout', term } }), 'allowed');
  assert.equal(bed.ask('a-0', { asking: { by: 'scale-down', term } }), 'allowed');
  bed.snapshot = replaced;
  const { ledger } = bed.decide({ requests: [], leader: leads(term) });
  const claims = [...ledger.reservations.values()].flatMap((each) => each.claims);
  assert.deepEqual(
    claims.map(({ by }) => by),
    ['scale-down'],
  );
});

test('decide() ends an eviction by time once the pod that stayed is available again, and not while it is not', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0'), 'allowed');
  bed.now = after(T0, minutes(10));
  bed.snapshot = zones({ a: { pods: { 0: notReady } } });
  assert.deepEqual(bed.reserved(), [a0]);
  bed.snapshot = zones();
  assert.deepEqual(bed.reserved(), []);
});

const intents: Record<
  string,
  { readonly round: Partial<Round>; readonly pod?: DisruptionSnapshot; readonly holds: boolean }
> = {
  'on a replica that does not lead': { round: {}, holds: true },
  'while its own term lasts': {
    round: { leader: leads('term-1') },
    holds: true,
  },
  'while a predecessor may still have something under way': {
    round: { leader: { ...leads('term-2'), arePredecessorsOver: false } },
    holds: true,
  },
  'no more once the predecessor was waited out and the pod lives on': {
    round: { leader: leads('term-2') },
    holds: false,
  },
  'no more once the predecessor was waited out and the pod lives on, ready or not': {
    round: { leader: leads('term-2') },
    pod: zones({ a: { pods: { 0: notReady } } }),
    holds: false,
  },
  'of a predecessor that was waited out while the pod is going': {
    round: { leader: leads('term-2') },
    pod: zones({ a: { pods: { 0: { isTerminating: true } } } }),
    holds: true,
  },
  'of a predecessor that was waited out while the slot is empty': {
    round: { leader: leads('term-2') },
    pod: zones({ a: { pods: { 0: 'missing' } } }),
    holds: true,
  },
  'no more once its own term does not want the pod away any more, and sent nothing': {
    round: { leader: dropping(a0) },
    holds: false,
  },
  'that its own term dropped while another client has the pod go': {
    round: { leader: dropping(a0) },
    pod: zones({ a: { pods: { 0: { isTerminating: true } } } }),
    holds: true,
  },
  'that its own term dropped while the slot is empty': {
    round: { leader: dropping(a0) },
    pod: zones({ a: { pods: { 0: 'missing' } } }),
    holds: true,
  },
  'when its own term drops the intent for another pod': {
    round: { leader: dropping('ingester-zone-a-1') },
    holds: true,
  },
};

for (const [fact, { round, pod = zones(), holds }] of Object.entries(intents)) {
  test(`decide() holds an intent of our own ${fact}`, () => {
    const bed = new BudgetBed();
    assert.equal(bed.ask('a-0', { asking: { by: 'rollout', term } }), 'allowed');
    bed.now = after(T0, aged);
    bed.snapshot = pod;
    assert.deepEqual(bed.reserved(round), holds ? [a0] : []);
  });
}

test('decide() holds what a program gave away under another Lease for 120 s, whose process it cannot know of', () => {
  const [ours, theirs] = ['lease-uid/3/operator-1', 'other-lease-uid/1/operator-2'];
  for (const [later, held] of [
    [millis(119_999), [a0]],
    [seconds(120), []],
  ] as const) {
    const bed = new BudgetBed();
    assert.equal(bed.ask('a-0', { asking: { by: 'rollout', term: theirs } }), 'allowed');
    bed.now = after(T0, later);
    assert.deepEqual(bed.reserved({ leader: leads(ours) }), held);
  }
});

test('decide() ends what an earlier term of the same Lease gave away as soon as that is over', () => {
  const bed = new BudgetBed();
  const asking = { by: 'rollout', term: 'lease-uid/3/operator-1' } as const;
  assert.equal(bed.ask('a-0', { asking }), 'allowed');
  assert.deepEqual(bed.reserved({ leader: leads('lease-uid/4/operator-2') }), []);
});

test('decide() holds for an eviction what a rollout does not want any more', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0', { asking: { by: 'rollout', term } }), 'allowed');
  assert.equal(bed.ask('a-0'), 'allowed');
  const leader = dropping(a0);
  assert.deepEqual(bed.reserved({ leader }), [a0]);
  bed.now = after(T0, seconds(120));
  assert.deepEqual(bed.reserved({ leader }), []);
});

test('decide() holds for a rollout what an eviction has had for 120 s', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0'), 'allowed');
  assert.equal(bed.ask('a-0', { asking: { by: 'rollout', term } }), 'allowed');
  bed.now = after(T0, aged);
  assert.deepEqual(bed.reserved(), [a0]);
});

test('decide() holds for a rollout that is under way what an eviction has had for 120 s (BUDG-1)', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0'), 'allowed');
  const pod = { name: a0, uid: `${a0}-uid` };
  bed.decide({ begun: [{ pod, asking: { by: 'rollout', term } }] });
  bed.now = after(T0, aged);
  assert.deepEqual(bed.reserved({ leader: leads(term) }), [a0]);
});

test('decide() in a new term takes the intent of the old one over, to finish it (WRIT-2)', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0', { asking: { by: 'rollout', term } }), 'allowed');
  assert.equal(bed.ask('a-0', { asking: { by: 'rollout', term: 'term-2' } }), 'allowed');
  const leader = leads('term-2');
  assert.deepEqual(bed.reserved({ leader }), [a0]);
});

/** What a process knows that first saw the ledger so long ago, by its own clock. */
function seen(bed: BudgetBed, ago = seconds(10)): Sightings {
  return { ...sight([...bed.ledger.reservations.values()], monotonic(0)), now: monotonic(ago) };
}

const clocks: Record<
  string,
  {
    readonly ago?: ReturnType<typeof seconds>;
    readonly wall: ReturnType<typeof seconds>;
    readonly holds: boolean;
  }
> = {
  'when the wall clock steps ahead': { wall: minutes(60), holds: true },
  'in a process that has just found it, though its time is 120 s ago: whose clock wrote that, nobody knows':
    { wall: seconds(120), holds: true },
  'no more once this process has counted 120 s, whatever the wall clock says': {
    ago: seconds(120),
    wall: minutes(-60),
    holds: false,
  },
  'while this process has counted less, though its time lies ahead (D-55)': {
    ago: millis(119_999),
    wall: minutes(-60),
    holds: true,
  },
};

for (const [fact, { ago, wall, holds }] of Object.entries(clocks)) {
  test(`decide() holds what it gave to an eviction ${fact}`, () => {
    const bed = new BudgetBed();
    assert.equal(bed.ask('a-0'), 'allowed');
    bed.now = after(T0, wall);
    assert.deepEqual(bed.reserved({ sightings: seen(bed, ago) }), holds ? [a0] : []);
  });
}

test('sight() keeps since when a claim was seen, and forgets what is gone', () => {
  const bed = new BudgetBed(budget({ limit: 2 }));
  assert.equal(bed.ask('a-0'), 'allowed');
  const first = sight([...bed.ledger.reservations.values()], monotonic(5));
  assert.equal(bed.ask('a-1'), 'allowed');
  const second = sight([...bed.ledger.reservations.values()], monotonic(7), first);
  assert.deepEqual([...second.since.values()], [5, 7]);
  const third = sight([...bed.ledger.reservations.values()], monotonic(9), second);
  assert.deepEqual([...third.since.values()], [5, 7]);
  assert.equal(sight([], monotonic(11), third).since.size, 0);
});

/** What a process knows that saw the reservation come at 5 s, of a view that was proven `at`. */
function viewOf(
  bed: BudgetBed,
  at: number | undefined,
  inPlace: readonly string[] = [],
): Partial<Round> {
  const sightings = sight([...bed.ledger.reservations.values()], monotonic(5_000));
  return {
    sightings: { ...sightings, inPlace: new Set(inPlace) },
    viewProvenAt: at === undefined ? undefined : monotonic(at),
  };
}

const views: Record<
  string,
  { readonly at?: number; readonly inPlace?: readonly string[]; readonly holds: boolean }
> = {
  'though an older view shows another pod in the slot': { at: 4_999, holds: true },
  'though a view that nothing proves shows another pod in the slot': { holds: true },
  'no more once a view that was proven since shows another pod in the slot': {
    at: 5_000,
    holds: false,
  },
  'no more once another pod is in the slot where this very one was seen': {
    inPlace: [`${a0}-uid`],
    holds: false,
  },
};

for (const [fact, { at, inPlace, holds }] of Object.entries(views)) {
  test(`decide() holds what it gave ${fact} (BUDG-4)`, () => {
    const bed = new BudgetBed();
    assert.equal(bed.ask('a-0'), 'allowed');
    bed.snapshot = zones({ a: { pods: { 0: successor } } });
    assert.deepEqual(bed.reserved(viewOf(bed, at, inPlace)), holds ? [a0] : []);
  });
}

test('decide() holds what it gave to two while the view is older than the later of them (BUDG-4)', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0'), 'allowed');
  const first = sight([...bed.ledger.reservations.values()], monotonic(5_000));
  assert.equal(bed.ask('a-0', { asking: { by: 'rollout', term } }), 'allowed');
  const sightings = sight([...bed.ledger.reservations.values()], monotonic(8_000), first);
  bed.snapshot = zones({ a: { pods: { 0: successor } } });
  const at = (time: number): readonly string[] =>
    bed.reserved({ sightings, viewProvenAt: monotonic(time) });
  assert.deepEqual(at(7_999), [a0]);
  assert.deepEqual(at(8_000), []);
});
