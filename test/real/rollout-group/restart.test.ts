import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { millis, seconds } from '#base/units.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { findBinaries } from '../../real-cluster/control-plane/binaries.ts';
import {
  type OwnControlPlane,
  startControlPlane,
} from '../../real-cluster/control-plane/control-plane.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { features } from '../../scenarios/env.ts';
import { images, isComplete, podsOn, setImage } from '../../scenarios/group.ts';

describe('an API server that is restarted', () => {
  let lane: RealLane;

  before(async () => {
    lane = await startRealLane();
  });

  after(async () => {
    await lane?.close();
  });

  /** Runs `act` where the control plane is ours. */
  function onOwn(title: string, act: (own: OwnControlPlane) => Promise<void>): void {
    test(title, { timeout: 240_000 }, async (context) => {
      if (lane.own === undefined) context.skip(features.disturbance);
      else await act(lane.own);
    });
  }

  onOwn(
    'ends on SIGTERM though a watch is open, as the client lets go when it is refused',
    async () => {
      // Other clients hold on; here is none but ours.
      const plane = await startControlPlane(
        await findBinaries({ env: process.env, say: () => undefined }),
        { hasControllers: false },
      );
      const { clock } = plane;
      const transport = plane.connectAsAdmin();
      const client = createClient({ transport, clock, timeout: seconds(5), userAgent: 'restart' });
      const ending = new AbortController();
      const informer = createInformer({
        client,
        clock,
        type: resourceTypes.pods,
        project: ({ metadata: { namespace = '', name, uid, resourceVersion } }) => ({
          namespace,
          name,
          uid,
          resourceVersion,
        }),
        indexers: {},
        report: () => undefined,
      });
      const running = informer.run(ending.signal);
      await informer.synced;
      const state = { hasEnded: false };
      const asking = (async () => {
        while (!state.hasEnded) {
          await client.raw({ method: 'GET', path: '/version' }).catch(() => undefined);
          // As an operator at work asks; an idle one would not notice.
          await clock.sleep(millis(200));
        }
      })();
      const [took] = await Promise.all([
        plane.endApiServer('SIGTERM').finally(() => {
          state.hasEnded = true;
        }),
        asking,
      ]);
      ending.abort();
      await running;
      await plane.close();
      // It waits a minute for a client that holds on.
      assert.ok(took < 30_000, `the API server took ${took} ms to end`);
    },
  );

  onOwn(
    'may deny at first what it allows: an operator that starts then writes its Events all the same',
    async (own) => {
      const env = await lane.env();
      await own.endApiServer('SIGKILL');
      const [operator] = await Promise.all([env.startOperator(), own.beginApiServer()]);
      await setImage(env, images.new);
      await env.until('the rollout is complete', () => isComplete(env, images.new));
      await operator.stop();
      const written = (await env.audit()).filter(
        ({ verb, objectRef, responseStatus }) =>
          verb === 'create' && objectRef?.resource === 'events' && responseStatus?.code === 201,
      );
      assert.ok(written.length > 0, 'no Event was written');
      assert.ok(podsOn(env, images.new) > 0);
      await env.close();
    },
  );
});
