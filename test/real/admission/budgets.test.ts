/** Budgets that rollouts and evictions share, on a real control plane. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { budgets } from '../../scenarios/budgets.ts';
import { features } from '../../scenarios/env.ts';

// Most of it is waiting for pods.
describe('budgets on a real control plane', { concurrency: 2 }, () => {
  let lane: RealLane;

  before(async () => {
    lane = await startRealLane();
  });

  after(async () => {
    await lane?.close();
  });

  for (const [name, { options, act }] of Object.entries(budgets)) {
    test(name, { timeout: 240_000 }, async (context) => {
      // The API server must reach this machine.
      if (lane.own === undefined) return context.skip(features.disturbance);
      const env = await lane.env({ ...options, hasWebhooks: true });
      await act(env);
      const judgement = await env.judge();
      assert.equal(judgement.violations.length, 0, judgement.report());
      await env.close();
    });
  }
});
