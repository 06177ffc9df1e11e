/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-return -- answers are looked into by path, and a wrong path fails the assertion */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import {
  type Answer,
  CONFIG_MAPS,
  configMap,
  type Env,
  newEnv,
  PODS,
  pod,
} from './protocol-env.ts';

async function fill(env: Env, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    await env.send('POST', CONFIG_MAPS, configMap(`c-${String(i).padStart(4, '0')}`));
  }
}

function namesOf(answer: Answer): readonly string[] {
  return answer.body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
}

test('[cluster 15] pages show the state of the first one, deleted objects included', async () => {
  const env = await newEnv();
  await fill(env, 1_200);
  const first = await env.send('GET', `${CONFIG_MAPS}?limit=500`);
  assert.deepEqual([namesOf(first).length, first.body.metadata.remainingItemCount], [500, 700]);
  await env.send('DELETE', `${CONFIG_MAPS}/c-0700`);
  await env.send('POST', CONFIG_MAPS, configMap('c-0700-new'));
  const names = [...namesOf(first)];
  let token: string = first.body.metadata.continue;
  while (token !== undefined) {
    const page = await env.send('GET', `${CONFIG_MAPS}?limit=500&continue=${token}`);
    assert.equal(page.body.metadata.resourceVersion, first.body.metadata.resourceVersion);
    names.push(...namesOf(page));
    token = page.body.metadata.continue;
  }
  assert.equal(names.length, 1_200);
  assert.ok(names.includes('c-0700'));
});

test('[cluster 15] a token that outlived the log answers 410 with one that goes on from the present', async () => {
  const env = await newEnv();
  await fill(env, 5);
  const first = await env.send('GET', `${CONFIG_MAPS}?limit=2`);
  await env.send('DELETE', `${CONFIG_MAPS}/c-0003`);
  env.cluster.faults.compact();
  const expired = await env.send(
    'GET',
    `${CONFIG_MAPS}?limit=2&continue=${first.body.metadata.continue}`,
  );
  assert.deepEqual([expired.status, expired.body.reason], [410, 'Expired']);
  const fresh = await env.send('GET', `${CONFIG_MAPS}?continue=${expired.body.metadata.continue}`);
  assert.deepEqual(namesOf(fresh), ['c-0002', 'c-0004']);
});

test('[cluster 15] resourceVersion=0 with a limit answers everything', async () => {
  const env = await newEnv();
  await fill(env, 5);
  const { body } = await env.send('GET', `${CONFIG_MAPS}?limit=2&resourceVersion=0`);
  assert.deepEqual([body.items.length, body.metadata.continue], [5, undefined]);
});

test('items of a built-in list carry neither kind nor apiVersion, and an empty list is []', async () => {
  const { send } = await newEnv();
  assert.deepEqual((await send('GET', CONFIG_MAPS)).body.items, []);
  await send('POST', CONFIG_MAPS, configMap('a'));
  const { body } = await send('GET', CONFIG_MAPS);
  assert.equal(body.kind, 'ConfigMapList');
  assert.deepEqual(Object.keys(body.items[0]), ['metadata']);
});

const refused: Record<string, readonly [query: string, status: number]> = {
  'a revision that is no number': ['resourceVersion=x', 400],
  'a match without a revision': ['resourceVersionMatch=Exact', 422],
  'Exact at revision 0': ['resourceVersionMatch=Exact&resourceVersion=0', 422],
  'an unknown match': ['resourceVersionMatch=Near&resourceVersion=5', 422],
  'a broken token': ['continue=abc', 400],
  'a malformed limit': ['limit=many', 400],
  'initial events': ['sendInitialEvents=true', 422],
  'a bad label selector': ['labelSelector=a%20b', 400],
  'an unknown field label': ['fieldSelector=spec.foo%3D1', 400],
};
for (const [fact, [query, status]] of Object.entries(refused)) {
  test(`[cluster 3] a list refuses ${fact}`, async () => {
    const { send } = await newEnv();
    assert.equal((await send('GET', `${CONFIG_MAPS}?${query}`)).status, status);
  });
}

test('an exact revision shows the state of then', async () => {
  const { send } = await newEnv();
  const created = await send('POST', CONFIG_MAPS, configMap('a'));
  await send('DELETE', `${CONFIG_MAPS}/a`);
  const { resourceVersion } = created.body.metadata;
  const then = await send(
    'GET',
    `${CONFIG_MAPS}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`,
  );
  assert.deepEqual(
    [then.body.items.length, then.body.metadata.resourceVersion],
    [1, resourceVersion],
  );
});

test('[cluster 3] a revision from the future answers 504 after three seconds', async () => {
  const { send, clock } = await newEnv();
  const asked = send('GET', `${CONFIG_MAPS}?resourceVersion=99999999`);
  await clock.advance(seconds(3));
  const { status, body, headers } = await asked;
  assert.equal(status, 504);
  assert.match(body.message, /^Timeout: Too large resource version: 99999999, current: \d+$/);
  assert.deepEqual([body.details.retryAfterSeconds, headers['retry-after']], [1, '1']);
});

test('selectors choose by label and by field', async () => {
  const { send } = await newEnv();
  await send(
    'POST',
    PODS,
    pod('a', { spec: { nodeName: 'n1' }, metadata: { labels: { app: 'x' } } }),
  );
  await send('POST', PODS, pod('b', { spec: { nodeName: 'n2' } }));
  const byNode = await send('GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Dn1');
  assert.deepEqual(namesOf(byNode), ['a']);
  assert.deepEqual(namesOf(await send('GET', `${PODS}?labelSelector=!app`)), ['b']);
});
