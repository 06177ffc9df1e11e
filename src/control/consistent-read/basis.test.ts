import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonic } from '#base/units.ts';
import { InformerFreshness } from '#kubernetes/informer/informer-freshness.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { ageOf, type Basis, maxDecisionAge, typeBasis } from './basis.ts';

function basis(podsAt: number, setsAt: number, budgetsAt?: number): Basis {
  const part = { view: '5', proof: '5' };
  return {
    pods: { ...part, provenAt: monotonic(podsAt) },
    statefulSets: { ...part, provenAt: monotonic(setsAt) },
    budgets:
      budgetsAt === undefined
        ? { kind: 'not-permitted' }
        : { kind: 'proven', provenAt: monotonic(budgetsAt) },
  };
}

test('maxDecisionAge is 10 s (D-3)', () => {
  assert.equal(maxDecisionAge, 10_000);
});

const ages: Record<string, readonly [basis: Basis, age: number]> = {
  'of the pods where they are older': [basis(1_000, 4_000), 8_000],
  'of the sets where they are older': [basis(4_000, 1_000), 8_000],
  'of both where they are equal': [basis(4_000, 4_000), 5_000],
  'of the budgets where they are older (D-51)': [basis(4_000, 3_000, 2_000), 7_000],
};

for (const [of, [rests, age]] of Object.entries(ages)) {
  test(`ageOf() is the age ${of}`, () => {
    assert.equal(ageOf(rests, monotonic(9_000)), age);
  });
}

interface Caches {
  readonly clock: FakeClock;
  readonly pods: InformerFreshness;
  readonly sets: InformerFreshness;
}

function caches(): Caches {
  const clock = new FakeClock(1_000);
  const pods = new InformerFreshness(clock, 'pods');
  const sets = new InformerFreshness(clock, 'statefulsets');
  for (const each of [pods, sets]) each.listed('50', monotonic(900));
  return { clock, pods, sets };
}

test('typeBasis() names what is seen and what proves it, each type by itself', () => {
  const { pods, sets } = caches();
  pods.delivered('57');
  pods.ownWrite({ sentAt: monotonic(950), before: '51', answered: '55' });
  assert.deepEqual(typeBasis(pods), { view: '57', proof: '55', provenAt: 950 });
  assert.deepEqual(typeBasis(sets), { view: '50', proof: '50', provenAt: 900 });
});

/** Every way in which a proof of the pods can be wrong; where it is, the one of the list at 900 ms stays. */
const wrongProofs: Record<string, (caches: Caches) => void> = {
  'a write of the other type': ({ sets }) => {
    sets.delivered('60');
    sets.ownWrite({ sentAt: monotonic(950), before: '55', answered: '60' });
  },
  'a write that changed nothing': ({ pods }) => {
    pods.delivered('60');
    pods.ownWrite({ sentAt: monotonic(950), before: '55', answered: '55' });
  },
  'a repeated deletion, answered with an older revision': ({ pods }) => {
    pods.delivered('60');
    pods.ownWrite({ sentAt: monotonic(950), before: '55', answered: '54' });
  },
  'a write that the cache does not show yet': ({ pods }) => {
    pods.delivered('59');
    pods.ownWrite({ sentAt: monotonic(950), before: '55', answered: '60' });
  },
  'a list that is ahead of the cache': ({ pods }) => {
    pods.delivered('59');
    pods.consistentRead('60', monotonic(950));
  },
  'a list that was sent before the last proof': ({ pods }) => {
    pods.consistentRead('50', monotonic(800));
  },
};

for (const [what, happens] of Object.entries(wrongProofs)) {
  test(`typeBasis() takes no proof of pods from ${what} (D-5)`, () => {
    const all = caches();
    happens(all);
    assert.equal(typeBasis(all.pods)?.provenAt, 900);
  });
}

const rightProofs: Record<string, (caches: Caches) => void> = {
  'a write once the cache shows it': ({ pods }) => {
    pods.ownWrite({ sentAt: monotonic(950), before: '55', answered: '60' });
    pods.delivered('60');
  },
  'a write that the cache had shown before its answer came': ({ pods }) => {
    pods.delivered('61');
    pods.ownWrite({ sentAt: monotonic(950), before: '55', answered: '60' });
  },
  'a list that the cache is ahead of': ({ pods }) => {
    pods.delivered('61');
    pods.consistentRead('60', monotonic(950));
  },
};

for (const [what, happens] of Object.entries(rightProofs)) {
  test(`typeBasis() counts the age from the sending of ${what}, not from its answer (D-3)`, () => {
    const all = caches();
    happens(all);
    assert.equal(typeBasis(all.pods)?.provenAt, 950);
  });
}

test('typeBasis() is undefined while the type has no proof', () => {
  const clock = new FakeClock();
  const unproven = new InformerFreshness(clock, 'statefulsets');
  unproven.delivered('50');
  assert.equal(typeBasis(unproven), undefined);
});

test('typeBasis() is undefined after a relist, and what was pending before proves nothing (D-5)', () => {
  const { pods } = caches();
  pods.ownWrite({ sentAt: monotonic(950), before: '55', answered: '60' });
  pods.reset();
  assert.equal(typeBasis(pods), undefined);
  pods.delivered('60');
  assert.equal(typeBasis(pods), undefined);
});

test('a consistent read older than what had been seen when it was sent ends all trust (D-6)', async () => {
  const { clock, pods } = caches();
  pods.delivered('60');
  await clock.advance(1_000);
  assert.throws(() => pods.consistentRead('59', clock.monotonic()), {
    name: 'RevisionWentBackError',
  });
});
