import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, millis, minutes } from '#base/units.ts';
import { FakeClock } from '#testing/fake-clock.ts';
import { lineOf, RefusedError, ScriptedClient } from '#testing/scripted-client.ts';
import { WatchServer } from '#testing/watch-server.ts';
import type { Cached, Change, Informer, InformerProblem } from './informer.ts';
import type { KubernetesObject } from './object.ts';
import { resourceTypes } from './resource-type.ts';
import { createInformer } from './shared-informer.ts';

interface Row extends Cached {
  readonly note: string;
  readonly tags: readonly string[];
}

function noteOf(object: KubernetesObject): string {
  return typeof object['note'] === 'string' ? object['note'] : '';
}

function rowOf(object: KubernetesObject): Row {
  const { metadata } = object;
  const note = noteOf(object);
  if (note === 'poison') throw new Error('the note is poison');
  const { name, namespace = '', uid, resourceVersion } = metadata;
  return { name, namespace, uid, resourceVersion, note, tags: note.split(' ') };
}

interface RigOptions {
  readonly isAbsentAllowed?: boolean;
  readonly labelSelector?: string;
  readonly resync?: Millis;
}

/** An informer on a small server; `run` starts it and lets the first list end. */
class Rig {
  readonly clock = new FakeClock();
  readonly server = new WatchServer();
  readonly client = new ScriptedClient(this.server);
  readonly problems: InformerProblem[] = [];
  readonly changes: Change<Row>[] = [];
  readonly stop = new AbortController();
  readonly informer: Informer<Row>;
  ended: Promise<void> = Promise.resolve();

  constructor(options: RigOptions = {}) {
    this.informer = createInformer<Row>({
      client: this.client,
      clock: this.clock,
      type: resourceTypes.pods,
      namespace: 'demo',
      project: rowOf,
      indexers: { tag: (row) => row.tags },
      report: (problem) => this.problems.push(problem),
      ...options,
    });
    this.informer.onChange((change) => this.changes.push(change));
    this.server.put('a', 'one');
    this.server.put('b', 'two');
  }

  async run(): Promise<void> {
    this.ended = this.informer.run(this.stop.signal);
    this.ended.catch(() => undefined);
    await this.clock.settle();
  }

  async finish(): Promise<void> {
    this.stop.abort();
    await this.ended;
  }

  /** Name, uid and note of all objects, sorted. */
  cached(): readonly string[] {
    return [...this.informer.lister.list()].map((r) => `${r.name} ${r.uid} ${r.note}`).sort();
  }

  /** What the server has, in the same form. */
  stored(): readonly string[] {
    return [...this.server.objects.values()]
      .map((o) => `${o.metadata.name} ${o.metadata.uid} ${noteOf(o)}`)
      .sort();
  }

  /** The changes since the last call, as `kind name note`. */
  heard(): readonly string[] {
    return this.changes
      .splice(0)
      .map(({ kind, object }) => `${kind} ${object.name} ${object.note}`);
  }

  watches(): number {
    return this.client.calls.filter((call) => call.verb === 'watch').length;
  }

  lists(): number {
    return this.client.calls.filter(
      (call) =>
        (call.verb === 'list' && call.query.continue === undefined) ||
        (call.verb === 'watch' && call.query.sendInitialEvents),
    ).length;
  }

  reasons(): readonly string[] {
    return this.problems.map((problem) => problem.reason);
  }
}

async function running(options: RigOptions = {}): Promise<Rig> {
  const rig = new Rig(options);
  await rig.run();
  rig.heard();
  return rig;
}

test('run() lists as a stream, without resourceVersion, and goes on watching it (D-5)', async () => {
  const rig = new Rig();
  assert.equal(rig.informer.hasSynced, false);
  await rig.run();
  await rig.informer.synced;
  assert.equal(rig.informer.hasSynced, true);
  assert.deepEqual(rig.client.calls, [
    {
      verb: 'watch',
      query: {
        namespace: 'demo',
        sendInitialEvents: true,
        allowWatchBookmarks: true,
        timeoutSeconds: 290,
      },
    },
  ]);
  assert.deepEqual(rig.heard(), ['added a one', 'added b two']);
  rig.server.put('a', 'three');
  await rig.clock.settle();
  assert.deepEqual(rig.heard(), ['updated a three']);
  await rig.finish();
});

test('run() resolves when its signal aborts, and synced rejects when that was too early', async () => {
  const rig = new Rig();
  rig.server.streaming = 'silent';
  await rig.run();
  await rig.finish();
  await assert.rejects(rig.informer.synced, /pods ended before its first list/);
});

test('hasSynced stays false until the streaming list marks its end', async () => {
  const rig = new Rig();
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

const fallbacks: Record<string, { streaming: WatchServer['streaming']; after: number }> = {
  'the server refuses streaming lists': { streaming: 'refused', after: 0 },
  'the server ends the streaming list without marking it': { streaming: 'unmarked', after: 0 },
  'the server sends a bookmark that marks nothing': { streaming: 'unmarked-bookmark', after: 0 },
  'the streaming list falls silent': { streaming: 'silent', after: 30_000 },
};
for (const [when, { streaming, after }] of Object.entries(fallbacks)) {
  test(`run() lists in consistent pages of 500 when ${when}`, async () => {
    const rig = new Rig();
    rig.server.streaming = streaming;
    rig.server.pageSize = 1;
    await rig.run();
    await rig.clock.advance(after);
    assert.deepEqual(
      rig.client.calls.filter((call) => call.verb === 'list').map((call) => call.query),
      [
        { namespace: 'demo', limit: 500 },
        { namespace: 'demo', limit: 500, continue: '3:1' },
      ],
    );
    assert.equal(rig.informer.hasSynced, true);
    assert.deepEqual(rig.cached(), rig.stored());
    assert.equal(rig.informer.freshness.proof?.by, 'consistent-read');
    rig.server.put('c', 'new');
    await rig.clock.settle();
    assert.deepEqual(rig.cached(), rig.stored());
    await rig.finish();
  });
}

test('a list in pages is as old as the request for its first page (D-3)', async () => {
  const rig = new Rig();
  const { clock, client, server } = rig;
  server.streaming = 'refused';
  server.pageSize = 1;
  client.script = {
    list: (query) => clock.sleep(millis(1_000)).then(() => server.list(query)),
    watch: (query, stream) => server.watch(query, stream),
  };
  await rig.run();
  await clock.advance(2_000);
  assert.deepEqual(rig.informer.freshness.proof, {
    revision: '3',
    sentAt: 0,
    by: 'consistent-read',
  });
  await rig.finish();
});

test('run() lists in pages when three streaming lists in a row broke off', async () => {
  const rig = new Rig();
  rig.server.streaming = 'silent';
  await rig.run();
  for (const wait of [100, 200, 0]) {
    rig.client.watching.break();
    await rig.clock.advance(wait);
  }
  assert.equal(rig.informer.hasSynced, true);
  assert.equal(rig.informer.freshness.proof?.by, 'consistent-read');
  await rig.finish();
});

test('run() waits ever longer between lists that fail slowly', async () => {
  const rig = new Rig();
  rig.server.list = (): never => {
    throw new RefusedError(503);
  };
  rig.server.streaming = 'silent';
  await rig.run();
  const waits: number[] = [];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await rig.clock.advance(30_000);
    const [wait = 0] = rig.clock.pending();
    waits.push(wait);
    await rig.clock.advance(wait);
  }
  assert.deepEqual(waits, [100, 200, 400]);
  await rig.finish();
});

test('run() lets other work go on while it decodes one huge chunk', async () => {
  const rig = await running();
  let hops = 0;
  const seen: number[] = [];
  rig.informer.onChange(() => seen.push(hops));
  const metadata = { namespace: 'demo', uid: 'u' };
  const note = 'x'.repeat(32 * 1024);
  const lines = Array.from({ length: 16 }, (_, at) => {
    const named = { ...metadata, name: `p${at}`, resourceVersion: String(100 + at) };
    return lineOf('ADDED', { metadata: named, note });
  });
  rig.client.watching.sendBytes(Buffer.from(lines.join('')));
  const { promise, resolve } = Promise.withResolvers<void>();
  const hop = (): void => {
    hops += 1;
    if (seen.length < lines.length) setImmediate(hop);
    else resolve();
  };
  setImmediate(hop);
  await promise;
  assert.ok(hops >= 4, `other work had ${hops} turns`);
  await rig.finish();
});

test('run() lists as a stream again after a server that stopped had ended such a list', async () => {
  const rig = new Rig();
  rig.server.streaming = 'unmarked';
  await rig.run();
  rig.server.streaming = 'marked';
  rig.client.watching.send('ERROR', { code: 410 });
  await rig.clock.advance(100);
  assert.equal(rig.client.watching.query.sendInitialEvents, true);
  await rig.finish();
});

test('run() resumes within 100 ms a watch that breaks again and again but tells something new', async () => {
  const rig = await running();
  for (let round = 0; round < 8; round += 1) {
    rig.server.put('a', `round ${round}`);
    await rig.clock.settle();
    rig.client.watching.break();
    await rig.clock.advance(100);
  }
  assert.equal(rig.watches(), 9);
  await rig.finish();
});

test('run() starts over when page 2 of a list is gone (410)', async () => {
  const rig = new Rig();
  rig.server.streaming = 'refused';
  rig.server.pageSize = 1;
  rig.server.refusals = [undefined, undefined, new RefusedError(410)];
  await rig.run();
  assert.equal(rig.informer.hasSynced, false);
  rig.server.remove('a');
  await rig.clock.advance(100);
  assert.equal(rig.informer.hasSynced, true);
  assert.deepEqual(rig.cached(), rig.stored());
  await rig.finish();
});

/** Class B: what goes wrong, how long healing may take, and whether it needs another list. */
const faults: Record<
  string,
  {
    hurt: (rig: Rig) => void;
    heals: number;
    lists: number;
    reasons: readonly string[];
  }
> = {
  'the watch breaks': {
    hurt: (rig) => rig.client.watching.break(),
    heals: 100,
    lists: 0,
    reasons: ['WatchFailed', 'Recovered'],
  },
  'the watch ends cleanly': {
    hurt: (rig) => rig.client.watching.end(),
    heals: 100,
    lists: 0,
    reasons: [],
  },
  'the watch ends inside a line': {
    hurt: (rig) => {
      rig.client.watching.sendBytes(Buffer.from('{"type":"ADDED","obj'));
      rig.client.watching.end();
    },
    heals: 100,
    lists: 0,
    reasons: ['WatchFailed', 'Recovered'],
  },
  'the watch sends garbage': {
    hurt: (rig) => rig.client.watching.sendBytes(Buffer.from('<html>\n')),
    heals: 100,
    lists: 0,
    reasons: ['WatchFailed', 'Recovered'],
  },
  'the watch falls silent with an open socket (D-9)': {
    hurt: (rig) => {
      rig.client.watching.sendBytes = () => undefined;
    },
    heals: 90_000,
    lists: 0,
    reasons: [],
  },
  'the watch sends half an event and falls silent': {
    hurt: (rig) => {
      rig.client.watching.sendBytes(Buffer.from('{"type":"ADD'));
      rig.client.watching.sendBytes = () => undefined;
    },
    heals: 90_000,
    lists: 0,
    reasons: [],
  },
  'the watch ends with ERROR 410': {
    hurt: (rig) => rig.client.watching.send('ERROR', { code: 410, message: 'too old' }),
    heals: 100,
    lists: 1,
    reasons: ['WatchFailed', 'Recovered'],
  },
  'the watch ends with ERROR 500': {
    hurt: (rig) => rig.client.watching.send('ERROR', { code: 500, message: 'oops' }),
    heals: 100,
    lists: 0,
    reasons: ['WatchFailed', 'Recovered'],
  },
  'the watch ends with ERROR 429 and asks for 7 s': {
    hurt: (rig) => {
      const status = { code: 429, message: 'later', details: { retryAfterSeconds: 7 } };
      rig.client.watching.send('ERROR', status);
    },
    heals: 7_000,
    lists: 0,
    reasons: ['WatchFailed', 'Recovered'],
  },
  'the reconnect is refused with status 410': {
    hurt: (rig) => {
      rig.server.refusals = [new RefusedError(410)];
      rig.client.watching.break();
    },
    heals: 300,
    lists: 1,
    reasons: ['WatchFailed', 'WatchFailed', 'Recovered'],
  },
  'the reconnect gets ERROR 410, as the history is gone': {
    hurt: (rig) => {
      rig.client.watching.break();
      rig.server.put('x', 'unseen');
      rig.server.remove('b');
      rig.server.compact();
    },
    heals: 300,
    lists: 1,
    reasons: ['WatchFailed', 'WatchFailed', 'Recovered'],
  },
  'the reconnect is refused with 429 and asks for 3 s': {
    hurt: (rig) => {
      rig.server.refusals = [new RefusedError(429, 3_000)];
      rig.client.watching.break();
    },
    heals: 3_100,
    lists: 0,
    reasons: ['WatchFailed', 'WatchFailed', 'Recovered'],
  },
};
for (const [when, { hurt, heals, lists, reasons }] of Object.entries(faults)) {
  test(`run() shows every change again after ${when}`, async () => {
    const rig = await running();
    const listsBefore = rig.lists();
    hurt(rig);
    await rig.clock.settle();
    rig.server.put('a', 'changed');
    rig.server.put('c', 'new');
    await rig.clock.advance(heals - 1);
    assert.notDeepEqual(rig.cached(), rig.stored());
    await rig.clock.advance(1);
    assert.deepEqual(rig.cached(), rig.stored());
    rig.server.remove('a');
    await rig.clock.settle();
    assert.deepEqual(rig.cached(), rig.stored());
    assert.equal(rig.lists() - listsBefore, lists);
    assert.deepEqual(rig.reasons(), reasons);
    assert.equal(rig.server.open.length, 1);
    await rig.finish();
  });
}

test('run() resumes from the last bookmark', async () => {
  const rig = await running();
  rig.client.watching.bookmark(40);
  await rig.clock.settle();
  assert.equal(rig.informer.freshness.seen, '40');
  rig.client.watching.break();
  await rig.clock.advance(100);
  assert.deepEqual(rig.client.calls.at(-1)?.query, {
    namespace: 'demo',
    resourceVersion: '40',
    allowWatchBookmarks: true,
    timeoutSeconds: 290,
  });
  await rig.finish();
});

test('run() keeps a watch whose only sign of life are bookmarks (D-9)', async () => {
  const rig = await running();
  for (let minute = 0; minute < 4; minute += 1) {
    await rig.clock.advance(60_000);
    rig.client.watching.bookmark(rig.server.revision);
  }
  assert.equal(rig.watches(), 1);
  await rig.finish();
});

test('run() resumes at once a watch that lasted and ended cleanly', async () => {
  const rig = await running();
  await rig.clock.advance(80_000);
  rig.client.watching.end();
  await rig.clock.settle();
  assert.equal(rig.watches(), 2);
  assert.equal(rig.lists(), 1);
  await rig.finish();
});

test('run() lists again after two silent watches in a row, and calls neither trouble', async () => {
  const rig = await running();
  await rig.clock.advance(90_000);
  assert.equal(rig.lists(), 1);
  await rig.clock.advance(90_000);
  assert.equal(rig.lists(), 2);
  assert.deepEqual(rig.reasons(), []);
  await rig.finish();
});

test('run() waits from 100 ms doubling to 30 s between failures, and starts anew once healthy', async () => {
  const rig = new Rig();
  rig.server.refusals = Array.from({ length: 11 }, () => new RefusedError(403));
  await rig.run();
  const waits: number[] = [];
  for (let attempt = 0; attempt < 11; attempt += 1) {
    const [wait = 0] = rig.clock.pending();
    waits.push(wait);
    await rig.clock.advance(wait);
  }
  const want = [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000];
  assert.deepEqual(waits, want);
  assert.equal(rig.informer.hasSynced, true);
  assert.deepEqual(rig.reasons(), ['ListFailed', 'Recovered']);
  await rig.clock.advance(10_000);
  rig.client.watching.break();
  await rig.clock.settle();
  assert.equal(rig.watches(), 13);
  await rig.finish();
});

test('report gets one sentence that names what failed', async () => {
  const rig = new Rig();
  rig.server.refusals = [new RefusedError(403)];
  await rig.run();
  assert.equal(
    rig.problems[0]?.message,
    'Cannot list pods in namespace "demo": the server answered 403',
  );
  await rig.finish();
});

test('run() ends with RevisionWentBackError when a list is older than what was seen (D-6)', async () => {
  const rig = await running();
  await rig.clock.advance(1_000);
  rig.server.revision = 2;
  rig.client.watching.send('ERROR', { code: 410 });
  await rig.clock.advance(100);
  await assert.rejects(rig.ended, { name: 'RevisionWentBackError' });
  assert.equal(rig.informer.lister.size, 2);
});

test('a relist tells of what it lacks as deleted, with the last state known', async () => {
  const rig = await running();
  rig.client.watching.break();
  rig.server.remove('a');
  rig.server.put('b', 'changed');
  rig.server.compact();
  await rig.clock.advance(300);
  assert.deepEqual(rig.heard(), ['updated b changed', 'deleted a one']);
  await rig.finish();
});

test('a relist that breaks off deletes nothing, and the next one does', async () => {
  const rig = await running();
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
  const rig = await running();
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

interface RawEvent {
  readonly type: string;
  readonly uid?: string;
  readonly revision: number;
  readonly note: string;
}

/** Events about pod `a`, which stands at uid u1, revision 2, after the first list at revision 3. */
const events: Record<string, { sent: readonly RawEvent[]; want: readonly string[] }> = {
  'ignores a duplicate': {
    sent: [
      { type: 'MODIFIED', revision: 10, note: 'x' },
      { type: 'MODIFIED', revision: 10, note: 'x' },
    ],
    want: ['updated a x'],
  },
  'ignores an older revision after a newer (R10)': {
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
  'tells a MODIFIED with a new uid as delete, then add (R11)': {
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
    const rig = await running();
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
  const rig = await running({ labelSelector: 'app=x' });
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
  const rig = new Rig();
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
  const rig = await running();
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
  const rig = await running();
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
  const rig = await running();
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

test('resync passes every object by, at its interval, once there is a list', async () => {
  const rig = await running({ resync: minutes(10) });
  await rig.clock.advance(minutes(10) - 1);
  assert.deepEqual(rig.heard(), []);
  await rig.clock.advance(1);
  assert.deepEqual(rig.heard(), ['resync a one', 'resync b two']);
  await rig.finish();
});

test('a type that is not installed counts as empty where that is allowed, until it is installed', async () => {
  const rig = new Rig({ isAbsentAllowed: true });
  const gone = (): RefusedError => new RefusedError(404);
  rig.server.refusals = [gone(), gone(), gone()];
  await rig.run();
  assert.equal(rig.informer.hasSynced, true);
  assert.equal(rig.informer.isAbsent, true);
  assert.equal(rig.informer.lister.size, 0);
  assert.equal(rig.informer.freshness.proof, undefined);
  await rig.clock.advance(30_000);
  assert.equal(rig.informer.isAbsent, true);
  await rig.clock.advance(30_000);
  assert.equal(rig.informer.isAbsent, false);
  assert.deepEqual(rig.cached(), rig.stored());
  assert.deepEqual(rig.reasons(), ['TypeAbsent', 'Recovered']);
  await rig.finish();
});

test('a type that is uninstalled later becomes empty', async () => {
  const rig = await running({ isAbsentAllowed: true });
  rig.server.refusals = [404, 404, 404].map((status) => new RefusedError(status));
  rig.client.watching.end();
  await rig.clock.advance(300);
  assert.equal(rig.informer.isAbsent, true);
  assert.deepEqual(rig.heard(), ['deleted a one', 'deleted b two']);
  await rig.finish();
});

test('a type that is not installed keeps an informer that needs it waiting', async () => {
  const rig = new Rig();
  rig.server.refusals = [new RefusedError(404), new RefusedError(404)];
  await rig.run();
  assert.equal(rig.informer.hasSynced, false);
  assert.deepEqual(rig.reasons(), ['ListFailed']);
  await rig.clock.advance(millis(100));
  assert.equal(rig.informer.hasSynced, true);
  await rig.finish();
});

test('a type that may not be listed does not count as empty, even where it may be absent (D-13)', async () => {
  const rig = new Rig({ isAbsentAllowed: true });
  rig.server.streaming = 'refused';
  rig.server.refusals = [undefined, new RefusedError(403)];
  await rig.run();
  assert.equal(rig.informer.hasSynced, false);
  assert.equal(rig.informer.isAbsent, false);
  assert.deepEqual(rig.reasons(), ['ListFailed']);
  await rig.finish();
});
