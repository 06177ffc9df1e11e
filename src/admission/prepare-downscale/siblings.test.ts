import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, monotonic, seconds } from '#base/units.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { FakeTransport } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { startDeadline } from '../review/deadline.ts';
import { type Sibling, unhealthySibling } from './siblings.ts';

const sibling: Sibling = {
  name: 'ingester-zone-b',
  uid: 'of-b',
  minimum: undefined,
  lastDownscale: undefined,
  selector: 'name=ingester',
  replicas: 1,
  updatedReplicas: 1,
};

/** A pod that runs, whose owners are `ownerReferences`. */
function readyPod(ownerReferences: readonly JsonObject[]): JsonObject {
  const metadata = { name: 'ingester-zone-b-0', namespace: 'test', uid: 'p', resourceVersion: '1' };
  const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  return {
    metadata: { ...metadata, ownerReferences: [...ownerReferences] },
    spec: { containers: [{ name: 'x', image: 'x' }] },
    status: { phase: 'Running', containerStatuses: [{ name: 'x', ready: true, state }] },
  };
}

function owner(uid: string, controller: boolean): JsonObject {
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'ingester-zone-b', uid, controller };
}

/** What is wrong with the sibling where the selector finds `pod` alone. */
async function problemWith(pod: JsonObject): Promise<string | undefined> {
  const clock = new ManualClock();
  const transport = new FakeTransport(() => ({
    body: { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items: [pod] },
  }));
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  const deadline = startDeadline(clock, monotonic(clock.monotonic()), seconds(10));
  try {
    return await unhealthySibling([sibling], { namespace: 'test', client }, deadline);
  } finally {
    deadline.release();
  }
}

const missing = 'statefulset ingester-zone-b has 0 non-updated replicas and 1 non-ready replicas';

test('unhealthySibling() counts a ready pod that the sibling controls', async () => {
  assert.equal(await problemWith(readyPod([owner('of-b', true)])), undefined);
});

const strangers = {
  'another set controls, with the same name and labels': [owner('of-a-former-b', true)],
  'nobody controls': [],
  'the sibling owns, but does not control': [owner('of-b', false)],
};
for (const [which, owners] of Object.entries(strangers)) {
  test(`unhealthySibling() does not count a ready pod that ${which}`, async () => {
    assert.equal(await problemWith(readyPod(owners)), missing);
  });
}
