import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeTransport } from '#support/api-server/fake-transport.ts';
import { failure } from '#support/contracts/transport-contract.ts';
import { type ClusterRejection, withClusterHeader } from './cluster-header.ts';

const rejection = { cluster_validation_error_message: 'wrong cluster', route: 'api_pods' };

for (const call of ['request', 'stream'] as const) {
  test(`withClusterHeader() names the cluster in every ${call}`, async () => {
    const inner = new FakeTransport(() => ({}));
    const headers = { accept: 'application/json' };
    await withClusterHeader(inner, { cluster: 'demo' })[call]({
      method: 'GET',
      path: '/a',
      headers,
    });
    assert.deepEqual(inner.last.headers, { accept: 'application/json', 'x-cluster': 'demo' });
  });

  test(`withClusterHeader() turns the rejection of a ${call} into an error and reports it (ME-41)`, async () => {
    const inner = new FakeTransport(() => ({ status: 511, body: rejection }));
    const seen: ClusterRejection[] = [];
    const onRejected = (each: ClusterRejection): void => void seen.push(each);
    const transport = withClusterHeader(inner, { cluster: 'demo', onRejected });
    await assert.rejects(transport[call]({ method: 'GET', path: '/a' }), failure('connection'));
    assert.deepEqual(seen, [
      { requestCluster: 'demo', route: 'api_pods', message: 'wrong cluster' },
    ]);
  });
}

for (const [what, body] of Object.entries({ text: 'log in first', 'other JSON': { a: 1 } })) {
  test(`withClusterHeader() returns a 511 with ${what} as it is`, async () => {
    const inner = new FakeTransport(() => ({ status: 511, body }));
    const transport = withClusterHeader(inner, { cluster: 'demo' });
    assert.equal((await transport.request({ method: 'GET', path: '/a' })).status, 511);
  });
}
