/** What the API server lets pass while no replica of the operator answers reviews, under the shipped configurations. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { freePorts } from '#support/free-ports.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { PodFleetServer } from '#support/pods/pod-fleet-server.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { images, setName } from '../../scenarios/group.ts';
import { WebhookStage } from './webhook-stage.ts';

describe('while no replica answers reviews', () => {
  let lane: RealLane;
  let pods: PodFleetServer;
  let proxy: string;

  before(async () => {
    lane = await startRealLane();
    pods = new PodFleetServer(new PodFleet(lane.plane.clock), lane.plane.clock);
    proxy = (await pods.listen()).href;
  });

  after(async () => {
    await lane?.close();
    await pods.close();
  });

  test('what does not shrink a set is made, and what may is refused [found R-10]', {
    timeout: 240_000,
  }, async () => {
    const env = await lane.env({ role: 'ours', hasWebhooks: true, zones: ['a', 'b'] });
    const [port = 0] = await freePorts(1);
    const stage = new WebhookStage(env, port, proxy);
    await stage.guard();
    const operator = await stage.start();
    await stage.configure();
    await operator.stop();
    const b = stage.path('b');
    const image = [{ name: 'ingester', image: images.new }];
    const template = { spec: { containers: image } };
    const evicted = `/api/v1/namespaces/${env.namespace}/pods/${setName('b')}-0/eviction`;
    const eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: `${setName('b')}-0` },
    };
    const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
    const status = async (change: ReturnType<typeof env.ask>): Promise<number> =>
      (await change).status;
    const patch = (document: JsonObject): Promise<number> =>
      status(env.ask('PATCH', b, document, strategic));
    assert.deepEqual(
      {
        annotated: await patch({ metadata: { annotations: { note: 'x' } } }),
        'of another image': await patch({ spec: { template } }),
        'scaled up by a patch': await patch({ spec: { replicas: 4 } }),
        'scaled up': await status(stage.scale('b', 5)),
        'left at its count': await status(stage.scale('b', 5)),
        'shrunk by a patch': await patch({ spec: { replicas: 4 } }),
        shrunk: await status(stage.scale('b', 4)),
        'shrunk to nothing': await status(stage.scale('b', 0)),
        'shrunk to nothing by a patch': await patch({ spec: { replicas: 0 } }),
        'a pod evicted': await status(env.ask('POST', evicted, eviction)),
      },
      {
        annotated: 200,
        'of another image': 200,
        'scaled up by a patch': 200,
        'scaled up': 200,
        'left at its count': 200,
        'shrunk by a patch': 500,
        shrunk: 500,
        'shrunk to nothing': 500,
        'shrunk to nothing by a patch': 500,
        'a pod evicted': 500,
      },
    );
    const orphaning = { propagationPolicy: 'Orphan' };
    assert.equal(await status(env.ask('DELETE', b, orphaning)), 200);
    // The garbage collector takes its finalizer away by an update.
    await env.until('the set is gone', () => stage.replicas('b') === undefined);
    await env.close();
  });
});
