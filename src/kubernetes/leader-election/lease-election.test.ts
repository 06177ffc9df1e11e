import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { JsonObject } from '#base/json.ts';
import type { RequestFate } from '#support/api-server/lease-server.ts';
import { type Candidate, LeaseWorld } from '#support/api-server/lease-world.ts';
import type { LeaderState } from './leader-election.ts';

const label = { 'rollout-operator/scope': 'x' };

/** A Lease as another process left it, in term 7. */
function held(spec: JsonObject = {}, annotations: JsonObject = {}): JsonObject {
  const times = {
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: '2026-01-01T00:00:00.000000Z',
  };
  return {
    metadata: { annotations },
    spec: {
      holderIdentity: 'old',
      leaseDurationSeconds: 15,
      leaseTransitions: 7,
      ...times,
      ...spec,
    },
  };
}

function predecessorOf({ election }: Candidate): unknown {
  const { state } = election;
  return state.kind === 'leading' || state.kind === 'unavailable' ? state.predecessor : state.kind;
}

function times(count: number, fate: RequestFate): readonly RequestFate[] {
  return Array.from({ length: count }, () => fate);
}

/** What it leads as; fails where it does not hold the Lease. */
function leadershipOf({ election }: Candidate): LeaderState & { kind: 'leading' } {
  const { state } = election;
  assert.ok(state.kind === 'leading', state.kind);
  return state;
}

function kindsOf({ states }: Candidate): readonly string[] {
  return states.map(({ kind }) => kind);
}

describe('createLeaderElection()', () => {
  test('creates the Lease with the fields of client-go and the scope it serves, and leads', async () => {
    const world = new LeaseWorld();
    const a = world.start('a');
    await world.run(1_000);
    assert.deepEqual(world.server.stored(), {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: 'rollout-operator',
        namespace: 'x',
        uid: 'uid-1',
        resourceVersion: '101',
        labels: label,
      },
      spec: {
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        acquireTime: '2026-01-01T00:00:00.002000Z',
        renewTime: '2026-01-01T00:00:00.002000Z',
        leaseTransitions: 0,
      },
    });
    assert.equal(leadershipOf(a).term, 'uid-1/0/a');
    assert.deepEqual(predecessorOf(a), { kind: 'none' });
  });

  test('renews every retry period, and only the time of renewal changes', async () => {
    const world = new LeaseWorld();
    world.start('a');
    await world.run(1_000);
    const before = world.server.stored();
    await world.run(8_000);
    assert.deepEqual(world.requestsOf('a'), [
      'get 0',
      'create 2',
      'update 2000',
      'update 4000',
      'update 6000',
      'update 8000',
    ]);
    assert.deepEqual(world.server.stored(), {
      ...before,
      metadata: { ...before?.metadata, annotations: {}, resourceVersion: '105' },
      spec: { ...(before?.['spec'] as JsonObject), renewTime: '2026-01-01T00:00:08.000000Z' },
    });
  });

  test('follows without a write while another renews', async () => {
    const world = new LeaseWorld();
    world.start('a');
    await world.run(500);
    const b = world.start('b');
    await world.run(60_000);
    assert.deepEqual(
      new Set(world.requestsOf('b').map((each) => each.split(' ')[0])),
      new Set(['get']),
    );
    assert.equal(world.requestsOf('b').length, 31);
    assert.deepEqual(b.election.state, { kind: 'candidate', because: 'it is held by "a"' });
    assert.deepEqual(world.holders(), ['a']);
  });

  test('takes over when a killed leader was not seen to renew for the lease duration', async () => {
    const world = new LeaseWorld();
    const a = world.start('a');
    await world.run(500);
    const b = world.start('b');
    await world.run(10_000);
    a.kill.abort();
    // Its last renewal was sent at 10.0 s and seen at 10.502 s.
    await world.run(25_502 - 10_500 - 2);
    assert.equal(b.election.state.kind, 'candidate');
    await world.run(2_100);
    assert.deepEqual(predecessorOf(b), {
      kind: 'unclean',
      countedFrom: 1_767_225_600_000 + 25_502,
      because: 'its holder "a" did not give it up',
    });
    assert.equal(leadershipOf(b).term, 'uid-1/1/b');
  });

  test('is followed within a retry period by another when it ends in good order', async () => {
    const world = new LeaseWorld();
    const a = world.start('a');
    await world.run(500);
    const b = world.start('b');
    await world.run(10_000);
    const ended = a.election.end({ isClean: true });
    await world.run(2_010);
    await ended;
    assert.deepEqual(a.election.state, { kind: 'ended', isClean: true });
    assert.deepEqual(predecessorOf(b), { kind: 'ended', term: 'uid-1/0/a' });
    assert.deepEqual(world.server.stored()?.metadata.annotations, {
      'rollout-operator/under-way':
        '{"term":"uid-1/1/b","renewTime":"2026-01-01T00:00:12.502000Z","requests":[]}',
    });
  });

  test('empties the holder and names the ended term in one update', async () => {
    const world = new LeaseWorld();
    const a = world.start('a');
    await world.run(1_000);
    const ended = a.election.end({ isClean: true });
    await world.run(100);
    await ended;
    const stored = world.server.stored();
    assert.equal(stored?.metadata.resourceVersion, '102');
    assert.deepEqual(stored.metadata.annotations, { 'rollout-operator/ended-term': 'uid-1/0/a' });
    assert.deepEqual(stored['spec'], {
      holderIdentity: '',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.002000Z',
      renewTime: '2026-01-01T00:00:01.000000Z',
      leaseTransitions: 0,
    });
    await a.done;
  });

  test('aborts the signal of its work, and holds nothing, before it gives the Lease up', async () => {
    const world = new LeaseWorld();
    const a = world.start('a', { fates: [{}, {}, { transit: 3_000 }] });
    await world.run(1_000);
    const { signal } = leadershipOf(a);
    const ended = a.election.end({ isClean: true });
    await world.run(1);
    assert.equal(signal.aborted, true);
    assert.deepEqual(world.holders(), []);
    await world.run(4_000);
    await ended;
    assert.deepEqual(a.election.state, { kind: 'ended', isClean: true });
  });

  test('writes nothing at an end that is not clean', async () => {
    const world = new LeaseWorld();
    const a = world.start('a');
    await world.run(1_000);
    await a.election.end({ isClean: false });
    await world.run(100);
    assert.deepEqual(world.requestsOf('a'), ['get 0', 'create 2']);
    assert.deepEqual(a.election.state, { kind: 'ended', isClean: false });
  });

  test('claims no clean end before its own predecessor was waited out, and does so after', async () => {
    for (const [waited, isClean] of [
      [134_000, false],
      [136_000, true],
    ] as const) {
      const world = new LeaseWorld();
      world.server.add('rollout-operator', held());
      const a = world.start('a');
      await world.run(waited);
      const ended = a.election.end({ isClean: true });
      await world.run(100);
      await ended;
      assert.deepEqual(a.election.state, { kind: 'ended', isClean });
    }
  });

  test('gives up an acquisition that is under way when it is asked to end', async () => {
    const world = new LeaseWorld();
    const a = world.start('a', { fates: [{}, { back: 500 }] });
    await world.run(100);
    const ended = a.election.end({ isClean: true });
    await world.run(1_000);
    await ended;
    assert.deepEqual(kindsOf(a), ['ended']);
    assert.deepEqual(world.server.stored()?.metadata.annotations, {
      'rollout-operator/ended-term': 'uid-1/0/a',
    });
  });

  const badEnds: Readonly<Record<string, RequestFate>> = {
    'is lost': { outcome: 'answer-lost' },
    'fails although it was applied': { outcome: 'applied-500' },
    'meets a conflict': { outcome: 'unapplied-409' },
    fails: { outcome: 'unapplied-500' },
  };
  for (const [fact, fate] of Object.entries(badEnds)) {
    test(`ends within its renew deadline when the last update ${fact}`, async () => {
      const world = new LeaseWorld();
      const a = world.start('a', { fates: [{}, {}, fate] });
      await world.run(1_000);
      const ended = a.election.end({ isClean: true });
      await world.run(10_000);
      await ended;
      const stored = world.server.stored()?.metadata.annotations?.['rollout-operator/ended-term'];
      const { state } = a.election;
      assert.equal(state.kind, 'ended');
      // What is claimed stands there.
      assert.equal(state.kind === 'ended' && state.isClean && stored !== 'uid-1/0/a', false);
    });
  }

  test('aborts its work at the renew deadline after the last renewal that was sent, and says why', async () => {
    const world = new LeaseWorld();
    const lost = { outcome: 'unapplied-500' } as const;
    const a = world.start('a', { fates: [{}, {}, {}, ...times(9, lost)] });
    await world.run(11_999);
    const { signal } = leadershipOf(a);
    assert.equal(signal.aborted, false);
    await world.run(1);
    assert.equal(signal.aborted, true);
    assert.deepEqual(a.election.state, {
      kind: 'lost',
      because: 'The Lease was lost: it was not renewed for 10 s',
    });
    await a.done;
    assert.deepEqual(a.log.lines, [
      'info leading term=uid-1/0/a predecessor=none',
      'warn lease request failed err=Cannot replace Lease: leases: InternalError (500 InternalError)',
      'error leadership lost reason=it was not renewed for 10 s',
    ]);
  });

  test('holds nothing at once when a pause has outlasted the renew deadline, and sends no renewal', async () => {
    const world = new LeaseWorld();
    const a = world.start('a', { fates: [{}, {}, {}, { pauseBefore: 600_000 }] });
    await world.run(13_999);
    assert.deepEqual(world.holders(), []);
    await world.run(600_000);
    assert.equal(a.election.state.kind, 'lost');
    assert.deepEqual(world.requestsOf('a'), ['get 0', 'create 2', 'update 2000']);
  });

  test('goes on leading after a pause within the renew deadline', async () => {
    const world = new LeaseWorld();
    const a = world.start('a', { fates: [{}, {}, {}, { pauseBefore: 7_500 }] });
    world.start('b');
    await world.run(60_000);
    assert.deepEqual(world.holders(), ['a']);
    assert.deepEqual(kindsOf(a), ['leading']);
  });

  test('follows after a loss when it is run again, and concludes nothing of its own last term', async () => {
    const world = new LeaseWorld();
    const lost = { outcome: 'unapplied-500' } as const;
    const a = world.start('a', { fates: [{}, {}, ...times(9, lost)] });
    await world.run(20_000);
    assert.equal(a.election.state.kind, 'lost');
    void a.election.run(a.kill.signal);
    await world.run(20_000);
    assert.equal(leadershipOf(a).term, 'uid-1/1/a');
    assert.equal(leadershipOf(a).predecessor.kind, 'unclean');
  });

  test('renews what was labelled by hand in the same round', async () => {
    const world = new LeaseWorld();
    world.start('a');
    await world.run(1_000);
    world.server.edit({}, { note: 'mine' });
    await world.run(2_000);
    assert.deepEqual(world.requestsOf('a').slice(2), ['update 2000', 'get 2002', 'update 2004']);
    assert.deepEqual(world.server.stored()?.metadata.annotations, { note: 'mine' });
  });

  test('writes another time of renewal although its wall clock shows the same one', async () => {
    const world = new LeaseWorld();
    world.start('a');
    await world.run(3_000);
    world.clock.setWallClock(-2_000);
    await world.run(2_000);
    const spec = world.server.stored()?.['spec'] as JsonObject;
    assert.equal(spec['renewTime'], '2026-01-01T00:00:02.000001Z');
  });

  test('resolves leading() when it leads, and rejects when it is asked to stop waiting', async () => {
    const world = new LeaseWorld();
    world.server.add('rollout-operator', held());
    const a = world.start('a');
    const patience = new AbortController();
    const given = a.election.leading(patience.signal);
    patience.abort(new Error('enough'));
    await assert.rejects(given, /enough/);
    const leading = a.election.leading(new AbortController().signal);
    await world.run(16_100);
    assert.equal((await leading).kind, 'leading');
  });
});

/** What the Lease says when the first process starts; it was first seen 2 ms after the start. */
const leftBehind: Readonly<Record<string, JsonObject>> = {
  'has an unknown holder': held({ holderIdentity: 'kubectl' }),
  'has no time of renewal': held({ renewTime: undefined }),
  'is renewed next year': held({ renewTime: '2027-01-01T00:00:00.000000Z' }),
  'was renewed long ago': held({ renewTime: '1999-01-01T00:00:00.000000Z' }),
  'was emptied by hand': held({ holderIdentity: '' }),
  'has no spec': {},
  'names the end of another term': held(
    { holderIdentity: '' },
    { 'rollout-operator/ended-term': 'uid-1/6/old' },
  ),
};
describe('createLeaderElection() takes a Lease for uncleanly ended that', () => {
  for (const [fact, left] of Object.entries(leftBehind)) {
    test(fact, async () => {
      const world = new LeaseWorld();
      world.server.add('rollout-operator', left);
      const a = world.start('a');
      await world.run(14_900);
      assert.deepEqual(world.holders(), []);
      await world.run(1_200);
      const { predecessor } = leadershipOf(a);
      assert.equal(predecessor.kind === 'unclean' && predecessor.countedFrom, 1_767_225_615_002);
    });
  }
});

describe('createLeaderElection() on a Lease that is changed in mid-term', () => {
  const changes: Readonly<Record<string, (world: LeaseWorld) => void>> = {
    'is given to an unknown holder': ({ server }) => server.edit({ holderIdentity: 'kubectl' }),
    'is emptied': ({ server }) => server.edit({ holderIdentity: '' }),
    'is given another term': ({ server }) => server.edit({ leaseTransitions: 9 }),
    'is deleted': ({ server }) => server.remove(),
    'is deleted and made again': ({ server }) => {
      server.remove();
      server.add('rollout-operator', held({ holderIdentity: 'a', leaseTransitions: 0 }));
    },
  };
  for (const [fact, change] of Object.entries(changes)) {
    test(`loses it when it ${fact}; a follower then waits a lease, and finds it unclean`, async () => {
      const world = new LeaseWorld();
      const a = world.start('a');
      await world.run(500);
      const b = world.start('b');
      await world.run(3_000);
      change(world);
      await world.run(2_500);
      assert.equal(a.election.state.kind, 'lost');
      await world.run(12_000);
      assert.deepEqual(world.holders(), []);
      await world.run(4_000);
      assert.deepEqual(world.holders(), ['b']);
      assert.equal(leadershipOf(b).predecessor.kind, 'unclean');
    });
  }

  test('keeps it when only its times, its duration or its annotations are edited', async () => {
    const world = new LeaseWorld();
    const a = world.start('a');
    await world.run(500);
    world.start('b');
    await world.run(3_000);
    const times = { renewTime: '2030-01-01T00:00:00.000000Z', acquireTime: undefined };
    world.server.edit(
      { ...times, leaseDurationSeconds: 1 },
      { 'rollout-operator/ended-term': 'uid-1/0/a' },
    );
    await world.run(60_000);
    assert.deepEqual(world.holders(), ['a']);
    assert.deepEqual(kindsOf(a), ['leading']);
    assert.deepEqual(world.server.stored()?.metadata.annotations, {});
  });
});

describe('createLeaderElection() under a Role that does not permit', () => {
  for (const verb of ['get', 'create', 'update'] as const) {
    test(`to ${verb} Leases leads without one, and says so once with the verb`, async () => {
      const world = new LeaseWorld();
      world.server.forbidden.add(verb);
      if (verb === 'update') world.server.add('rollout-operator', held());
      const a = world.start('a');
      await world.run(120_000);
      const { state } = a.election;
      assert.equal(state.kind, 'unavailable');
      assert.equal(
        state.kind === 'unavailable' && state.because,
        `The Role does not permit ${verb} on the Lease`,
      );
      assert.equal(a.election.leads(world.clock.monotonic()), true);
      assert.equal(a.election.isHeld(world.clock.monotonic()), false);
      const warnings = a.log.lines.filter((line) => line.startsWith('warn'));
      assert.equal(warnings.length, 1);
      assert.match(
        warnings[0] ?? '',
        new RegExp(
          `^warn no lease, leading without: every start waits for its predecessor verb=${verb} err=`,
        ),
      );
    });
  }

  test('to get Leases counts the wait from its start', async () => {
    const world = new LeaseWorld();
    world.server.forbidden.add('get');
    const a = world.start('a');
    await world.run(100);
    assert.deepEqual(predecessorOf(a), {
      kind: 'unclean',
      countedFrom: 1_767_225_600_000,
      because: 'the Lease cannot be read',
    });
  });

  test('to get Leases claims no clean end', async () => {
    const world = new LeaseWorld();
    world.server.forbidden.add('get');
    const a = world.start('a');
    await world.run(200_000);
    await a.election.end({ isClean: true });
    assert.deepEqual(a.election.state, { kind: 'ended', isClean: false });
  });

  test('to get Leases asks again every 30 s, and waits again when it gets one', async () => {
    const world = new LeaseWorld();
    world.server.forbidden.add('get');
    const a = world.start('a');
    await world.run(59_000);
    world.server.forbidden.clear();
    await world.run(2_000);
    assert.deepEqual(world.requestsOf('a'), ['get 0', 'get 30000', 'get 60000', 'create 60002']);
    assert.deepEqual(kindsOf(a), ['unavailable', 'leading']);
    // Another without a Lease may have been told to go on at that very instant: 30 s and the renew deadline.
    assert.deepEqual(predecessorOf(a), {
      kind: 'unclean',
      countedFrom: 1_767_225_700_004,
      because: 'this process had no Lease before, and another may have had none either',
    });
  });

  test('to update Leases stops leading without one as soon as it sees that another renews it', async () => {
    const world = new LeaseWorld();
    world.server.forbidden.add('update');
    world.server.add('rollout-operator', held());
    const a = world.start('a');
    await world.run(40_000);
    const { state } = a.election;
    assert.equal(state.kind, 'unavailable');
    world.server.edit({ renewTime: '2026-01-01T00:00:40.000000Z' });
    await world.run(10_000);
    assert.equal(state.kind === 'unavailable' && state.signal.aborted, true);
    assert.equal(a.election.state.kind, 'candidate');
  });

  test('to get Leases stops leading 40 s after the last denial where it hears nothing of its Role any more', async () => {
    const world = new LeaseWorld();
    world.server.forbidden.add('get');
    const a = world.start('a', { fates: [{}, ...times(40, { outcome: 'unapplied-500' })] });
    await world.run(1_000);
    world.server.forbidden.clear();
    const { state } = a.election;
    await world.run(38_999);
    assert.equal(a.election.leads(world.clock.monotonic()), true);
    await world.run(1);
    assert.equal(a.election.leads(world.clock.monotonic()), false);
    await world.run(10);
    assert.equal(state.kind === 'unavailable' && state.signal.aborted, true);
    assert.equal(a.election.state.kind, 'candidate');
  });

  test('to get Leases goes on through requests that fail for less, and waits for nothing again after a silence', async () => {
    const world = new LeaseWorld();
    world.server.forbidden.add('get');
    const a = world.start('a');
    for (const silence of [9_000, 60_000]) {
      await world.run(29_000);
      world.server.hasNoReviews = true;
      await world.run(silence);
      world.server.hasNoReviews = false;
      await world.run(3_000);
      assert.equal(a.election.leads(world.clock.monotonic()), true);
    }
    assert.deepEqual(kindsOf(a), ['unavailable', 'candidate', 'unavailable']);
    assert.deepEqual(predecessorOf(a), {
      kind: 'unclean',
      countedFrom: 1_767_225_600_000,
      because: 'the Lease cannot be read',
    });
  });

  test('to update Leases any more loses it at the renew deadline', async () => {
    const world = new LeaseWorld();
    const a = world.start('a');
    await world.run(3_000);
    world.server.forbidden.add('update');
    await world.run(9_001);
    assert.equal(a.election.state.kind, 'lost');
  });
});

describe('createLeaderElection() under a 403 that is not about the Role', () => {
  for (const hasNoReviews of [false, true]) {
    const what = hasNoReviews ? 'where no review can be had' : 'where the Role permits it';
    test(`follows and says why ${what}`, async () => {
      const world = new LeaseWorld();
      world.server.refused.add('create');
      world.server.hasNoReviews = hasNoReviews;
      const a = world.start('a');
      await world.run(60_000);
      assert.deepEqual([...new Set(kindsOf(a))], ['candidate']);
      const { state } = a.election;
      const why = hasNoReviews
        ? 'leases: Forbidden .*, and whether the Role permits it is unknown: .*InternalError'
        : 'leases: Forbidden .*, although the Role permits it';
      assert.match(state.kind === 'candidate' ? state.because : '', new RegExp(why));
    });
  }
});

describe('createLeaderElection() asks no more often than every retry period', () => {
  test('when every request fails', async () => {
    const world = new LeaseWorld();
    world.start('a', { fates: times(40, { outcome: 'unapplied-500' }) });
    await world.run(9_000);
    assert.deepEqual(world.requestsOf('a'), [
      'get 0',
      'get 2000',
      'get 4000',
      'get 6000',
      'get 8000',
    ]);
  });

  test('when every write meets a conflict', async () => {
    const world = new LeaseWorld();
    world.start('a', { fates: times(40, { outcome: 'unapplied-409' }) });
    await world.run(3_000);
    assert.deepEqual(world.requestsOf('a'), [
      'get 0',
      'create 2',
      'get 4',
      'create 6',
      'get 2000',
      'create 2002',
      'get 2004',
      'create 2006',
    ]);
  });

  test('when no request is answered: each ends at half of the renew deadline', async () => {
    const world = new LeaseWorld();
    world.start('a', { fates: times(40, { outcome: 'answer-lost' }) });
    await world.run(11_000);
    assert.deepEqual(world.requestsOf('a'), ['get 0', 'get 5000', 'get 10000']);
  });
});

const pauses = [7_500, 22_500, 600_000];
describe('two processes never hold the Lease at once', () => {
  for (const span of pauses) {
    for (const place of ['pauseBefore', 'pauseAfter'] as const) {
      test(`[WRIT-1] when one is paused for ${span} ms at any request: ${place}`, async () => {
        for (let call = 0; call < 8; call += 1) {
          const fates = [...times(call, {}), { [place]: span }];
          const world = new LeaseWorld();
          world.start('a', { fates });
          await world.run(700);
          world.start('b', {
            fates: call % 2 === 0 ? [] : [{ transit: 900 }],
            wallAhead: -3_600_000,
          });
          await world.run(span + 60_000);
          assert.equal(world.holders().length, 1);
        }
      });
    }
  }

  const latency = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 4_000 }), fc.constant(20_000));
  const pause = fc.option(fc.constantFrom(2_100, 7_500, 9_990, 14_990, 22_500), {
    freq: 12,
    nil: 0,
  });
  const fate: fc.Arbitrary<RequestFate> = fc.record({
    transit: latency,
    back: latency,
    pauseBefore: pause,
    pauseAfter: pause,
    outcome: fc.constantFrom(
      'ok',
      'ok',
      'ok',
      'unapplied-409',
      'unapplied-500',
      'applied-500',
      'answer-lost',
    ),
  });
  const fates = fc.array(fate, { maxLength: 15 });

  test('[WRIT-1] whatever delays, pauses, conflicts and lost answers there are; then one of them leads', async () => {
    await fc.assert(
      fc.asyncProperty(
        fates,
        fates,
        fc.integer({ min: 0, max: 3_000 }),
        async (first, second, gap) => {
          const world = new LeaseWorld();
          world.start('a', { fates: first });
          await world.run(gap);
          world.start('b', { fates: second, wallAhead: 86_400_000 });
          const isUnusual = (): boolean =>
            world.requestsOf('a').length <= first.length ||
            world.requestsOf('b').length <= second.length;
          // A minute longer than anything unusual happens.
          for (let calm = 0; calm < 60_000; calm = isUnusual() ? 0 : calm + 10_000) {
            await world.run(10_000);
            for (const { election, kill } of world.candidates) {
              if (election.state.kind === 'lost') void election.run(kill.signal);
            }
          }
          assert.equal(world.holders().length, 1);
        },
      ),
      { numRuns: 10 },
    );
  });

  test('[WRIT-1] when the leader ends in good order at any time, and the other takes over', async () => {
    await fc.assert(
      fc.asyncProperty(
        fates,
        fates,
        fc.integer({ min: 0, max: 60_000 }),
        async (first, second, at) => {
          const world = new LeaseWorld();
          const a = world.start('a', { fates: first });
          world.start('b', { fates: second });
          await world.run(at);
          const ended = a.election.end({ isClean: true });
          await world.run(300_000);
          await ended;
          const { state } = a.election;
          assert.equal(state.kind, 'ended');
        },
      ),
      { numRuns: 30 },
    );
  });
});

test('createLeaderElection() sends each request with a deadline below the renew deadline', async () => {
  const world = new LeaseWorld();
  const a = world.start('a', { fates: [{}, {}, { outcome: 'answer-lost' }] });
  await world.run(60_000);
  assert.deepEqual(world.requestsOf('a').slice(0, 5), [
    'get 0',
    'create 2',
    'update 2000',
    'get 7000',
    'update 7002',
  ]);
  assert.deepEqual(kindsOf(a), ['leading']);
});
