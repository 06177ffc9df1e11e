import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, monotonic } from '#base/units.ts';
import { groupScope, readSets } from '#control/watch/group-sets.ts';
import { type ApiError } from '#kubernetes/transport/api-error.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { T0 } from '#support/objects/views.ts';
import { assertPlain } from '#support/plain-data.ts';
import { GroupBench, KEY } from '#support/rollouts/group-bench.ts';
import { refusal, type WorldRequest } from '#support/rollouts/group-world.ts';
import type { CoordinationSnapshot } from './snapshot.ts';

const PREFIX = 'grafana.com/';
const LEADER = { [`${PREFIX}rollout-downscale-leader`]: 'ingester-zone-a' };
const MINIMUM = { [`${PREFIX}min-time-between-zones-downscale`]: '12h' };
const MIRROR = {
  [`${PREFIX}rollout-mirror-replicas-from-resource-name`]: 'test',
  [`${PREFIX}rollout-mirror-replicas-from-resource-kind`]: 'CustomResource',
  [`${PREFIX}rollout-mirror-replicas-from-resource-api-version`]: 'my.group/v1',
};
const SCALE = '/apis/my.group/v1/namespaces/test/customresources/test/scale';

type World = GroupBench['world'];

/** Gives zone `zone` other replicas, with pods and status to match. */
function resize(world: World, zone: string, replicas: number): void {
  const name = `ingester-zone-${zone}`;
  const set = world.object('statefulsets', name);
  const counts = { replicas, readyReplicas: replicas };
  world.put('statefulsets', {
    ...set,
    spec: { ...objectAt(set, 'spec'), replicas },
    status: { ...objectAt(set, 'status'), ...counts },
  });
  for (let ordinal = replicas; ordinal < 3; ordinal += 1) world.drop('pods', `${name}-${ordinal}`);
}

function annotate(world: World, zone: string, annotations: Readonly<Record<string, string>>): void {
  const name = `ingester-zone-${zone}`;
  const { metadata } = world.object('statefulsets', name);
  world.annotate('statefulsets', name, {
    annotations: { ...metadata.annotations, ...annotations },
  });
}

/** Zone a is current and has two pods; b has three outdated ones, follows a, and is fenced. */
async function shrinking(minimum: Readonly<Record<string, string>> = {}): Promise<GroupBench> {
  const bench = await new GroupBench({ zones: ['a', 'b'] }).proven();
  const { world } = bench;
  world.put('statefulsets', {
    ...world.object('statefulsets', 'ingester-zone-a'),
    status: {
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      currentRevision: 'last-hash',
      updateRevision: 'last-hash',
    },
  });
  resize(world, 'a', 2);
  annotate(world, 'b', LEADER);
  const { metadata } = world.object('statefulsets', 'ingester-zone-b');
  world.annotate('statefulsets', 'ingester-zone-b', { labels: { ...metadata.labels, ...minimum } });
  world.show();
  world.prove();
  world.taken();
  return bench;
}

/** One zone that mirrors a custom resource, which asks for `wanted` and whose status has `reported`. */
function mirroring(
  wanted: number,
  reported: number,
  rest: Pick<
    NonNullable<ConstructorParameters<typeof GroupBench>[0]>,
    'interval' | 'predecessor'
  > = {},
): GroupBench {
  const bench = new GroupBench({ zones: ['a'], updateRevision: 'last-hash', ...rest });
  const { world } = bench;
  const resources = [
    { name: 'customresources', kind: 'CustomResource', namespaced: true },
    { name: 'customresources/scale', kind: 'Scale', namespaced: true },
  ];
  const version = { groupVersion: 'my.group/v1' };
  world.documents.set('/apis/my.group', { versions: [version], preferredVersion: version });
  world.documents.set('/apis/my.group/v1', { resources });
  world.put('customresources', { metadata: { name: 'test', uid: 'cr-uid' } });
  setScale(bench, wanted, reported);
  annotate(world, 'a', MIRROR);
  world.show();
  world.taken();
  return bench;
}

function setScale({ world }: GroupBench, wanted: number, reported: number): void {
  const { resourceVersion } = world.object('customresources', 'test').metadata;
  world.documents.set(SCALE, {
    kind: 'Scale',
    metadata: { name: 'test', resourceVersion },
    spec: wanted === 0 ? {} : { replicas: wanted },
    status: { replicas: reported },
  });
}

test('a minimum time in a label is warned of once, and works [found R-18]', async () => {
  const bench = await shrinking(MINIMUM);
  const { world } = bench;
  annotate(world, 'a', { [`${PREFIX}last-downscale`]: '2025-12-31T23:00:00Z' });
  for (let passes = 0; passes < 2; passes += 1) {
    world.show();
    world.prove();
    await bench.pass();
    assert.ok(bench.holds().includes('MinimumTimeNotElapsed'));
  }
  const warned = bench.log.lines.filter(({ message }) => message === 'a label is deprecated');
  assert.deepEqual(
    warned.map(({ level, fields }) => ({ level, ...fields })),
    [
      {
        level: 'warn',
        namespace: 'test',
        statefulset: 'ingester-zone-b',
        label: 'grafana.com/min-time-between-zones-downscale',
        instead: 'an annotation of that name',
      },
    ],
  );
});

function refuse(
  verb: WorldRequest['verb'],
  name: string,
  error: ApiError | TransportError,
): (request: WorldRequest) => void {
  return (request) => {
    if (request.verb === verb && request.name === name) throw error;
  };
}

const DELETES = ['delete ingester-zone-b-0', 'delete ingester-zone-b-1'];

test('[scenario 41] a follower that waits for the minimum time is rolled all the same', async () => {
  const bench = await shrinking(MINIMUM);
  const { world } = bench;
  annotate(world, 'a', { [`${PREFIX}last-downscale`]: '2025-12-31T23:00:00Z' });
  world.show();
  world.prove();
  await bench.pass();
  assert.deepEqual(world.taken(), DELETES);
  assert.ok(bench.holds().includes('MinimumTimeNotElapsed'));
});

test('[scenario 42] a pass that scaled does not roll (D-18)', async () => {
  const bench = await shrinking();
  await bench.pass();
  assert.deepEqual(bench.world.taken(), ['patch ingester-zone-b']);
  const [patch] = bench.world.patches.filter(({ body }) => body.kind === 'json');
  assert.deepEqual(patch?.body, {
    kind: 'json',
    operations: [
      { op: 'test', path: '/metadata/uid', value: 'ingester-zone-b-uid' },
      { op: 'test', path: '/spec/replicas', value: 3 },
      { op: 'replace', path: '/spec/replicas', value: 2 },
    ],
  });
});

test('nothing is done about a group before the cache shows that it was scaled, and then it is looked at', async () => {
  const bench = await shrinking();
  const { world } = bench;
  await bench.pass();
  world.taken();
  for (let turn = 0; turn < 3; turn += 1) await bench.pass();
  assert.deepEqual(world.taken(), []);
  assert.deepEqual(bench.woken, []);
  world.show();
  await world.clock.settle();
  assert.deepEqual(bench.woken, ['test/ingester']);
});

for (const replicas of [2, 3]) {
  test(`[scenario 43] a scaling of b that is refused, with a at ${replicas}, is no failure, and b is rolled`, async () => {
    const bench = await shrinking();
    const { world } = bench;
    if (replicas === 3) resize(world, 'b', 2);
    world.show();
    world.prove();
    world.before = refuse('patch', 'ingester-zone-b', refusal(403));
    await bench.pass();
    assert.deepEqual(
      world.taken(),
      replicas === 2 ? ['patch ingester-zone-b', ...DELETES] : DELETES,
    );
    assert.deepEqual(await bench.samples('failed_total'), [
      'rollout_operator_group_reconciles_failed_total{rollout_group="ingester"} 0',
    ]);
    const warned = bench.log.lines.filter(({ message }) => message === 'scaling step failed');
    assert.equal(warned.length, replicas === 2 ? 1 : 0);
  });
}

test('a refused scaling is repeated after one second, then after two, and the group says so (KW-22)', async () => {
  const bench = await shrinking();
  const { world } = bench;
  const patches = (): number =>
    world.taken().filter((request) => request === 'patch ingester-zone-b').length;
  world.before = ({ verb, name }) => {
    if (verb === 'delete' || name === 'ingester-zone-b') throw refusal(403);
  };
  await bench.pass();
  assert.equal(patches(), 1);
  assert.ok(bench.holds().includes('ScaleRefused'));
  await world.clock.advance(999);
  await bench.pass();
  assert.equal(patches(), 0);
  await world.clock.advance(1);
  world.prove();
  await bench.pass();
  assert.equal(patches(), 1);
  await world.clock.advance(1_999);
  await bench.pass();
  assert.equal(patches(), 0);
});

test('a scale-down without an answer holds the group until it is seen or 120 s have passed (D-7) [EXCL-1]', async () => {
  const bench = await shrinking();
  const { world } = bench;
  world.before = refuse('patch', 'ingester-zone-b', new TransportError('no answer', 'timeout'));
  await bench.pass();
  assert.deepEqual(world.taken(), ['patch ingester-zone-b']);
  assert.ok(bench.holds().includes('AwaitingAnswer'));
  world.before = ({ verb, name }) => {
    if (verb === 'patch' && name === 'ingester-zone-b') throw refusal(403);
  };
  for (let waited = 0; waited < 119; waited += 1) {
    await world.clock.advance(1_000);
    world.prove();
    await bench.pass();
  }
  assert.ok(world.taken().every((request) => request === 'patch ingester-zone-b'));
  await world.clock.advance(2_000);
  world.prove();
  await bench.pass();
  assert.ok(world.taken().some((request) => request.startsWith('delete')));
});

test('a scale-down that is answered 500 is looked up: one that was stored holds the rollout until it is seen', async () => {
  const bench = await shrinking();
  const { world } = bench;
  world.after = refuse('patch', 'ingester-zone-b', refusal(500));
  await bench.pass();
  assert.deepEqual(world.taken(), ['patch ingester-zone-b', 'get ingester-zone-b']);
  world.after = () => undefined;
  await bench.pass();
  assert.deepEqual(world.taken(), []);
});

test('a scale-down that is answered 500 is looked up: one that was not stored yet holds the rollout for 120 s [EXCL-1]', async () => {
  const bench = await shrinking();
  const { world } = bench;
  world.before = refuse('patch', 'ingester-zone-b', refusal(500));
  await bench.pass();
  assert.deepEqual(world.taken(), ['patch ingester-zone-b', 'get ingester-zone-b']);
  assert.deepEqual(bench.holds(), ['ScaleRefused', 'AwaitingAnswer']);
  world.before = refuse('patch', 'ingester-zone-b', refusal(403));
  await world.clock.advance(119_000);
  await bench.pass();
  assert.ok(!world.taken().some((each) => each.startsWith('delete')));
  await world.clock.advance(1_000);
  await bench.pass();
  assert.deepEqual(world.taken(), DELETES);
});

test('a scaling whose set has changed meanwhile is planned again, and is no failure (D-19)', async () => {
  const bench = await shrinking();
  const { world } = bench;
  resize(world, 'b', 1);
  assert.deepEqual(await bench.pass(), { kind: 'retry', retryAfter: undefined });
  assert.ok(!bench.log.lines.some(({ message }) => message === 'scaling step failed'));
});

test('a scale-down on caches without proof reads the group first (D-3, D-4)', async () => {
  const bench = await shrinking();
  await bench.world.clock.advance(10_001);
  await bench.pass();
  assert.deepEqual(bench.world.taken(), [
    'list statefulsets rollout-group=ingester',
    'list pods name=ingester-zone-a',
    'list pods name=ingester-zone-b',
    'patch ingester-zone-b',
  ]);
});

const noCounts: Record<string, (bench: GroupBench) => void> = {
  403: ({ world }) => {
    world.before = refuse('get', SCALE, refusal(403));
  },
  404: ({ world }) => void world.documents.delete(SCALE),
  500: ({ world }) => {
    world.before = refuse('get', SCALE, refusal(500));
  },
  'an empty object': ({ world }) => void world.documents.set(SCALE, {}),
  'no spec': ({ world }) =>
    void world.documents.set(SCALE, { kind: 'Scale', metadata: { resourceVersion: '5' } }),
  'a negative count': (bench) => setScale(bench, -1, 3),
  'a fraction': (bench) => setScale(bench, 1.5, 3),
};

for (const [answer, happens] of Object.entries(noCounts)) {
  test(`[scenario 54] a scale that is answered by ${answer} scales nothing, and says so [SCAL-1]`, async () => {
    const bench = mirroring(5, 5);
    happens(bench);
    await bench.pass();
    assert.ok(!bench.world.taken().some((request) => request.startsWith('patch')));
    assert.deepEqual(bench.holds(), ['ReferenceUnreadable']);
    assert.deepEqual(await bench.samples('failed_total'), [
      'rollout_operator_group_reconciles_failed_total{rollout_group="ingester"} 0',
    ]);
  });
}

test('[scenario 54] a kind that the server does not have scales nothing, and says where it is (KW-28)', async () => {
  const bench = mirroring(5, 5);
  const { world } = bench;
  annotate(world, 'a', { [`${PREFIX}rollout-mirror-replicas-from-resource-api-version`]: '' });
  const version = { groupVersion: 'my.group/v1' };
  world.documents.set('/api/v1', { resources: [] });
  world.documents.set('/apis', { groups: [{ name: 'my.group', preferredVersion: version }] });
  world.show();
  await bench.pass();
  assert.deepEqual(bench.holds(), ['ReferenceUnresolved']);
  const note = bench.events.notes.find(({ reason }) => reason === 'ReferenceUnresolved');
  assert.match(note?.message ?? '', /"my\.group\/v1" has one/);
});

test('[scenario 51] a mirrored set is scaled, and its count reported by exactly one merge patch of the status', async () => {
  const bench = mirroring(5, 3);
  await bench.pass();
  const status = bench.world.patches.filter(({ subresource }) => subresource === 'status');
  assert.deepEqual(status, [
    {
      name: 'test',
      subresource: 'status',
      body: { kind: 'merge', document: { status: { replicas: 5 } } },
    },
  ]);
  assert.equal(bench.world.patches.length, 2);
});

test('a count that is not written as a predecessor is waited for is not reported either', async () => {
  const predecessor = { kind: 'unclean', countedFrom: monotonic(T0) } as const;
  const bench = await mirroring(1, 3, { predecessor }).proven();
  await bench.pass();
  assert.deepEqual(bench.holds(), ['AwaitingPredecessor']);
  assert.deepEqual(bench.world.patches, []);
});

test('[scenario 53] nothing is written while nothing changes, and the scale is read at the interval (D-23) [QUIE-1]', async () => {
  const bench = mirroring(3, 3);
  await bench.pass();
  bench.world.taken();
  for (let turn = 0; turn < 3; turn += 1) await bench.pass();
  assert.deepEqual(bench.world.taken(), []);
  await bench.world.clock.advance(5_000);
  await bench.pass();
  assert.deepEqual(bench.world.taken(), [`get ${SCALE}`]);
});

test('a reference that cannot be watched is said once, and looked at again at the interval (D-23)', async () => {
  const bench = mirroring(3, 3);
  const result = await bench.pass();
  assert.deepEqual(result, {
    kind: 'ended',
    requeue: { kind: 'at', at: bench.world.clock.now() + 5_000 },
  });
  await bench.world.clock.advance(20_000);
  await bench.pass();
  const said = bench.log.lines.filter(({ message }) => message.includes('it is polled'));
  assert.equal(said.length, 1);
});

test('a reference that could not be read is read again after 5 s, however long the interval is', async () => {
  const bench = mirroring(3, 5, { interval: minutes(5) });
  bench.world.before = refuse('get', SCALE, refusal(500));
  const result = await bench.pass();
  const at = bench.world.clock.now() + 5_000;
  assert.deepEqual(result, { kind: 'ended', requeue: { kind: 'at', at } });
  bench.world.before = () => undefined;
  await bench.world.clock.advance(5_000);
  bench.world.taken();
  await bench.pass();
  assert.equal(bench.world.taken()[0], `get ${SCALE}`);
});

test('[scenario 56] a report that fails is a warning, and the set stays scaled', async () => {
  const bench = mirroring(5, 3);
  bench.world.before = refuse('patch', 'test', refusal(500));
  await bench.pass();
  const spec = objectAt(bench.world.object('statefulsets', 'ingester-zone-a'), 'spec');
  assert.equal(spec['replicas'], 5);
  const warned = bench.log.lines.filter(({ level }) => level === 'warn');
  assert.deepEqual(
    warned.map(({ message }) => message).filter((message) => !message.includes('polled')),
    ['cannot update the status of a mirrored resource'],
  );
});

test('a report that is forbidden is one Event and one gauge, then silence (KW-29)', async () => {
  const bench = mirroring(3, 1);
  bench.world.before = refuse('patch', 'test', refusal(403));
  for (let turn = 0; turn < 5; turn += 1) {
    await bench.pass();
    await bench.world.clock.advance(5_000);
  }
  const asked = bench.world.taken().filter((request) => request === 'patch test');
  assert.deepEqual(asked, ['patch test']);
  const told = bench.events.notes.filter(({ reason }) => reason === 'WriteBackForbidden');
  assert.equal(told.length, 1);
  const refused = await bench.samples('refused_permissions');
  assert.ok(refused.some((sample) => sample.includes('customresources/status')));
});

test('in zone-tracker mode the ConfigMap is read before a follower shrinks, and not before one grows (D-23)', async () => {
  const bench = new GroupBench({
    zones: ['a', 'b'],
    updateRevision: 'last-hash',
    zoneTracker: 'zones',
  });
  const { world } = bench;
  resize(world, 'a', 2);
  annotate(world, 'b', LEADER);
  const labels = { ...world.object('statefulsets', 'ingester-zone-b').metadata.labels, ...MINIMUM };
  world.annotate('statefulsets', 'ingester-zone-b', { labels });
  world.put('configmaps', {
    metadata: { name: 'zones', uid: 'zones-uid' },
    data: { 'ingester-zone-a': '{"LastDownscaled":"2025-12-31T23:59:00Z"}' },
  });
  world.show();
  world.prove();
  await bench.pass();
  assert.deepEqual(world.taken(), ['get zones']);
  assert.deepEqual(bench.holds(), ['MinimumTimeNotElapsed']);
  world.drop('configmaps', 'zones');
  await bench.pass();
  assert.deepEqual(world.taken(), ['get zones', 'patch ingester-zone-b']);
});

test('a ConfigMap that cannot be read holds the followers, and is read again at the interval', async () => {
  const bench = new GroupBench({
    zones: ['a', 'b'],
    updateRevision: 'last-hash',
    zoneTracker: 'zones',
  });
  const { world } = bench;
  resize(world, 'a', 2);
  annotate(world, 'b', LEADER);
  world.show();
  world.before = refuse('get', 'zones', refusal(403));
  const result = await bench.pass();
  assert.deepEqual(bench.holds(), ['LastDownscaleUnknown']);
  assert.deepEqual(result, {
    kind: 'ended',
    requeue: { kind: 'at', at: world.clock.now() + 5_000 },
  });
});

test('[scenario 59] pods are asked before a delayed down-scale, and go once they have been prepared for the delay', async () => {
  const bench = mirroring(2, 3);
  const { world, fleet } = bench;
  annotate(world, 'a', {
    [`${PREFIX}rollout-delayed-downscale`]: '1h',
    [`${PREFIX}rollout-prepare-delayed-downscale-url`]: 'http://pod/prepare',
    'rollout-operator/prepared-at': 'http://pod/prepare',
  });
  world.show();
  world.prove();
  fleet.prepare('ingester-zone-a-2', Math.floor(world.clock.now() / 1_000) - 4_200);
  await bench.pass();
  await world.clock.settle();
  assert.deepEqual(fleet.story(), [
    'DELETE ingester-zone-a-0',
    'DELETE ingester-zone-a-1',
    'POST ingester-zone-a-2',
  ]);
  await bench.pass();
  assert.ok(world.taken().includes('patch ingester-zone-a'));
});

for (const wanted of [2, 5]) {
  test(`[scenario 70] a delay that cannot be read scales nothing, towards ${wanted} neither, and is a Warning`, async () => {
    const bench = mirroring(wanted, 3);
    annotate(bench.world, 'a', {
      [`${PREFIX}rollout-delayed-downscale`]: '1.5h',
      [`${PREFIX}rollout-prepare-delayed-downscale-url`]: 'http://pod/prepare',
    });
    bench.world.show();
    await bench.pass();
    assert.deepEqual(bench.holds(), ['InvalidDelayedDownscale']);
    assert.ok(!bench.world.taken().includes('patch ingester-zone-a'));
    assert.deepEqual(bench.fleet.story(), []);
    const [note] = bench.events.notes;
    assert.deepEqual([note?.type, note?.reason], ['Warning', 'InvalidDelayedDownscale']);
  });
}

test('a write of ours that the watch does not show for 10 s is reported, in words that stay the same (rule 4)', async () => {
  const bench = await shrinking();
  const { world } = bench;
  await bench.pass();
  const at = world.clock.now() + 10_000;
  assert.deepEqual(await bench.pass(), { kind: 'ended', requeue: { kind: 'at', at } });
  await world.clock.advance(9_999);
  await bench.pass();
  assert.deepEqual(bench.holds(), []);
  await world.clock.advance(1);
  await bench.pass();
  assert.deepEqual(bench.holds(), ['AwaitingOwnWrite']);
  const said = bench.plan?.decisions;
  world.clock.setWallClock(-3_600_000);
  await world.clock.advance(60_000);
  await bench.pass();
  assert.deepEqual(bench.plan?.decisions, said);
  assert.equal(said?.[0]?.set.name, 'ingester-zone-b');
  world.show();
  await bench.pass();
  assert.ok(!bench.holds().includes('AwaitingOwnWrite'));
});

test('a refused scaling is repeated after one second although the clock is set back an hour (D-55)', async () => {
  const bench = await shrinking();
  const { world } = bench;
  world.before = ({ verb, name }) => {
    if (verb === 'delete' || name === 'ingester-zone-b') throw refusal(403);
  };
  await bench.pass();
  world.clock.setWallClock(-3_600_000);
  await world.clock.advance(1_000);
  world.prove();
  world.taken();
  await bench.pass();
  assert.ok(world.taken().includes('patch ingester-zone-b'));
});

for (const [step, span] of [
  ['back', -3_600_000],
  ['forward', 3_600_000],
] as const) {
  test(`a zone shrinks once the minimum time was watched to pass, and no sooner, with the clock set ${step} by an hour (D-55)`, async () => {
    const bench = await shrinking(MINIMUM);
    const { world } = bench;
    world.before = ({ verb }) => {
      if (verb === 'delete') throw refusal(403);
    };
    const stored = new Date(world.clock.now()).toISOString();
    annotate(world, 'a', { [`${PREFIX}last-downscale`]: stored });
    world.show();
    world.prove();
    await bench.pass();
    world.clock.setWallClock(span);
    await world.clock.advance(minutes(12 * 60));
    world.prove();
    await bench.pass();
    assert.ok(bench.holds().includes('MinimumTimeNotElapsed'));
    assert.ok(!world.taken().includes('patch ingester-zone-b'));
    await world.clock.advance(1);
    await bench.pass();
    assert.ok(world.taken().includes('patch ingester-zone-b'));
  });
}

test('what is known of a group is plain data, taken in one step as often as it is asked for', async () => {
  const bench = mirroring(2, 3);
  const { world } = bench;
  annotate(world, 'a', {
    [`${PREFIX}last-downscale`]: '2025-12-31T23:00:00Z',
    [`${PREFIX}rollout-delayed-downscale`]: '1h',
    [`${PREFIX}rollout-prepare-delayed-downscale-url`]: 'http://pod/prepare',
    'rollout-operator/prepared-at': 'http://pod/prepare',
  });
  world.show();
  world.before = refuse('patch', 'test', refusal(500));
  await bench.pass();
  await world.clock.settle();
  const ports = { statefulSets: world.statefulSets.lister, pods: world.pods.lister };
  const sets = readSets(groupScope(KEY), ports);
  const take = (): CoordinationSnapshot =>
    bench.scaling.observer.snapshotOf(KEY, {
      sets,
      leaving: new Set<string>(),
      conflicts: new Map(),
    });
  const snapshot = take();
  assertPlain(snapshot);
  assert.equal(snapshot.preparations.get('ingester-zone-a-uid')?.[0]?.slots.size, 3);
  assert.equal(snapshot.seenDownscales.get('ingester-zone-a')?.length, 1);
  assert.equal(snapshot.references.size, 1);
  assert.deepEqual(take(), snapshot);
});

test('a report that fails is not repeated with each look, but after 1, 2, 4 … s', async () => {
  const bench = mirroring(3, 1);
  bench.world.before = refuse('patch', 'test', refusal(500));
  let sent = '';
  for (let second = 0; second < 9; second += 1) {
    await bench.pass();
    sent += bench.world.taken().includes('patch test') ? 'x' : '.';
    await bench.world.clock.advance(1_000);
  }
  assert.equal(sent, 'xx.x...x.');
  assert.ok(bench.holds().includes('ScaleRefused'));
});

test('pods of a set that mirrors nothing any more are not called any more', async () => {
  const bench = mirroring(2, 3);
  const { world, fleet } = bench;
  const { annotations } = world.object('statefulsets', 'ingester-zone-a').metadata;
  annotate(world, 'a', {
    [`${PREFIX}rollout-delayed-downscale`]: '1h',
    [`${PREFIX}rollout-prepare-delayed-downscale-url`]: 'http://pod/prepare',
  });
  world.show();
  fleet.behave({ kind: 'never' });
  await bench.pass();
  await world.clock.settle();
  assert.equal(fleet.open, 2);
  const { [`${PREFIX}rollout-mirror-replicas-from-resource-name`]: _, ...rest } = annotations ?? {};
  world.annotate('statefulsets', 'ingester-zone-a', { annotations: rest });
  world.show();
  await bench.pass();
  assert.equal(fleet.open, 0);
});

const unstored: Readonly<Record<string, (bench: GroupBench) => void>> = {
  refused: ({ world }) => {
    world.before = refuse('patch', 'ingester-zone-a', refusal(403));
  },
  'not wanted any more when it would leave': ({ world }) => {
    world.atSend = ({ name }) => {
      if (name !== 'ingester-zone-a') return;
      world.annotate('statefulsets', name, { annotations: {} });
      world.show();
    };
  },
};

for (const [what, happens] of Object.entries(unstored)) {
  test(`a count is not reported while its scaling is ${what} (D-49)`, async () => {
    const bench = mirroring(5, 3);
    happens(bench);
    await bench.pass();
    const reports = bench.world.patches.filter(({ subresource }) => subresource === 'status');
    assert.deepEqual(reports, []);
  });
}

/** What is reported as in need of attention; that a Role permits no watch is not new here. */
function alarms({ log }: GroupBench): readonly string[] {
  const loud = log.lines.filter(({ level }) => level === 'warn' || level === 'error');
  return loud.map(({ message }) => message).filter((message) => !message.includes('polled'));
}

/** The zone-tracker mode, with a follower that is to shrink once the ConfigMap says that it may. */
function tracked(): GroupBench {
  const bench = new GroupBench({
    zones: ['a', 'b'],
    updateRevision: 'last-hash',
    zoneTracker: 'zones',
  });
  resize(bench.world, 'a', 2);
  annotate(bench.world, 'b', LEADER);
  bench.world.show();
  return bench;
}

const brokenOff: Readonly<Record<string, [() => Promise<GroupBench> | GroupBench, string]>> = {
  'a scaling': [shrinking, 'patch ingester-zone-b'],
  'a report': [() => mirroring(3, 1), 'patch test'],
  'a read of the ConfigMap of zones': [tracked, 'get zones'],
};

for (const [what, [worldOf, request]] of Object.entries(brokenOff)) {
  test(`the end of the process while ${what} waits to be sent is no failure, and no refusal (D-50)`, async () => {
    const bench = await worldOf();
    bench.world.atSend = ({ verb, name }) => {
      if (`${verb} ${name}` === request) bench.stopping.abort();
    };
    assert.deepEqual((await bench.pass()).kind, 'ended');
    assert.deepEqual(alarms(bench), []);
    assert.deepEqual(bench.holds(), []);
  });
}

test('a report that has left when the process ends gets its answer (D-50)', async () => {
  const bench = mirroring(3, 1);
  bench.world.before = ({ verb, name }) => {
    if (verb === 'patch' && name === 'test') bench.stopping.abort();
  };
  await bench.pass();
  assert.deepEqual(
    bench.events.notes.map(({ reason }) => reason),
    ['ReplicasWrittenBack'],
  );
});
