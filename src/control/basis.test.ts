import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonic } from '#base/units.ts';
import { InformerFreshness } from '#kubernetes/informer-freshness.ts';
import { FakeClock } from '#testing/fake-clock.ts';
import { ageOf, type Basis, basisOfCaches, isFresh, maxDecisionAge } from './basis.ts';

function basis(podsAt: number, setsAt: number): Basis {
  const part = { view: '5', proof: '5' };
  return {
    pods: { ...part, provenAt: monotonic(podsAt) },
    statefulSets: { ...part, provenAt: monotonic(setsAt) },
  };
}

test('maxDecisionAge is 10 s (D-3)', () => {
  assert.equal(maxDecisionAge, 10_000);
});

const ages: Record<string, readonly [podsAt: number, setsAt: number, age: number]> = {
  'of the pods where they are older': [1_000, 4_000, 8_000],
  'of the sets where they are older': [4_000, 1_000, 8_000],
  'of both where they are equal': [4_000, 4_000, 5_000],
};

for (const [of, [podsAt, setsAt, age]] of Object.entries(ages)) {
  test(`ageOf() is the age ${of}`, () => {
    assert.equal(ageOf(basis(podsAt, setsAt), monotonic(9_000)), age);
  });
}

test('isFresh() holds at 10,000 ms and not at 10,001 ms', () => {
  assert.equal(isFresh(basis(500, 0), monotonic(10_000)), true);
  assert.equal(isFresh(basis(500, 0), monotonic(10_001)), false);
});

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

test('basisOfCaches() names what is seen and what proves it, each type by itself', () => {
  const { pods, sets } = caches();
  pods.delivered('57');
  pods.ownWrite({ sentAt: monotonic(950), before: '51', answered: '55' });
  assert.deepEqual(basisOfCaches(pods, sets), {
    pods: { view: '57', proof: '55', provenAt: 950 },
    statefulSets: { view: '50', proof: '50', provenAt: 900 },
  });
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
  test(`basisOfCaches() takes no proof of pods from ${what} (D-5)`, () => {
    const all = caches();
    happens(all);
    assert.equal(basisOfCaches(all.pods, all.sets)?.pods.provenAt, 900);
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
  test(`basisOfCaches() counts the age from the sending of ${what}, not from its answer (D-3)`, () => {
    const all = caches();
    happens(all);
    assert.equal(basisOfCaches(all.pods, all.sets)?.pods.provenAt, 950);
  });
}

test('basisOfCaches() is undefined while a type has no proof', () => {
  const clock = new FakeClock();
  const { pods } = caches();
  const unproven = new InformerFreshness(clock, 'statefulsets');
  unproven.delivered('50');
  assert.equal(basisOfCaches(pods, unproven), undefined);
  assert.equal(basisOfCaches(unproven, pods), undefined);
});

test('basisOfCaches() is undefined after a relist, and what was pending before proves nothing (D-5)', () => {
  const { pods, sets } = caches();
  pods.ownWrite({ sentAt: monotonic(950), before: '55', answered: '60' });
  pods.reset();
  assert.equal(basisOfCaches(pods, sets), undefined);
  pods.delivered('60');
  assert.equal(basisOfCaches(pods, sets), undefined);
});

test('a consistent read older than what had been seen when it was sent ends all trust (D-6)', async () => {
  const { clock, pods } = caches();
  pods.delivered('60');
  await clock.advance(1_000);
  assert.throws(() => pods.consistentRead('59', clock.monotonic()), {
    name: 'RevisionWentBackError',
  });
});
