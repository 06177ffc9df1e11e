import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultAction } from '#cluster/faults.ts';
import { startEnvironment, templateOf } from '../stages/virtual-environment.ts';

const writes = ['create', 'update', 'patch', 'delete'];

const actions: Record<string, FaultAction> = {
  'are answered 500 without effect': { kind: 'error', code: 500, when: 'before' },
  'have an effect and are answered 503': { kind: 'error', code: 503, when: 'after' },
  'are reset before they have an effect': { kind: 'drop', when: 'before' },
  'have an effect and lose their answer': { kind: 'drop', when: 'after' },
  'meet a conflict': { kind: 'conflict' },
  'are executed twice': { kind: 'duplicate' },
  'are throttled': { kind: 'throttle', retryAfterSeconds: 1 },
};

for (const [fact, action] of Object.entries(actions)) {
  test(`a set comes up and rolls although a third of all writes ${fact}`, async () => {
    const env = await startEnvironment();
    await env.createSet();
    for (const verb of writes) {
      env.cluster.faults.add({ match: { verb }, probability: 0.33, action });
    }
    await env.clock.runUntilIdle();
    assert.equal(env.statusOf('db').readyReplicas, 3);
    const image = { spec: { template: templateOf('db:2') } };
    while (env.imageOfSet('db') !== 'db:2') await env.patchSet(image).catch(() => undefined);
    await env.clock.runUntilIdle();
    const status = env.statusOf('db');
    assert.equal(status.updatedReplicas, 3);
    assert.equal(status.readyReplicas, 3);
    assert.equal(status.currentRevision, status.updateRevision);
    await env.close();
  });
}
