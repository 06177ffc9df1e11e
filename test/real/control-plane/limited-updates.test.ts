import { after, before, describe, test } from 'node:test';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { limitedUpdates } from '../../scenarios/control-plane/statefulsets.ts';
import { features } from '../../scenarios/env.ts';

describe('on a real control plane with MaxUnavailableStatefulSet', () => {
  let lane: RealLane;

  before(async () => {
    lane = await startRealLane({ featureGates: 'MaxUnavailableStatefulSet=true' });
  });

  after(async () => {
    await lane?.close();
  });

  for (const [name, { act }] of Object.entries(limitedUpdates)) {
    test(name, { timeout: 120_000 }, async (context) => {
      if (lane.own === undefined) {
        context.skip(features.disturbance);
        return;
      }
      const env = await lane.env({ zones: [] });
      await act(env);
      await env.close();
    });
  }
});
