import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '#base/units.ts';
import { InformerRig, runningRig } from '#support/api-server/informer-rig.ts';
import { lineOf } from '#support/api-server/scripted-client.ts';

test('run() resolves when its signal aborts, and synced rejects when that was too early', async () => {
  const rig = new InformerRig();
  rig.server.streaming = 'silent';
  await rig.run();
  await rig.finish();
  await assert.rejects(rig.informer.synced, /pods ended before its first list/);
});

test('hasSynced stays false until the streaming list marks its end', async () => {
  const rig = new InformerRig();
  rig.server.streaming = 'silent';
  await rig.run();
  assert.equal(rig.informer.lister.size, 2);
  assert.equal(rig.informer.hasSynced, false);
  assert.equal(rig.informer.freshness.seen, undefined);
  rig.client.watching.bookmark(rig.server.revision, true);
  await rig.clock.settle();
  assert.equal(rig.informer.hasSynced, true);
  assert.deepEqual(rig.informer.freshness.proof, {
    revision: '3',
    sentAt: 0,
    by: 'streaming-list',
  });
  await rig.finish();
});

test('a relist tells of what it lacks as deleted, with the last state known', async () => {
  const rig = await runningRig();
  rig.client.watching.break();
  rig.server.remove('a');
  rig.server.put('b', 'changed');
  rig.server.compact();
  await rig.clock.advance(300);
  assert.deepEqual(rig.heard(), ['updated b changed', 'deleted a one']);
  await rig.finish();
});

test('a relist that breaks off deletes nothing, and the next one does', async () => {
  const rig = await runningRig();
  rig.client.watching.break();
  rig.server.remove('a');
  rig.server.compact();
  rig.server.streaming = 'silent';
  await rig.clock.advance(300);
  rig.client.watching.break();
  await rig.clock.settle();
  assert.equal(rig.informer.lister.size, 2);
  rig.server.streaming = 'marked';
  await rig.clock.advance(1_000);
  assert.deepEqual(rig.heard(), ['deleted a one']);
  await rig.finish();
});

test('a relist voids the proof, and its own end proves the new view (D-5)', async () => {
  const rig = await runningRig();
  await rig.clock.advance(5_000);
  rig.server.compact();
  rig.server.streaming = 'silent';
  rig.client.watching.send('ERROR', { code: 410 });
  await rig.clock.advance(100);
  assert.equal(rig.informer.freshness.proof, undefined);
  await rig.clock.advance(1_000);
  rig.client.watching.bookmark(rig.server.revision, true);
  await rig.clock.advance(50);
  assert.deepEqual(rig.informer.freshness.proof, {
    revision: '3',
    sentAt: 5_100,
    by: 'streaming-list',
  });
  await rig.finish();
});

test('a deletion that a list under way tells of makes every read before it too old', async () => {
  const rig = await runningRig();
  rig.server.compact();
  rig.server.streaming = 'silent';
  rig.client.watching.send('ERROR', { code: 410 });
  await rig.clock.advance(300);
  const { freshness } = rig.informer;
  const gone = { name: 'a', namespace: 'demo', uid: 'u1', resourceVersion: '20' };
  rig.client.watching.send('ADDED', { metadata: { ...gone, name: 'c', resourceVersion: '30' } });
  await rig.clock.settle();
  assert.equal(freshness.highest, '3');
  rig.client.watching.send('DELETED', { metadata: gone });
  await rig.clock.settle();
  assert.equal(freshness.highest, '20');
  assert.equal(freshness.seen, undefined);
  await rig.finish();
});

interface RawEvent {
  readonly type: string;
  readonly uid?: string;
  readonly revision: number;
  readonly note: string;
}

/** Events about pod `a`, which is at uid u1, revision 2, after the first list at revision 3. */
const events: Record<string, { sent: readonly RawEvent[]; want: readonly string[] }> = {
  'ignores a duplicate': {
    sent: [
      { type: 'MODIFIED', revision: 10, note: 'x' },
      { type: 'MODIFIED', revision: 10, note: 'x' },
    ],
    want: ['updated a x'],
  },
  'ignores an older revision after a newer': {
    sent: [
      { type: 'MODIFIED', revision: 11, note: 'x' },
      { type: 'MODIFIED', revision: 10, note: 'old' },
    ],
    want: ['updated a x'],
  },
  'ignores what the list contained already': {
    sent: [{ type: 'MODIFIED', revision: 3, note: 'old' }],
    want: [],
  },
  'tells a MODIFIED with a new uid as delete, then add': {
    sent: [{ type: 'MODIFIED', uid: 'u9', revision: 10, note: 'x' }],
    want: ['deleted a one', 'added a x'],
  },
  'does not bring back a deleted object by a late event': {
    sent: [
      { type: 'DELETED', revision: 12, note: 'gone' },
      { type: 'MODIFIED', revision: 11, note: 'late' },
      { type: 'ADDED', revision: 10, note: 'late' },
    ],
    want: ['deleted a one'],
  },
  'deletes by an event whose body is stale': {
    sent: [
      { type: 'MODIFIED', revision: 12, note: 'x' },
      { type: 'DELETED', revision: 11, note: 'stale' },
    ],
    want: ['updated a x', 'deleted a x'],
  },
  'keeps a new object of the name when the deletion of the old one arrives late': {
    sent: [
      { type: 'MODIFIED', uid: 'u9', revision: 12, note: 'x' },
      { type: 'DELETED', revision: 11, note: 'stale' },
    ],
    want: ['deleted a one', 'added a x'],
  },
  'ignores a repeated deletion': {
    sent: [
      { type: 'DELETED', revision: 12, note: 'gone' },
      { type: 'DELETED', revision: 12, note: 'gone' },
    ],
    want: ['deleted a one'],
  },
  'tells of an object that is created again under its name': {
    sent: [
      { type: 'DELETED', revision: 12, note: 'gone' },
      { type: 'ADDED', uid: 'u9', revision: 13, note: 'x' },
    ],
    want: ['deleted a one', 'added a x'],
  },
};

for (const [fact, { sent, want }] of Object.entries(events)) {
  test(`an informer ${fact}`, async () => {
    const rig = await runningRig();
    for (const { type, uid = 'u1', revision, note } of sent) {
      const metadata = { name: 'a', namespace: 'demo', uid, resourceVersion: String(revision) };
      rig.client.watching.sendBytes(Buffer.from(lineOf(type, { metadata, note })));
    }
    await rig.clock.settle();
    assert.deepEqual(rig.heard(), want);
    await rig.finish();
  });
}

test('an informer with a selector keeps an object that left and came back when the leaving is repeated (LW-7)', async () => {
  const rig = await runningRig({ labelSelector: 'app=x' });
  for (const [type, revision] of [
    ['DELETED', 10],
    ['ADDED', 12],
    ['DELETED', 10],
  ] as const) {
    const metadata = { name: 'a', namespace: 'demo', uid: 'u1', resourceVersion: String(revision) };
    rig.client.watching.send(type, { metadata, note: 'one' });
  }
  await rig.clock.settle();
  assert.deepEqual(rig.heard(), ['deleted a one', 'added a one']);
  await rig.finish();
});

test('a handler that throws is reported, and the others and later events still come', async () => {
  const rig = new InformerRig();
  const later: string[] = [];
  rig.informer.onChange(() => {
    throw new Error('boom');
  });
  rig.informer.onChange(({ object }) => later.push(object.name));
  await rig.run();
  assert.deepEqual(later, ['a', 'b']);
  assert.deepEqual(
    rig.problems.map((problem) => problem.message),
    ['a', 'b'].map((name) => `A handler of pods failed on "demo/${name}": boom`),
  );
  await rig.finish();
});

test('an object that cannot be projected counts as missing, and is reported', async () => {
  const rig = await runningRig();
  rig.server.put('a', 'poison');
  await rig.clock.settle();
  assert.deepEqual(rig.heard(), ['deleted a one']);
  assert.equal(
    rig.problems[0]?.message,
    'Cannot project Pod "demo/a", which counts as missing: the note is poison',
  );
  rig.server.put('a', 'healthy');
  await rig.clock.settle();
  assert.deepEqual(rig.heard(), ['added a healthy']);
  await rig.finish();
});

test('handlers see their own change as delivered, and in the cache', async () => {
  const rig = await runningRig();
  const seen: boolean[] = [];
  rig.informer.onChange(({ object }) => {
    const cached = rig.informer.lister.get(object.namespace, object.name);
    seen.push(cached === object && rig.informer.freshness.hasSeen(object.resourceVersion));
  });
  rig.server.put('a', 'x');
  await rig.clock.settle();
  assert.deepEqual(seen, [true]);
  await rig.finish();
});

test('lister gives frozen objects, by name and by index', async () => {
  const rig = await runningRig();
  const row = rig.informer.lister.get('demo', 'a');
  assert.ok(row);
  assert.ok(Object.isFrozen(row) && Object.isFrozen(row.tags));
  assert.equal(rig.informer.lister.get('demo', 'z'), undefined);
  rig.server.put('a', 'two three');
  await rig.clock.settle();
  const names = (tag: string): readonly string[] =>
    rig.informer.lister.by('tag', tag).map((found) => `${found.name} ${found.note}`);
  assert.deepEqual(names('one'), []);
  assert.deepEqual(names('two'), ['b two', 'a two three']);
  rig.server.remove('b');
  await rig.clock.settle();
  assert.deepEqual(names('two'), ['a two three']);
  assert.throws(() => rig.informer.lister.by('owner', 'x'), /"owner".*has only: tag/);
  await rig.finish();
});

test('lister gives the same list of an index until something of it changes', async () => {
  const rig = await runningRig();
  const listed = (): readonly unknown[] => rig.informer.lister.by('tag', 'two');
  rig.server.put('a', 'two');
  await rig.clock.settle();
  const before = listed();
  assert.ok(Object.isFrozen(before));
  rig.server.put('c', 'x');
  await rig.clock.settle();
  assert.equal(listed(), before);
  rig.server.put('a', 'two three');
  await rig.clock.settle();
  assert.notEqual(listed(), before);
  await rig.finish();
});

test('resync passes every object by, at its interval, once there is a list', async () => {
  const rig = await runningRig({ resync: minutes(10) });
  await rig.clock.advance(minutes(10) - 1);
  assert.deepEqual(rig.heard(), []);
  await rig.clock.advance(1);
  assert.deepEqual(rig.heard(), ['resync a one', 'resync b two']);
  await rig.finish();
});
