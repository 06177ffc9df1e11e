/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-return -- answers are looked into by path, and a wrong path fails the assertion */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIG_MAPS, configMap, newEnv, PODS, pod, SETS, statefulSet } from './protocol-env.ts';

const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
const jsonPatch = { 'content-type': 'application/json-patch+json' };

test('a patch of a type that is not known answers 415, though its object is missing', async () => {
  const env = await newEnv();
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  for (const path of [`${SETS}/none`, `${SETS}/none/scale`]) {
    assert.equal((await env.send('PATCH', path, {}, headers)).status, 415);
  }
});

test('[cluster 24] a JSON patch makes no parents, and fails as a whole', async () => {
  const { send } = await newEnv();
  await send('POST', CONFIG_MAPS, configMap('a'));
  const operations = [
    { op: 'add', path: '/data', value: { a: 'b' } },
    { op: 'add', path: '/metadata/annotations/x', value: 'y' },
  ];
  const { status, body } = await send('PATCH', `${CONFIG_MAPS}/a`, operations, jsonPatch);
  assert.deepEqual([status, body.reason], [422, 'Invalid']);
  const { body: now } = await send('GET', `${CONFIG_MAPS}/a`);
  assert.deepEqual([now.data, now.metadata.annotations], [undefined, undefined]);
});

test('[cluster 25] a strategic merge changes one variable of one container and keeps the others', async () => {
  const { send } = await newEnv();
  const env = [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ];
  const containers = [
    { name: 'app', image: 'app:1', env },
    { name: 'other', image: 'other:1' },
  ];
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers } };
  const set = statefulSet('web', 1) as { readonly spec: object };
  await send('POST', SETS, { metadata: { name: 'web' }, spec: { ...set.spec, template } });
  const changed = [{ name: 'app', env: [{ name: 'B', value: '3' }] }];
  const patch = { spec: { template: { spec: { containers: changed } } } };
  const { status, body } = await send('PATCH', `${SETS}/web`, patch, strategic);
  assert.equal(status, 200);
  assert.deepEqual(
    body.spec.template.spec.containers.map(
      ({ name, env: variables }: { readonly name: string; readonly env: unknown }) => [
        name,
        variables,
      ],
    ),
    [
      [
        'app',
        [
          { name: 'A', value: '1' },
          { name: 'B', value: '3' },
        ],
      ],
      ['other', undefined],
    ],
  );
});

test('[cluster 25] a strategic merge takes tolerations as one value', async () => {
  const { send } = await newEnv();
  const tolerations = [{ key: 'a', operator: 'Exists' }];
  const before = await send('POST', PODS, pod('a', { spec: { tolerations } }));
  const all = [...before.body.spec.tolerations, { key: 'b', operator: 'Exists' }];
  const patch = { spec: { tolerations: all } };
  const { body } = await send('PATCH', `${PODS}/a`, patch, strategic);
  assert.deepEqual(body.spec.tolerations, all);
});

test('[cluster 26] an unknown field of a set is dropped with a warning, and refused under Strict', async () => {
  const { send } = await newEnv();
  const rollingUpdate = { partition: 0, partitoin: 1 };
  const set = statefulSet('web', 1) as { readonly spec: object };
  const spec = { ...set.spec, updateStrategy: { type: 'RollingUpdate', rollingUpdate } };
  const body = { metadata: { name: 'web' }, spec };
  const made = await send('POST', SETS, body);
  assert.equal(
    made.headers['warning'],
    '299 - "unknown field \\"spec.updateStrategy.rollingUpdate.partitoin\\""',
  );
  assert.deepEqual(made.body.spec.updateStrategy.rollingUpdate, { partition: 0 });
  const strict = await send('POST', `${SETS}?fieldValidation=Strict`, body);
  assert.deepEqual([strict.status, strict.body.reason], [400, 'BadRequest']);
  assert.match(
    strict.body.message,
    /strict decoding error: unknown field "spec\.updateStrategy\.rollingUpdate\.partitoin"$/,
  );
});
