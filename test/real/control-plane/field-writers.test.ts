import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import type { Patch } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';

const labels = { app: 'web' };

describe('who has written a set, as a real API server says', () => {
  let lane: RealLane;

  before(async () => {
    lane = await startRealLane();
  });

  after(async () => {
    await lane?.close();
  });

  const writes: Readonly<
    Record<
      string,
      readonly [
        document: JsonObject,
        kind: 'merge' | 'strategic',
        want: JsonObject,
        subresource?: 'scale',
      ]
    >
  > = {
    'of a partition that is set': [
      { spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } },
      'strategic',
      { replicas: 'first', strategy: 'first', partition: 'second' },
    ],
    'of nothing where rollingUpdate is taken out, as its partition is a default then': [
      { spec: { updateStrategy: { rollingUpdate: null } } },
      'merge',
      { replicas: 'first', strategy: 'first' },
    ],
    'of another strategy': [
      { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } },
      'merge',
      { replicas: 'first', strategy: 'second' },
    ],
    'of the replicas': [
      { spec: { replicas: 2 } },
      'merge',
      { replicas: 'second', strategy: 'first', partition: 'first' },
    ],
    'of the replicas, by the scale of the set': [
      { spec: { replicas: 2 } },
      'merge',
      { replicas: 'second', strategy: 'first', partition: 'first' },
      'scale',
    ],
  };

  for (const [what, [document, kind, want, subresource]] of Object.entries(writes)) {
    test(`[found S-8] names the writer ${what}`, async () => {
      const { admin } = lane.plane;
      const env = await lane.env({ zones: [] });
      const { namespace } = env;
      const key = { namespace, name: 'web' };
      const spec = {
        replicas: 3,
        serviceName: 'web',
        selector: { matchLabels: labels },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'web', image: 'web:1' }] },
        },
      };
      const body = {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 'web', namespace },
        spec,
      };
      const { statefulSets } = resourceTypes;
      await admin.create(statefulSets, { namespace }, { body, fieldManager: 'first' });
      const patch: Patch = { kind, document };
      const write = { body: patch, fieldManager: 'second', ...(subresource && { subresource }) };
      await admin.patch(statefulSets, key, write);
      const live = await admin.get(statefulSets, key);
      const { newest, ...writers } = parseStatefulSet(live).writers ?? {};
      assert.deepEqual(writers, want);
      // Both may have written in one second.
      assert.match(newest ?? '', /first|second/);
      await env.close();
    });
  }
});
