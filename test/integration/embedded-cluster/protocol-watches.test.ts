/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-return -- answers are looked into by path, and a wrong path fails the assertion */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { CONFIG_MAPS, configMap, newEnv, PODS } from './protocol-env.ts';

test('[cluster 16] DELETED carries a newer resource version, and a watch from it does not see it again', async () => {
  const { send, watch, clock } = await newEnv();
  const { body } = await send('POST', CONFIG_MAPS, configMap('a'));
  const watched = await watch(
    `${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`,
  );
  const changed = await send('PATCH', `${CONFIG_MAPS}/a`, { data: { k: 'v' } });
  await send('DELETE', `${CONFIG_MAPS}/a`);
  await clock.quiesce();
  assert.deepEqual(watched.types(), ['MODIFIED', 'DELETED']);
  const deleted = watched.objectAt(1);
  assert.deepEqual(deleted.data, { k: 'v' });
  assert.ok(
    Number(deleted.metadata.resourceVersion) > Number(changed.body.metadata.resourceVersion),
  );
  const again = await watch(
    `${CONFIG_MAPS}?watch=1&resourceVersion=${deleted.metadata.resourceVersion}`,
  );
  assert.deepEqual(again.types(), []);
});

test('[cluster 17] an object that enters a selector is ADDED, one that leaves is DELETED as it was', async () => {
  const { send, watch, clock } = await newEnv();
  await send('POST', CONFIG_MAPS, configMap('a'));
  const { body } = await send('GET', CONFIG_MAPS);
  const watched = await watch(
    `${CONFIG_MAPS}?watch=1&labelSelector=in%3Dyes&resourceVersion=${body.metadata.resourceVersion}`,
  );
  await send('PATCH', `${CONFIG_MAPS}/a`, { metadata: { labels: { in: 'yes' } } });
  await send('PATCH', `${CONFIG_MAPS}/a`, { data: { k: 'v' } });
  const left = await send('PATCH', `${CONFIG_MAPS}/a`, { metadata: { labels: { in: 'no' } } });
  await clock.quiesce();
  assert.deepEqual(watched.types(), ['ADDED', 'MODIFIED', 'DELETED']);
  const { metadata } = watched.objectAt(2);
  assert.deepEqual(
    [metadata.labels, metadata.resourceVersion],
    [{ in: 'yes' }, left.body.metadata.resourceVersion],
  );
});

test('[cluster 18] a watch from before the log gets 200, one ERROR event with 410, and its end', async () => {
  const { send, watch, cluster } = await newEnv();
  const { body } = await send('POST', CONFIG_MAPS, configMap('a'));
  await send('PATCH', `${CONFIG_MAPS}/a`, { data: { k: 'v' } });
  cluster.faults.compact();
  const watched = await watch(
    `${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`,
  );
  assert.deepEqual([watched.status, watched.types(), watched.isOver()], [200, ['ERROR'], true]);
  const { code, reason, message } = watched.objectAt(0);
  assert.deepEqual([code, reason], [410, 'Expired']);
  assert.match(message, /^too old resource version: \d+ \(\d+\)$/);
});

test('[cluster 19] a streaming list sends the present, a marked bookmark, and goes on', async () => {
  const { send, watch, clock } = await newEnv();
  await send('POST', CONFIG_MAPS, configMap('a'));
  const { body } = await send('GET', CONFIG_MAPS);
  const watched = await watch(
    `${CONFIG_MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  );
  assert.deepEqual(watched.types(), ['ADDED', 'BOOKMARK']);
  const mark = watched.objectAt(1);
  assert.deepEqual(mark.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
  assert.equal(mark.metadata.resourceVersion, body.metadata.resourceVersion);
  await send('POST', CONFIG_MAPS, configMap('b'));
  await clock.quiesce();
  assert.deepEqual(watched.types(), ['ADDED', 'BOOKMARK', 'ADDED']);
});

test('[cluster 19] initial events need the match NotOlderThan', async () => {
  const { send } = await newEnv();
  for (const query of ['sendInitialEvents=true', 'resourceVersionMatch=NotOlderThan']) {
    const { status, body } = await send('GET', `${CONFIG_MAPS}?watch=1&${query}`);
    assert.deepEqual([status, body.reason], [422, 'Invalid']);
  }
});

test('[cluster 20] a watch without a revision gets the end mark where bookmarks are allowed', async () => {
  const { send, watch } = await newEnv();
  await send('POST', CONFIG_MAPS, configMap('a'));
  const marked = await watch(`${CONFIG_MAPS}?watch=1&allowWatchBookmarks=true`);
  assert.deepEqual(marked.types(), ['ADDED', 'BOOKMARK']);
  const plain = await watch(`${CONFIG_MAPS}?watch=1&resourceVersion=0`);
  assert.deepEqual(plain.types(), ['ADDED']);
});

test('[cluster 20] a bookmark each minute lets a client resume after a compaction', async () => {
  const { send, watch, clock, cluster } = await newEnv();
  const { body } = await send('GET', CONFIG_MAPS);
  const watched = await watch(
    `${CONFIG_MAPS}?watch=1&allowWatchBookmarks=true&resourceVersion=${body.metadata.resourceVersion}`,
  );
  await send('POST', '/api/v1/namespaces', { metadata: { name: 'other' } });
  await clock.advance(seconds(61));
  assert.deepEqual(watched.types(), ['BOOKMARK']);
  const { resourceVersion } = watched.objectAt(0).metadata;
  cluster.faults.compact();
  const resumed = await watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${resourceVersion}`);
  await send('POST', CONFIG_MAPS, configMap('a'));
  await clock.quiesce();
  assert.deepEqual(resumed.types(), ['ADDED']);
});

test('a watch ends cleanly at its timeout', async () => {
  const { watch, clock } = await newEnv();
  const watched = await watch(`${PODS}?watch=1&timeoutSeconds=30`);
  await clock.advance(seconds(29));
  assert.equal(watched.isOver(), false);
  await clock.advance(seconds(2));
  assert.deepEqual([watched.isOver(), watched.error()], [true, undefined]);
});

test('a watch from a future revision waits silently', async () => {
  const { send, watch, clock } = await newEnv();
  const watched = await watch(`${CONFIG_MAPS}?watch=1&resourceVersion=99999999`);
  await send('POST', CONFIG_MAPS, configMap('a'));
  await clock.advance(minutes(1));
  assert.deepEqual([watched.types(), watched.isOver()], [[], false]);
});

test('watch=true on the path of one object is a plain GET, as the real server has it', async () => {
  const { send } = await newEnv();
  assert.equal((await send('GET', `${CONFIG_MAPS}/a?watch=true`)).status, 404);
  await send('POST', CONFIG_MAPS, configMap('a'));
  const { body } = await send('GET', `${CONFIG_MAPS}/a?watch=true`);
  assert.equal(body.kind, 'ConfigMap');
});

test('a watch of one object by a field selector sees only that object', async () => {
  const { send, watch, clock } = await newEnv();
  const watched = await watch(`${CONFIG_MAPS}?watch=1&fieldSelector=metadata.name%3Da`);
  await send('POST', CONFIG_MAPS, configMap('a'));
  await send('POST', CONFIG_MAPS, configMap('b'));
  await clock.quiesce();
  assert.deepEqual(
    watched.events.map(({ object }) => object.metadata.name),
    ['a'],
  );
});
