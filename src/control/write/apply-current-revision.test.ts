import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject } from '#base/json.ts';
import { ingesterGroup } from '#support/objects/objects.ts';
import { GroupWorld } from '#support/rollouts/group-world.ts';
import { applyCurrentRevision, type CurrentRevisionOutcome } from './apply-current-revision.ts';

const decision = {
  kind: 'set-current-revision',
  set: { namespace: 'test', name: 'ingester-zone-a', uid: 'ingester-zone-a-uid' },
  from: 'last-hash',
  to: 'new-hash',
  because: { reason: 'ZoneUpdated', message: 'it is' },
} as const;

function world(): GroupWorld {
  return new GroupWorld(ingesterGroup({ zones: ['a'], updateRevision: 'new-hash' }));
}

function apply({ client }: GroupWorld): Promise<CurrentRevisionOutcome> {
  return applyCurrentRevision(decision, client, new AbortController().signal);
}

test('applyCurrentRevision() reads the set again and puts its status back, with only that changed (D-1)', async () => {
  const at = world();
  at.put('statefulsets', { ...at.object('statefulsets', 'ingester-zone-a'), unknown: 'kept' });
  const before = at.object('statefulsets', 'ingester-zone-a');
  assert.deepEqual(await apply(at), { kind: 'written', revision: '106' });
  assert.deepEqual(at.requests, ['get ingester-zone-a', 'replace ingester-zone-a']);
  const after = at.object('statefulsets', 'ingester-zone-a');
  const status = isJsonObject(before['status']) ? before['status'] : {};
  assert.deepEqual(after, {
    ...before,
    metadata: { ...before.metadata, resourceVersion: after.metadata.resourceVersion },
    status: { ...status, currentRevision: 'new-hash' },
  });
});

test('applyCurrentRevision() writes to the status only', async () => {
  const at = world();
  const { client } = at;
  let subresource: string | undefined;
  const replace: typeof client.replace = (type, key, write) => {
    ({ subresource } = write);
    return client.replace(type, key, write);
  };
  await applyCurrentRevision(decision, { ...client, replace }, new AbortController().signal);
  assert.equal(subresource, 'status');
});

const movements: Record<string, object> = {
  'another set has its name': { uid: 'another' },
  'it has another update revision': { updateRevision: 'newer-hash' },
  'its current revision is written already': { currentRevision: 'new-hash' },
};

for (const [when, change] of Object.entries(movements)) {
  test(`applyCurrentRevision() writes nothing when ${when}`, async () => {
    const at = world();
    const set = at.object('statefulsets', 'ingester-zone-a');
    const status = isJsonObject(set['status']) ? set['status'] : {};
    const uid = 'uid' in change ? 'another' : set.metadata.uid;
    at.put('statefulsets', {
      ...set,
      metadata: { ...set.metadata, uid },
      status: { ...status, ...change },
    });
    assert.deepEqual(await apply(at), { kind: 'outdated' });
    assert.deepEqual(at.requests, ['get ingester-zone-a']);
  });
}

test('[scenario 32] applyCurrentRevision() is outdated, and nothing is lost, when the set changed after its read', async () => {
  const at = world();
  at.before = ({ verb }) => {
    if (verb === 'replace') at.annotate('statefulsets', 'ingester-zone-a', { labels: {} });
  };
  assert.deepEqual(await apply(at), { kind: 'outdated' });
  assert.equal(at.object('statefulsets', 'ingester-zone-a').metadata.resourceVersion, '105');
});

test('applyCurrentRevision() that is aborted before its write has left writes nothing', async () => {
  const at = world();
  const ending = new AbortController();
  at.after = ({ verb }) => {
    if (verb === 'get') ending.abort();
  };
  await assert.rejects(applyCurrentRevision(decision, at.client, ending.signal));
  assert.deepEqual(at.requests, ['get ingester-zone-a']);
});

test('applyCurrentRevision() that is aborted once its write has left waits for the answer (D-50)', async () => {
  const at = world();
  const ending = new AbortController();
  at.before = ({ verb }) => {
    if (verb === 'replace') ending.abort();
  };
  const outcome = await applyCurrentRevision(decision, at.client, ending.signal);
  assert.equal(outcome.kind, 'written');
});
