import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import { InformerRig, runningRig } from '#support/api-server/informer-rig.ts';
import { lineOf, RefusedError } from '#support/api-server/scripted-client.ts';
import type { WatchServer } from '#support/api-server/watch-server.ts';
import { TransportError } from '../transport/transport.ts';

test('run() lists as a stream, without resourceVersion, and goes on watching it (D-5)', async () => {
  const rig = new InformerRig();
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

const fallbacks: Record<string, { streaming: WatchServer['streaming']; after: number }> = {
  'the server refuses streaming lists': { streaming: 'refused', after: 0 },
  'the server ends the streaming list without marking it': { streaming: 'unmarked', after: 0 },
  'the server sends a bookmark that marks nothing': { streaming: 'unmarked-bookmark', after: 0 },
  'the streaming list falls silent': { streaming: 'silent', after: 30_000 },
};

for (const [when, { streaming, after }] of Object.entries(fallbacks)) {
  test(`run() lists in consistent pages of 500 when ${when}`, async () => {
    const rig = new InformerRig();
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
  const rig = new InformerRig();
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
  const rig = new InformerRig();
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
  const rig = new InformerRig();
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
  const rig = await runningRig();
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
  const rig = new InformerRig();
  rig.server.streaming = 'unmarked';
  await rig.run();
  rig.server.streaming = 'marked';
  rig.client.watching.send('ERROR', { code: 410 });
  await rig.clock.advance(100);
  assert.equal(rig.client.watching.query.sendInitialEvents, true);
  await rig.finish();
});

test('run() resumes within 100 ms a watch that breaks again and again but tells something new', async () => {
  const rig = await runningRig();
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
  const rig = new InformerRig();
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
    hurt: (rig: InformerRig) => void;
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
    const rig = await runningRig();
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
  const rig = await runningRig();
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
  const rig = await runningRig();
  for (let minute = 0; minute < 4; minute += 1) {
    await rig.clock.advance(60_000);
    rig.client.watching.bookmark(rig.server.revision);
  }
  assert.equal(rig.watches(), 1);
  await rig.finish();
});

test('run() resumes at once a watch that lasted and ended cleanly', async () => {
  const rig = await runningRig();
  await rig.clock.advance(80_000);
  rig.client.watching.end();
  await rig.clock.settle();
  assert.equal(rig.watches(), 2);
  assert.equal(rig.lists(), 1);
  await rig.finish();
});

test('run() lists again after two silent watches in a row, and calls neither trouble', async () => {
  const rig = await runningRig();
  await rig.clock.advance(90_000);
  assert.equal(rig.lists(), 1);
  await rig.clock.advance(90_000);
  assert.equal(rig.lists(), 2);
  assert.deepEqual(rig.reasons(), []);
  await rig.finish();
});

const untilTen = [100, 200, 400, 800, 1_600, 3_200];
const backoffs = {
  'doubling to 30 s where the server refuses': {
    failure: (): Error => new RefusedError(403),
    waits: [...untilTen, 6_400, 12_800, 25_600, 30_000, 30_000],
  },
  'doubling to 5 s where no server answers': {
    failure: (): Error => new TransportError('connect ECONNREFUSED', 'not-sent'),
    waits: [...untilTen, 5_000, 5_000, 5_000, 5_000, 5_000],
  },
};

for (const [how, { failure, waits: want }] of Object.entries(backoffs)) {
  test(`run() waits from 100 ms ${how}, and starts again once healthy`, async () => {
    const rig = new InformerRig();
    rig.server.refusals = Array.from({ length: 100 }, failure);
    const asked = new Set<number>();
    const { client, clock, server } = rig;
    client.script = {
      list: (query) => {
        asked.add(clock.monotonic());
        return server.list(query);
      },
      watch: (query, stream) => {
        asked.add(clock.monotonic());
        server.watch(query, stream);
      },
    };
    await rig.run();
    await rig.clock.advance(want.reduce((sum, each) => sum + each, 0) - 1);
    rig.server.refusals = [];
    await rig.clock.advance(1);
    const times = [...asked];
    const waits = times.slice(1).map((at, before) => at - (times[before] ?? 0));
    assert.deepEqual(waits, want);
    assert.equal(rig.informer.hasSynced, true);
    assert.deepEqual(rig.reasons(), ['ListFailed', 'ViewNotFresh', 'ViewFresh', 'Recovered']);
    await rig.clock.advance(10_000);
    const watches = rig.watches();
    rig.client.watching.break();
    await rig.clock.settle();
    assert.equal(rig.watches(), watches + 1);
    await rig.finish();
  });
}

test('report gets one sentence that names what failed', async () => {
  const rig = new InformerRig();
  rig.server.refusals = [new RefusedError(403)];
  await rig.run();
  assert.equal(
    rig.problems[0]?.message,
    'Cannot list pods in namespace "demo": the server answered 403',
  );
  await rig.finish();
});

test('run() ends with RevisionWentBackError when a list is older than what was seen (D-6)', async () => {
  const rig = await runningRig();
  await rig.clock.advance(1_000);
  rig.server.revision = 2;
  rig.client.watching.send('ERROR', { code: 410 });
  await rig.clock.advance(100);
  await assert.rejects(rig.ended, { name: 'RevisionWentBackError' });
  assert.equal(rig.informer.lister.size, 2);
});

test('a type that is not installed counts as empty where that is allowed, until it is installed', async () => {
  const rig = new InformerRig({ isAbsentAllowed: true });
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
  const rig = await runningRig({ isAbsentAllowed: true });
  rig.server.refusals = [404, 404, 404].map((status) => new RefusedError(status));
  rig.client.watching.end();
  await rig.clock.advance(300);
  assert.equal(rig.informer.isAbsent, true);
  assert.deepEqual(rig.heard(), ['deleted a one', 'deleted b two']);
  await rig.finish();
});

test('a type that is not installed keeps an informer that needs it waiting', async () => {
  const rig = new InformerRig();
  rig.server.refusals = [new RefusedError(404), new RefusedError(404)];
  await rig.run();
  assert.equal(rig.informer.hasSynced, false);
  assert.deepEqual(rig.reasons(), ['ListFailed']);
  await rig.clock.advance(millis(100));
  assert.equal(rig.informer.hasSynced, true);
  await rig.finish();
});

test('a type that may not be listed does not count as empty, even where it may be absent (D-13)', async () => {
  const rig = new InformerRig({ isAbsentAllowed: true });
  rig.server.streaming = 'refused';
  rig.server.refusals = [undefined, new RefusedError(403)];
  await rig.run();
  assert.equal(rig.informer.hasSynced, false);
  assert.equal(rig.informer.isAbsent, false);
  assert.deepEqual(rig.reasons(), ['ListFailed']);
  await rig.finish();
});
