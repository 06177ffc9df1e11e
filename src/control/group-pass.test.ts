import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonic } from '#base/units.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import { crashLoop, rawPod, rawStatefulSet } from '#support/objects/objects.ts';
import { T0 } from '#support/objects/views.ts';
import { GroupBench } from '#support/rollouts/group-bench.ts';
import { refusal, type WorldRequest } from '#support/rollouts/group-world.ts';

const DELETES = ['delete ingester-zone-a-0', 'delete ingester-zone-a-1'];
const READS = [
  'list statefulsets rollout-group=ingester',
  'list pods name=ingester-zone-a',
  'list pods name=ingester-zone-b',
];
function refuse(status: number, name: string): (request: WorldRequest) => void {
  return (request) => {
    if (request.name === name) throw refusal(status);
  };
}

function loseAnswer(name: string): (request: WorldRequest) => void {
  return (request) => {
    if (request.name === name) throw new TransportError('no answer', 'timeout');
  };
}

test('a group whose caches are proven fresh is disrupted without a read', async () => {
  const bench = await new GroupBench().proven();
  await bench.pass();
  assert.deepEqual(bench.world.taken(), DELETES);
});

test('a group whose caches are proven for more than 10 s is read once: its sets, then the pods of each (D-4)', async () => {
  const bench = await new GroupBench().proven();
  await bench.world.clock.advance(10_001);
  await bench.pass();
  assert.deepEqual(bench.world.taken(), [...READS, ...DELETES]);
});

const lists = { pods: READS.slice(1), statefulSets: READS.slice(0, 1) } as const;
for (const plural of ['pods', 'statefulSets'] as const) {
  test(`of a group only the ${plural} are read when only their cache has no proof (D-3)`, async () => {
    const bench = await new GroupBench().proven();
    const { freshness } = bench.world[plural];
    const { seen } = freshness;
    freshness.reset();
    if (seen !== undefined) freshness.delivered(seen);
    await bench.pass();
    assert.deepEqual(bench.world.taken(), [...lists[plural], ...DELETES]);
  });
}

test('a group with nothing to do is never read', async () => {
  const bench = new GroupBench({ updateRevision: 'last-hash' });
  await bench.world.clock.advance(60_000);
  await bench.pass();
  await bench.pass();
  assert.deepEqual(bench.world.taken(), []);
});

test('a pod that the list shows terminating is not available, whatever the cache shows', async () => {
  const bench = await new GroupBench().proven();
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  bench.world.annotate('pods', 'ingester-zone-b-2', { deletionTimestamp });
  await bench.world.clock.advance(10_001);
  await bench.pass();
  assert.deepEqual(bench.world.taken(), [...READS, 'delete ingester-zone-b-0']);
});

test('a pod that the list shows available is, although the cache shows another one terminating', async () => {
  const bench = await new GroupBench({ maxUnavailable: '3' }).proven();
  const { world } = bench;
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  world.annotate('pods', 'ingester-zone-a-2', { deletionTimestamp });
  world.show();
  world.drop('pods', 'ingester-zone-a-2');
  world.put('pods', rawPod({ ordinal: 2, uid: 'another', revision: 'new-hash' }));
  await world.clock.advance(10_001);
  await bench.pass();
  assert.deepEqual(world.taken(), [...READS, ...DELETES]);
});

test('a pod of another zone that the cache showed gone while a list was under way stays gone when it lists again', async () => {
  const bench = await new GroupBench().proven();
  const { world } = bench;
  await world.clock.advance(10_001);
  let hasEnded = false;
  world.after = async ({ verb, name }) => {
    if (hasEnded || verb !== 'list' || name !== 'name=ingester-zone-b') return;
    hasEnded = true;
    world.drop('pods', 'ingester-zone-b-0');
    world.show();
    await world.clock.advance(5_000);
    world.pods.freshness.reset();
  };
  await bench.pass();
  assert.deepEqual(world.taken(), [...READS, ...READS.slice(1), 'delete ingester-zone-b-1']);
});

test('the log of a deletion names what was newer in a cache than the lists, with its revision (D-7)', async () => {
  const bench = await new GroupBench().proven();
  const { world } = bench;
  await world.clock.advance(10_001);
  const names = { pods: 'ingester-zone-b-1', statefulsets: 'ingester-zone-b' } as const;
  world.after = ({ verb, name }) => {
    if (verb !== 'list' || name !== 'name=ingester-zone-b') return;
    world.pods.freshness.reset();
    world.statefulSets.freshness.reset();
    world.pods.list(world.annotate('pods', names.pods, { annotations: {} }));
    world.statefulSets.list(world.annotate('statefulsets', names.statefulsets, {}));
  };
  await bench.pass();
  const said = bench.log.lines.find(({ message }) => message === 'deleting pod');
  assert.equal(said?.fields['view_pods_newer'], 'ingester-zone-b-1=109');
  assert.equal(said?.fields['view_statefulsets_newer'], 'ingester-zone-b=110');
});

test('a read that never left is a failure of the group while the process goes on', async () => {
  const bench = await new GroupBench().proven();
  bench.world.before = ({ verb }) => {
    if (verb === 'list') throw new TransportError('no client listens', 'not-sent');
  };
  await bench.world.clock.advance(10_001);
  await bench.pass();
  assert.equal(bench.holds()[0], 'RequestRefused');
  assert.equal((await bench.samples('failed_total'))[0]?.endsWith(' 1'), true);
});

test('a group that cannot be read is not disrupted, and says why', async () => {
  for (const failing of READS) {
    const bench = await new GroupBench().proven();
    const [, , selector = ''] = failing.split(' ');
    bench.world.before = refuse(503, selector);
    await bench.world.clock.advance(10_001);
    const at = bench.world.clock.now() + 25;
    assert.deepEqual(await bench.pass(), { kind: 'ended', requeue: { kind: 'at', at } });
    assert.equal(
      bench.world.taken().some((request) => request.startsWith('delete')),
      false,
    );
    assert.equal(bench.holds()[0], 'RequestRefused');
  }
});

test('a read that the end of the process breaks off is no failure of the group', async () => {
  const bench = await new GroupBench().proven();
  bench.world.before = () => bench.stopping.abort();
  await bench.world.clock.advance(10_001);
  await bench.pass();
  assert.deepEqual(bench.world.taken(), READS.slice(0, 1));
  assert.equal(bench.holds().includes('RequestRefused'), false);
  assert.equal((await bench.samples('failed_total'))[0]?.endsWith(' 0'), true);
});

for (const plural of ['pods', 'statefulSets'] as const) {
  test(`a list of ${plural} older than what had been seen when it was sent ends the program (D-6)`, async () => {
    const bench = await new GroupBench().proven();
    bench.world[plural].freshness.delivered('5000');
    await bench.world.clock.advance(10_001);
    await assert.rejects(bench.pass(), { name: 'RevisionWentBackError' });
  });
}

test('a pause that only the list shows forbids the rollout of its zone', async () => {
  const bench = await new GroupBench().proven();
  const annotations = { 'grafana.com/rollout-paused': 'true' };
  for (const zone of ['a', 'b']) {
    bench.world.annotate('statefulsets', `ingester-zone-${zone}`, { annotations });
  }
  await bench.world.clock.advance(10_001);
  await bench.pass();
  assert.deepEqual(bench.world.taken(), READS);
  assert.deepEqual(bench.holds(), ['Paused', 'Paused']);
});

const [SETS = ''] = READS;
const slow = {
  sets: { selector: 'rollout-group=ingester', requests: [...READS, SETS, ...READS] },
  pods: { selector: 'name=ingester-zone-a', requests: [...READS, ...READS, ...READS] },
};
for (const [what, { selector, requests }] of Object.entries(slow)) {
  test(`a list of ${what} that takes longer than 10 s disrupts nothing, and the group says that its view is not fresh`, async () => {
    const bench = await new GroupBench().proven();
    bench.world.after = async ({ name }) => {
      if (name === selector) await bench.world.clock.advance(10_001);
    };
    await bench.world.clock.advance(10_001);
    assert.deepEqual(await bench.pass(), { kind: 'retry', retryAfter: undefined });
    assert.deepEqual(bench.world.taken(), requests);
    assert.deepEqual(bench.holds(), ['ViewNotFresh']);
  });
}

test('a set that only the list shows is disrupted on what the list shows', async () => {
  const bench = await new GroupBench({ zones: ['b'] }).proven();
  const { world } = bench;
  world.put('statefulsets', rawStatefulSet({ updateRevision: 'new-hash', replicas: 1 }));
  world.put('pods', rawPod());
  await world.clock.advance(10_001);
  await bench.pass();
  const [sets = '', ofA = '', ofB = ''] = READS;
  assert.deepEqual(world.taken(), [sets, ofB, ofA, 'delete ingester-zone-a-0']);
});

test('an unclean predecessor is waited out for 120 s, which is reported, and the group is looked at then (D-50)', async () => {
  const predecessor = { kind: 'unclean', countedFrom: monotonic(T0) } as const;
  const bench = new GroupBench({ predecessor });
  await bench.world.clock.advance(3_000);
  const result = await bench.pass();
  assert.deepEqual(result, { kind: 'ended', requeue: { kind: 'at', at: T0 + 120_000 } });
  assert.deepEqual(bench.holds(), ['AwaitingPredecessor', 'ZoneOrder']);
  const [hold] = bench.plan?.decisions.filter(({ kind }) => kind === 'hold') ?? [];
  assert.match(hold?.because.message ?? '', /: waiting until 2026-01-01T00:02:00Z$/);
  assert.deepEqual(bench.world.taken(), []);
  await bench.world.clock.advance(117_000);
  await bench.pass();
  assert.deepEqual(bench.world.taken(), [...READS, ...DELETES]);
});

test('where no Lease was, a group that was in motion when it was first seen waits, and no other (D-50)', async () => {
  const predecessor = { kind: 'none' } as const;
  const moving = new GroupBench({ predecessor });
  await moving.pass();
  assert.deepEqual(moving.world.taken(), []);
  assert.equal(moving.holds()[0], 'AwaitingPredecessor');
  const resting = new GroupBench({ predecessor, updateRevision: 'last-hash' });
  await resting.pass();
  const { world } = resting;
  world.put('statefulsets', rawStatefulSet({ updateRevision: 'new-hash' }));
  world.show();
  await resting.pass();
  assert.deepEqual(world.taken(), DELETES);
});

test('nothing leaves once the Lease is not held any more, also when that happens between plan and send [WRIT-1]', async () => {
  const bench = await new GroupBench().proven();
  bench.world.atSend = () => {
    bench.leads = false;
  };
  await bench.pass();
  assert.deepEqual(bench.world.taken(), []);
});

test('a deletion without an answer holds its zone for 120 s, and says so (D-7)', async () => {
  const bench = new GroupBench({ maxUnavailable: '1' });
  const { world } = bench;
  await world.clock.advance(120_000);
  world.before = loseAnswer('ingester-zone-a-0');
  await bench.pass();
  world.taken();
  world.before = () => undefined;
  await world.clock.advance(1_000);
  const result = await bench.pass();
  assert.deepEqual(result, { kind: 'ended', requeue: { kind: 'at', at: T0 + 240_000 } });
  assert.equal(bench.holds()[0], 'AwaitingAnswer');
  assert.deepEqual(world.taken(), []);
  await world.clock.advance(119_000);
  await bench.pass();
  assert.deepEqual(world.taken(), [...READS, 'delete ingester-zone-a-0']);
});

test('a set takes its unanswered deletions along to another group [MAXU-1]', async () => {
  const bench = await new GroupBench({ maxUnavailable: '1' }).proven();
  const { world } = bench;
  await world.clock.advance(120_000);
  world.before = loseAnswer('ingester-zone-a-0');
  await bench.pass();
  world.taken();
  world.before = () => undefined;
  for (const zone of ['a', 'b']) {
    world.annotate('statefulsets', `ingester-zone-${zone}`, {
      labels: { 'rollout-group': 'moved' },
    });
  }
  world.show();
  world.prove();
  await bench.pass();
  await bench.pass('test/moved');
  assert.deepEqual(world.taken(), []);
  assert.equal(bench.holds()[0], 'AwaitingAnswer');
});

test('a pod that was made just like one that was taken is taken only after a read: its set may be rolled back [REV-3]', async () => {
  const bench = await new GroupBench().proven();
  const { world } = bench;
  await bench.pass();
  assert.deepEqual(world.taken(), DELETES);
  world.put('statefulsets', rawStatefulSet());
  for (const ordinal of [0, 1]) {
    world.put('pods', rawPod({ ordinal, uid: `new-${ordinal}`, status: crashLoop }));
  }
  world.show('pods');
  world.prove();
  await world.clock.advance(1);
  await bench.pass();
  assert.deepEqual(world.taken(), READS);
});

const ages: Readonly<Record<number, readonly string[]>> = {
  10_000: ['delete ingester-zone-a-0'],
  10_001: [],
};
for (const [age, requests] of Object.entries(ages)) {
  const what = requests.length > 0 ? 'is' : 'is not';
  test(`a deletion that waited until its view is ${age} ms old ${what} sent (D-3)`, async () => {
    const bench = await new GroupBench({ maxUnavailable: '1' }).proven();
    const { world } = bench;
    world.atSend = () => world.clock.advance(Number(age));
    await bench.pass();
    assert.deepEqual(world.taken(), requests);
  });
}

test('a pod that is lost in another zone while a deletion waits keeps it from being sent (D-49)', async () => {
  const bench = await new GroupBench({ maxUnavailable: '1' }).proven();
  const { world } = bench;
  world.atSend = () => {
    world.atSend = () => undefined;
    world.drop('pods', 'ingester-zone-b-0');
    world.show();
    world.prove();
  };
  await bench.pass();
  assert.deepEqual(world.taken(), []);
});

test('a pod whose deletion got 404 counts until 120 s have passed while the cache says nothing, and is looked at then', async () => {
  const bench = await new GroupBench({ maxUnavailable: '1' }).proven();
  const { world } = bench;
  world.before = refuse(404, 'ingester-zone-a-0');
  await bench.pass();
  world.before = () => undefined;
  world.taken();
  await world.clock.advance(1_000);
  const result = await bench.pass();
  assert.deepEqual(result, { kind: 'ended', requeue: { kind: 'at', at: T0 + 120_001 } });
  assert.deepEqual(world.taken(), []);
});
