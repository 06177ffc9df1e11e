import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, monotonic } from '#base/units.ts';
import { InformerRig, runningRig } from '#support/api-server/informer-rig.ts';
import { RefusedError } from '#support/api-server/scripted-client.ts';
import { RevisionWentBackError } from '../revision.ts';
import { TransportError } from '../transport/transport.ts';

const never = new AbortController().signal;

/** From now on every request is refused. */
function refuseAll(rig: InformerRig): void {
  const refuse = (): never => {
    throw new RefusedError(503);
  };
  rig.client.script = { list: refuse, watch: refuse };
}

/** From now on no list is answered; each ends with a timeout after 10 s. */
function freezeLists({ client, clock, server }: InformerRig): void {
  client.script = {
    list: async () => {
      await clock.sleep(millis(10_000));
      throw new TransportError('no whole answer within 10000 ms', 'timeout');
    },
    watch: (query, stream) => server.watch(query, stream),
  };
}

/** The server answers again. */
function heal(rig: InformerRig): void {
  rig.client.script = rig.server;
}

/** Since when and why the view of `rig` is stale. */
function stale({ informer }: InformerRig): string | undefined {
  const { staleness } = informer;
  return staleness === undefined ? undefined : `${staleness.since}: ${staleness.message}`;
}

test('staleness says that the watch has been failing for 30 s, and since when; both changes are reported', async () => {
  const rig = await runningRig();
  const states: boolean[] = [];
  rig.informer.onState(() => states.push(rig.informer.staleness !== undefined));
  await rig.clock.advance(1_000);
  refuseAll(rig);
  rig.client.watching.break();
  await rig.clock.advance(29_999);
  assert.equal(stale(rig), undefined);
  await rig.clock.advance(1);
  assert.equal(stale(rig), '1000: Cannot watch pods in namespace "demo": the server answered 503');
  heal(rig);
  rig.server.put('c', 'three');
  await rig.clock.advance(30_000);
  assert.equal(stale(rig), undefined);
  assert.deepEqual(
    rig.problems.filter(({ reason }) => reason.startsWith('View')).map(({ message }) => message),
    [
      'The view of pods in namespace "demo" is not kept up to date: Cannot watch pods in namespace "demo": the server answered 503',
      'The view of pods in namespace "demo" is kept up to date again',
    ],
  );
  assert.deepEqual(states, [true, false]);
  await rig.finish();
});

test('staleness says that the list has been failing for 30 s', async () => {
  const rig = new InformerRig();
  refuseAll(rig);
  await rig.run();
  await rig.clock.advance(29_999);
  assert.equal(stale(rig), undefined);
  await rig.clock.advance(1);
  assert.equal(stale(rig), '0: Cannot list pods in namespace "demo": the server answered 503');
  heal(rig);
  await rig.clock.advance(30_000);
  assert.equal(stale(rig), undefined);
  assert.equal(rig.informer.hasSynced, true);
  await rig.finish();
});

test('staleness says that a list has had no answer for 30 s, before it fails', async () => {
  const rig = new InformerRig();
  rig.server.streaming = 'refused';
  const { server, clock } = rig;
  rig.client.script = {
    list: (query) => clock.sleep(millis(100_000)).then(() => server.list(query)),
    watch: (query, stream) => server.watch(query, stream),
  };
  await rig.run();
  await clock.advance(30_000);
  assert.equal(
    stale(rig),
    '0: the server does not answer the list or watch of pods in namespace "demo"',
  );
  await clock.advance(70_000);
  assert.equal(stale(rig), undefined);
  await rig.finish();
});

test('staleness does not mind a list that takes its time, while parts of it come', async () => {
  const rig = new InformerRig();
  rig.server.streaming = 'silent';
  await rig.run();
  for (let part = 0; part < 5; part += 1) {
    await rig.clock.advance(29_000);
    rig.client.watching.send('ADDED', {
      metadata: { name: `p${part}`, namespace: 'demo', uid: `u${part}`, resourceVersion: '9' },
    });
  }
  await rig.clock.settle();
  assert.equal(stale(rig), undefined);
  assert.deepEqual(rig.reasons(), []);
  await rig.finish();
});

test('staleness does not mind silence, with bookmarks or without, when nothing is known to be newer', async () => {
  const rig = await runningRig();
  await rig.clock.advance(600_000);
  assert.equal(stale(rig), undefined);
  assert.deepEqual(rig.reasons(), []);
  await rig.finish();
});

test('staleness does not mind a watch that is mended within 30 s, although it then tells nothing', async () => {
  const rig = await runningRig();
  refuseAll(rig);
  rig.client.watching.break();
  await rig.clock.advance(20_000);
  heal(rig);
  await rig.clock.advance(300_000);
  assert.deepEqual(
    rig.reasons().filter((reason) => reason.startsWith('View')),
    [],
  );
  await rig.finish();
});

test('staleness counts from the first failure when a watch is answered and breaks again at once', async () => {
  const rig = await runningRig();
  refuseAll(rig);
  rig.client.watching.break();
  await rig.clock.advance(20_000);
  heal(rig);
  await rig.clock.advance(6_000);
  const [last] = rig.server.open.slice(-1);
  assert.ok(last !== undefined && !last.isOver);
  refuseAll(rig);
  last.break();
  await rig.clock.advance(4_000);
  assert.match(stale(rig) ?? '', /^0: Cannot watch pods/);
  await rig.finish();
});

test('staleness ends when a watch was answered and has lasted for 10 s, although it tells nothing', async () => {
  const rig = await runningRig();
  refuseAll(rig);
  rig.client.watching.break();
  await rig.clock.advance(40_000);
  assert.notEqual(stale(rig), undefined);
  heal(rig);
  const before = rig.watches();
  while (rig.watches() === before) await rig.clock.advance(100);
  await rig.clock.advance(9_800);
  assert.notEqual(stale(rig), undefined);
  await rig.clock.advance(200);
  assert.equal(stale(rig), undefined);
  await rig.finish();
});

test('staleness says that the answer of an own write has not been delivered for 30 s', async () => {
  const rig = await runningRig();
  const { freshness } = rig.informer;
  await rig.clock.advance(5_000);
  freshness.ownWrite({ sentAt: monotonic(4_900), before: '3', answered: '7' });
  await rig.clock.advance(29_999);
  assert.equal(stale(rig), undefined);
  await rig.clock.advance(1);
  assert.equal(
    stale(rig),
    '5000: the watch of pods in namespace "demo" does not show what the server is known to have',
  );
  rig.client.watching.bookmark(7);
  await rig.clock.settle();
  assert.equal(stale(rig), undefined);
  await rig.finish();
});

test('staleness counts from the oldest of several own writes that were not delivered', async () => {
  const rig = await runningRig();
  const { freshness } = rig.informer;
  for (const [at, answered] of [
    [0, '7'],
    [10_000, '8'],
    [20_000, '9'],
  ] as const) {
    await rig.clock.advance(at - rig.clock.monotonic());
    freshness.ownWrite({ sentAt: monotonic(at), before: '3', answered });
  }
  rig.client.watching.bookmark(7);
  await rig.clock.advance(19_999);
  assert.equal(stale(rig), undefined);
  await rig.clock.advance(1);
  assert.match(stale(rig) ?? '', /^10000: the watch of pods/);
  await rig.finish();
});

const reads: Record<string, readonly [newest: string | undefined, stale: boolean]> = {
  'an object that a consistent read has shown newer': ['7', true],
  'the revision of a consistent read, which only a bookmark tells': [undefined, false],
  'an object of a consistent read that was delivered': ['3', false],
};

for (const [what, [newest, isStale]] of Object.entries(reads)) {
  test(`staleness ${isStale ? 'minds' : 'does not mind'} ${what}`, async () => {
    const rig = await runningRig();
    await rig.clock.advance(1_000);
    rig.informer.freshness.consistentRead('9', monotonic(900), newest);
    await rig.clock.advance(30_000);
    assert.equal(rig.informer.staleness !== undefined, isStale);
    await rig.finish();
  });
}

test('staleness outlives a relist that has not delivered what is known', async () => {
  const rig = await runningRig();
  rig.informer.freshness.ownWrite({ sentAt: monotonic(0), before: '3', answered: '7' });
  rig.server.compact();
  rig.client.watching.send('ERROR', { code: 410 });
  await rig.clock.advance(30_000);
  assert.match(stale(rig) ?? '', /^0: the watch of pods/);
  await rig.finish();
});

test('a type that is absent is not stale, and not probed', async () => {
  const rig = new InformerRig({ isAbsentAllowed: true });
  rig.client.script = {
    list: () => {
      throw new RefusedError(404);
    },
    watch: () => {
      throw new RefusedError(404);
    },
  };
  await rig.run();
  await rig.clock.advance(100_000);
  const asked = rig.client.calls.length;
  await rig.informer.probe(never);
  assert.equal(rig.client.calls.length, asked);
  assert.deepEqual(rig.reasons(), ['TypeAbsent']);
  await rig.finish();
});

test('nextProbe is 20 s after the last delivery or the last probe that was answered', async () => {
  const rig = await runningRig();
  assert.equal(rig.informer.nextProbe, 20_000);
  await rig.clock.advance(15_000);
  rig.client.watching.bookmark(3);
  await rig.clock.settle();
  assert.equal(rig.informer.nextProbe, 35_000);
  await rig.clock.advance(25_000);
  await rig.informer.probe(never);
  assert.equal(rig.informer.nextProbe, 60_000);
  await rig.finish();
});

test('probe() reads one object consistently, and only when it is due; many share one request', async () => {
  const rig = await runningRig();
  rig.client.calls.length = 0;
  await rig.clock.advance(19_999);
  await rig.informer.probe(never);
  assert.deepEqual(rig.client.calls, []);
  await rig.clock.advance(1);
  await Promise.all([rig.informer.probe(never), rig.informer.probe(never)]);
  assert.deepEqual(rig.client.calls, [{ verb: 'list', query: { namespace: 'demo', limit: 1 } }]);
  assert.equal(stale(rig), undefined);
  assert.deepEqual(rig.informer.freshness.proof, {
    revision: '3',
    sentAt: 20_000,
    by: 'consistent-read',
  });
  await rig.finish();
});

test('probe() without an answer makes the view stale since the last delivery, 30 s after that (D-54)', async () => {
  const rig = await runningRig();
  freezeLists(rig);
  await rig.clock.advance(20_000);
  const probed = rig.informer.probe(never);
  await rig.clock.advance(9_999);
  assert.equal(stale(rig), undefined);
  await rig.clock.advance(1);
  await probed;
  assert.equal(
    stale(rig),
    '0: a read of pods in namespace "demo" failed: no whole answer within 10000 ms',
  );
  heal(rig);
  await rig.clock.advance(2_000);
  await rig.informer.probe(never);
  assert.equal(stale(rig), undefined);
  await rig.finish();
});

test('probe() without an answer ends as soon as the watch delivers something', async () => {
  const rig = await runningRig();
  freezeLists(rig);
  await rig.clock.advance(20_000);
  const probed = rig.informer.probe(never);
  await rig.clock.advance(5_000);
  rig.client.watching.bookmark(3);
  await rig.clock.advance(5_000);
  await probed;
  await rig.clock.advance(30_000);
  assert.equal(stale(rig), undefined);
  await rig.finish();
});

test('probe() that fails at once is believed 10 s after it was sent, unless another one is answered', async () => {
  const rig = await runningRig();
  await rig.clock.advance(60_000);
  refuseAll(rig);
  await rig.informer.probe(never);
  assert.equal(rig.informer.nextProbe, 62_000);
  await rig.clock.advance(9_999);
  assert.equal(stale(rig), undefined);
  await rig.clock.advance(1);
  assert.equal(stale(rig), '0: a read of pods in namespace "demo" failed: the server answered 503');
  heal(rig);
  await rig.informer.probe(never);
  assert.equal(stale(rig), undefined);
  await rig.finish();
});

test('probe() of a blip is never reported', async () => {
  const rig = await runningRig();
  await rig.clock.advance(60_000);
  refuseAll(rig);
  await rig.informer.probe(never);
  heal(rig);
  await rig.clock.advance(2_000);
  await rig.informer.probe(never);
  await rig.clock.advance(20_000);
  assert.deepEqual(rig.reasons(), []);
  await rig.finish();
});

test('probe() leaves who has waited long enough', async () => {
  const rig = await runningRig();
  freezeLists(rig);
  await rig.clock.advance(20_000);
  const leave = new AbortController();
  const probed = assert.rejects(rig.informer.probe(leave.signal), /left/);
  leave.abort(new Error('left'));
  await probed;
  await rig.clock.advance(10_000);
  assert.notEqual(stale(rig), undefined);
  await rig.finish();
});

test('probe() that is answered by a restored server throws, as no cache can be trusted (D-6)', async () => {
  const rig = await runningRig();
  await rig.clock.advance(20_000);
  rig.server.revision = 2;
  await assert.rejects(rig.informer.probe(never), RevisionWentBackError);
  await rig.finish();
});

test('an informer that has ended tells nothing more', async () => {
  const rig = await runningRig();
  rig.informer.freshness.ownWrite({ sentAt: monotonic(0), before: '3', answered: '7' });
  await rig.finish();
  await rig.clock.advance(60_000);
  assert.deepEqual(rig.reasons(), []);
  assert.deepEqual(rig.clock.pending(), []);
});
