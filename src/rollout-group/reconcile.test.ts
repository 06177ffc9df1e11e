import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import { rawPod, rawStatefulSet } from '#support/objects/objects.ts';
import { GroupBench, KEY, outdatedGroup } from '#support/rollouts/group-bench.ts';
import { refusal, type WorldRequest } from '#support/rollouts/group-world.ts';

const STORE = 'test/store-gateway';
const ended = { kind: 'ended', requeue: { kind: 'await-change' } };

function refuse(status: number, name: string): (request: WorldRequest) => void {
  return (request) => {
    if (request.name === name) throw refusal(status);
  };
}

function removeStoreGateway({ world }: GroupBench): void {
  for (const zone of ['a', 'b']) world.drop('statefulsets', `store-gateway-zone-${zone}`);
  world.show();
}

async function withStoreGateway(): Promise<GroupBench> {
  const bench = new GroupBench({ updateRevision: 'last-hash' });
  bench.world.add(outdatedGroup({ group: 'store-gateway', updateRevision: 'last-hash' }));
  bench.world.show();
  await bench.pass();
  await bench.pass(STORE);
  return bench;
}

test('GroupReconciler counts a pass and its duration, and not as failed while it only waits (ME-11)', async () => {
  const bench = await new GroupBench().proven();
  await bench.pass();
  await bench.pass();
  assert.deepEqual(await bench.samples('group_reconciles'), [
    'rollout_operator_group_reconciles_total{rollout_group="ingester"} 2',
    'rollout_operator_group_reconciles_failed_total{rollout_group="ingester"} 0',
  ]);
  assert.deepEqual(await bench.samples('duration_seconds_count'), [
    'rollout_operator_group_reconcile_duration_seconds_count{rollout_group="ingester"} 2',
  ]);
});

test('GroupReconciler shows why a group is blocked, and its pods', async () => {
  const bench = await new GroupBench({ zones: ['a'] }).proven();
  await bench.pass();
  bench.world.show();
  await bench.pass();
  assert.deepEqual(await bench.samples('group_blocked'), [
    'rollout_operator_group_blocked{rollout_group="ingester",reason="MaxUnavailableReached"} 1',
  ]);
  assert.deepEqual(await bench.samples('statefulset_pods'), [
    'rollout_operator_statefulset_pods{rollout_group="ingester",statefulset="ingester-zone-a",state="outdated"} 3',
    'rollout_operator_statefulset_pods{rollout_group="ingester",statefulset="ingester-zone-a",state="updated"} 0',
    'rollout_operator_statefulset_pods{rollout_group="ingester",statefulset="ingester-zone-a",state="unavailable"} 2',
  ]);
});

test('GroupReconciler shows what cannot be used of a set for as long as that lasts', async () => {
  const bench = await new GroupBench({ zones: ['a'], maxUnavailable: 'many' }).proven();
  await bench.pass();
  assert.deepEqual(await bench.samples('statefulset_warnings'), [
    'rollout_operator_statefulset_warnings{rollout_group="ingester",statefulset="ingester-zone-a",reason="InvalidMaxUnavailable"} 1',
  ]);
  bench.world.put('statefulsets', rawStatefulSet());
  bench.world.show();
  await bench.pass();
  assert.deepEqual(await bench.samples('statefulset_warnings'), []);
});

test('[scenario 73] GroupReconciler drops the series of a group that is gone (ME-10)', async () => {
  const bench = await withStoreGateway();
  removeStoreGateway(bench);
  await bench.pass(STORE);
  await bench.pass();
  assert.deepEqual(await bench.samples('group_reconciles_total'), [
    'rollout_operator_group_reconciles_total{rollout_group="ingester"} 2',
  ]);
  const { registry } = bench;
  assert.equal((await registry.expose()).includes('store-gateway'), false);
  assert.deepEqual(bench.reconciler.knownKeys(), [KEY]);
});

test('[scenario 73] GroupReconciler keeps the series of a group that is gone while another group fails (ME-10)', async () => {
  const bench = await withStoreGateway();
  const { world } = bench;
  world.put('statefulsets', rawStatefulSet({ updateStrategy: 'RollingUpdate' }));
  world.show();
  await bench.pass();
  removeStoreGateway(bench);
  await bench.pass(STORE);
  const kept = await bench.samples('group_reconciles_total');
  assert.deepEqual(kept, [
    'rollout_operator_group_reconciles_total{rollout_group="ingester"} 2',
    'rollout_operator_group_reconciles_total{rollout_group="store-gateway"} 1',
  ]);
  world.put('statefulsets', rawStatefulSet());
  world.show();
  await bench.pass();
  assert.deepEqual(await bench.samples('group_reconciles_total'), [
    'rollout_operator_group_reconciles_total{rollout_group="ingester"} 3',
  ]);
});

test('GroupReconciler tells nothing of the state of a group that is gone while another group fails', async () => {
  const bench = await withStoreGateway();
  const { world } = bench;
  world.put('statefulsets', rawStatefulSet({ updateStrategy: 'RollingUpdate' }));
  world.show();
  await bench.pass();
  const states = async (): Promise<readonly string[]> => {
    const samples = await Promise.all(
      ['statefulset_pods', 'statefulset_warnings', 'group_blocked'].map((each) =>
        bench.samples(each),
      ),
    );
    return samples.flat().filter((each) => each.includes('store-gateway'));
  };
  assert.notDeepEqual(await states(), []);
  removeStoreGateway(bench);
  await bench.pass(STORE);
  assert.deepEqual(await states(), []);
});

test('GroupReconciler keeps the series of a group that another namespace still has', async () => {
  const bench = new GroupBench({ updateRevision: 'last-hash' });
  const { world } = bench;
  world.put('statefulsets', rawStatefulSet({ name: 'elsewhere', namespace: 'other', replicas: 0 }));
  world.show();
  await bench.pass();
  await bench.pass('other/ingester');
  world.drop('statefulsets', 'elsewhere');
  world.show();
  await bench.pass('other/ingester');
  assert.deepEqual(await bench.samples('group_reconciles_total'), [
    'rollout_operator_group_reconciles_total{rollout_group="ingester"} 2',
  ]);
});

test('GroupReconciler remembers nothing of a key that it never knew', async () => {
  const bench = new GroupBench();
  assert.deepEqual(await bench.pass('test/unknown'), ended);
  assert.deepEqual(bench.reconciler.knownKeys(), []);
});

test('[scenario 31] a deletion that fails with 500 is an error: what went before stays, and the group is tried again', async () => {
  const bench = await new GroupBench({ zones: ['a'] }).proven();
  const { world } = bench;
  world.before = refuse(500, 'ingester-zone-a-1');
  await bench.pass();
  assert.deepEqual(world.taken(), ['delete ingester-zone-a-0', 'delete ingester-zone-a-1']);
  assert.deepEqual(bench.queued, ['test/ingester now']);
  const failed = await bench.samples('failed_total');
  world.before = () => undefined;
  await bench.pass();
  assert.deepEqual(world.taken(), []);
  assert.deepEqual(failed, [
    'rollout_operator_group_reconciles_failed_total{rollout_group="ingester"} 0',
  ]);
  assert.deepEqual(await bench.samples('failed_total'), [
    'rollout_operator_group_reconciles_failed_total{rollout_group="ingester"} 1',
  ]);
  const failure = bench.log.lines.findLast(
    ({ message }) => message === 'reconcile ended with an error',
  );
  assert.equal(failure?.level, 'warn');
  assert.equal(failure.fields['group'], 'ingester');
});

test('GroupReconciler logs once what fails in every pass, and counts each pass [found X-9]', async () => {
  const bench = await new GroupBench({ zones: ['a'] }).proven();
  bench.world.put('statefulsets', rawStatefulSet({ updateStrategy: 'RollingUpdate' }));
  bench.world.show();
  for (let pass = 0; pass < 20; pass += 1) await bench.pass();
  const lines = bench.log.lines.filter(
    ({ message }) => message === 'reconcile ended with an error',
  );
  assert.equal(lines.length, 1);
  assert.deepEqual(await bench.samples('failed_total'), [
    'rollout_operator_group_reconciles_failed_total{rollout_group="ingester"} 20',
  ]);
});

test('what failed is sent again once its time has come, and not before, however often the group is woken', async () => {
  const bench = await new GroupBench({ zones: ['a'] }).proven();
  const { world } = bench;
  world.before = ({ verb }) => {
    if (verb === 'delete') throw refusal(403);
  };
  await bench.pass();
  assert.equal(world.taken().length, 2);
  await world.clock.advance(24);
  for (let turn = 0; turn < 3; turn += 1) await bench.pass();
  assert.deepEqual(world.taken(), []);
  await world.clock.advance(1);
  await bench.pass();
  assert.equal(world.taken().length, 2);
});

for (const status of [404, 409]) {
  test(`[scenario 31] a deletion that is answered ${status} is no error: the group is planned again`, async () => {
    const bench = await new GroupBench({ zones: ['a'] }).proven();
    bench.world.before = refuse(status, 'ingester-zone-a-0');
    await bench.pass();
    assert.deepEqual(bench.queued, ['test/ingester after 5']);
    await bench.pass();
    const [failed] = await bench.samples('failed_total');
    assert.equal(failed?.endsWith(' 0'), true);
    assert.deepEqual(bench.holds().includes('RequestRefused'), false);
  });
}

const finished = { podRevision: 'new-hash', zones: ['a'] } as const;

test('[scenario 32] a status write that meets a conflict is no error: the group is planned again, and writes it', async () => {
  const bench = new GroupBench(finished);
  bench.world.before = refuse(409, 'ingester-zone-a');
  bench.world.before = ({ verb }) => {
    if (verb === 'replace') throw refusal(409);
  };
  assert.deepEqual(await bench.pass(), { kind: 'retry', retryAfter: undefined });
  assert.deepEqual(bench.world.taken(), ['get ingester-zone-a', 'replace ingester-zone-a']);
  bench.world.before = () => undefined;
  assert.deepEqual(await bench.pass(), ended);
  assert.deepEqual(bench.world.taken(), ['get ingester-zone-a', 'replace ingester-zone-a']);
});

test('[scenario 32] a status write that is refused is an error, and says what the group waits for', async () => {
  const bench = new GroupBench(finished);
  bench.world.before = ({ verb }) => {
    if (verb === 'replace') throw refusal(403);
  };
  const at = bench.world.clock.now() + 25;
  assert.deepEqual(await bench.pass(), { kind: 'ended', requeue: { kind: 'at', at } });
  assert.deepEqual(bench.holds(), ['RequestRefused']);
  assert.equal((await bench.samples('failed_total'))[0]?.endsWith(' 1'), true);
});

for (const verb of ['get', 'replace']) {
  test(`the end of the process while a ${verb} of the set is under way is no failure of the group (D-50)`, async () => {
    const bench = new GroupBench(finished);
    bench.world.before = (request) => {
      if (request.verb === verb) bench.stopping.abort();
    };
    assert.deepEqual(await bench.pass(), ended);
    assert.deepEqual(bench.holds(), []);
    assert.deepEqual(
      bench.log.lines.filter(({ level }) => level === 'warn'),
      [],
    );
    assert.equal((await bench.samples('failed_total'))[0]?.endsWith(' 0'), true);
  });
}

test('a status write that has left and gets no answer is a failure, also while the process ends', async () => {
  const bench = new GroupBench(finished);
  bench.world.after = ({ verb }) => {
    if (verb !== 'replace') return;
    bench.stopping.abort();
    throw new TransportError('no answer', 'timeout');
  };
  await bench.pass();
  assert.equal((await bench.samples('failed_total'))[0]?.endsWith(' 1'), true);
});

test('[scenario 32] a status write that meets one conflict after another is tried again at once, then after a pause', async () => {
  const bench = new GroupBench(finished);
  const { world } = bench;
  world.before = ({ verb }) => {
    if (verb === 'replace') throw refusal(409);
  };
  for (let turn = 0; turn < 5; turn += 1) await bench.pass();
  assert.equal(world.taken().length, 4);
  assert.deepEqual(bench.holds(), ['RequestRefused']);
  await world.clock.advance(25);
  for (let turn = 0; turn < 5; turn += 1) await bench.pass();
  assert.equal(world.taken().length, 2);
});

test('a status write that is refused for 60 s holds neither the other zone nor is it repeated', async () => {
  const bench = await new GroupBench().proven();
  const { world } = bench;
  for (const ordinal of [0, 1, 2]) {
    world.put('pods', rawPod({ ordinal, uid: `new-${ordinal}`, revision: 'new-hash' }));
  }
  world.show();
  world.prove();
  world.before = ({ verb }) => {
    if (verb === 'replace') throw refusal(429, seconds(60));
  };
  for (let turn = 0; turn < 3; turn += 1) await bench.pass();
  const sent = world.taken().filter((request) => /^(?:replace|delete)/.test(request));
  assert.deepEqual(sent, [
    'replace ingester-zone-a',
    'delete ingester-zone-b-0',
    'delete ingester-zone-b-1',
  ]);
});

test('the status is written once, and nothing is written while nothing changes [QUIE-1]', async () => {
  const bench = new GroupBench(finished);
  await bench.pass();
  await bench.pass();
  const written = bench.world.taken().filter((request) => request.startsWith('replace'));
  assert.deepEqual(written, ['replace ingester-zone-a']);
  const lines = bench.log.lines.filter(({ message }) => message.includes('current revision'));
  assert.deepEqual(
    lines.map(({ level, message }) => `${level} ${message}`),
    ['info updated the current revision'],
  );
  bench.world.show();
  const said = bench.events.notes.length;
  for (let turn = 0; turn < 3; turn += 1) assert.deepEqual(await bench.pass(), ended);
  assert.deepEqual(bench.world.taken(), []);
  assert.equal(bench.events.notes.length, said);
});

test('the wait that the server asks for is kept before the next deletion, and reported', async () => {
  const bench = await new GroupBench({ zones: ['a'] }).proven();
  const { world } = bench;
  world.before = () => {
    throw refusal(429, seconds(7));
  };
  await bench.pass();
  const result = await bench.pass();
  const at = world.clock.now() + 7_000;
  assert.deepEqual(result, { kind: 'ended', requeue: { kind: 'at', at } });
  assert.ok(bench.holds().includes('RequestRefused'));
});

test('what the server asks to wait for a read is asked of the queue, and nothing is read before, however often the group is woken', async () => {
  const bench = await new GroupBench().proven();
  bench.world.before = () => {
    throw refusal(429, seconds(7));
  };
  const { world } = bench;
  await world.clock.advance(10_001);
  const end = { kind: 'ended', requeue: { kind: 'at', at: world.clock.now() + 7_000 } };
  assert.deepEqual(await bench.pass(), end);
  world.taken();
  await world.clock.advance(6_999);
  assert.deepEqual(await bench.pass(), end);
  assert.deepEqual(world.taken(), []);
  await world.clock.advance(1);
  await bench.pass();
  assert.notDeepEqual(world.taken(), []);
});

const movements: Record<string, (bench: GroupBench) => void> = {
  'is paused': ({ world }) => {
    const annotations = { 'grafana.com/rollout-paused': 'true' };
    world.annotate('statefulsets', 'ingester-zone-a', { annotations });
  },
  'is gone': ({ world }) => {
    world.drop('statefulsets', 'ingester-zone-a');
  },
  'is another one of that name': ({ world }) => {
    world.annotate('statefulsets', 'ingester-zone-a', { uid: 'another' });
  },
  'is in another group': ({ world }) => {
    world.annotate('statefulsets', 'ingester-zone-a', { labels: { 'rollout-group': 'other' } });
  },
  'is in no group': ({ world }) => {
    world.annotate('statefulsets', 'ingester-zone-a', { labels: {} });
  },
};

for (const [what, happens] of Object.entries(movements)) {
  test(`a pod is not deleted when its set ${what} by the time of the request (D-49)`, async () => {
    const bench = await new GroupBench().proven();
    const { world } = bench;
    world.atSend = () => {
      world.atSend = () => undefined;
      happens(bench);
      world.show();
    };
    await bench.pass();
    assert.deepEqual(world.taken(), []);
    assert.deepEqual(bench.queued, ['test/ingester after 5', 'test/ingester after 5']);
  });
}

test('a deletion of ours counts until the cache shows it, and no longer [MAXU-1, EXCL-1]', async () => {
  const bench = await new GroupBench().proven();
  const { world } = bench;
  await bench.pass();
  world.taken();
  for (let turn = 0; turn < 3; turn += 1) await bench.pass();
  world.show();
  for (let turn = 0; turn < 3; turn += 1) await bench.pass();
  assert.deepEqual(world.taken(), []);
});

const ends: Readonly<Record<string, (bench: GroupBench) => void>> = {
  'a set wants another revision': ({ world }) => {
    world.put('statefulsets', rawStatefulSet({ updateRevision: 'new-hash' }));
  },
  'a pod of an old revision comes back': ({ world }) => {
    world.put('pods', rawPod({ ordinal: 1, revision: 'prev-hash' }));
  },
  'a set goes over to another strategy': ({ world }) => {
    world.put('statefulsets', rawStatefulSet({ updateStrategy: 'RollingUpdate' }));
  },
};

for (const [what, change] of Object.entries(ends)) {
  test(`RolloutGroups plans again for a group at rest when ${what}`, async () => {
    const bench = new GroupBench({ updateRevision: 'last-hash' });
    await bench.pass();
    await bench.pass();
    assert.deepEqual(bench.plan?.decisions, []);
    change(bench);
    bench.world.show();
    await bench.pass();
    assert.notDeepEqual(bench.plan?.decisions, []);
  });
}
