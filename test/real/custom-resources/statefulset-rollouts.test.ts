/** The scenarios of StatefulsetRollouts on a real control plane, the operator under the Role that is shipped. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { refusedCalls } from '../../real-cluster/audit/audit.ts';
import { asStatefulsetRollout } from '../../real-cluster/operator-runs.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { NO_INSTALLING } from '../../real-cluster/skip-reasons.ts';
import { missing } from '../../scenarios/env.ts';
import { percentAdoption } from '../../scenarios/statefulset-rollout/percent-adoption.ts';
import { percentRefusals } from '../../scenarios/statefulset-rollout/percent-refusals.ts';
import { percentRollouts } from '../../scenarios/statefulset-rollout/percent-rollouts.ts';

const isExisting = (process.env['TEST_KUBECONFIG'] ?? '') !== '';

const all = { ...percentRollouts, ...percentAdoption, ...percentRefusals };

describe('StatefulsetRollouts on a real control plane', {
  skip: isExisting ? NO_INSTALLING : false,
}, () => {
  let lane: RealLane;

  before(async () => {
    lane = await startRealLane();
  });

  after(async () => {
    await lane?.close();
  });

  // One after the other: the end of one takes back what pods of all were told to do.
  describe('in a namespace each', () => {
    for (const [name, { needs, act }] of Object.entries(all)) {
      test(name, { timeout: 180_000 }, async (context) => {
        const program = asStatefulsetRollout();
        const env = await lane.env({ zones: [], role: 'statefulset-rollout', program });
        const reason = missing(env, needs);
        if (reason !== undefined) {
          context.skip(reason);
        } else {
          await act(env);
          assert.deepEqual(refusedCalls(await env.audit(), { mayLackLeases: false }), []);
          const errors = env.log.filter(({ level }) => level === 'error');
          assert.deepEqual(errors, []);
        }
        await env.close();
      });
    }
  });
});
