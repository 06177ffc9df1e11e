import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { RoleName } from '../real-cluster/operator-account.ts';
import { type RealEnv, type RealLane, startRealLane } from '../real-cluster/real-lane.ts';
import { rollouts } from '../scenarios/rollouts.ts';

/** Fails on any refusal: what the Role lacks is asked for once, by a review, and never tried (D-1). */
async function assertNothingForbidden(env: RealEnv): Promise<void> {
  const refused = (await env.audit()).filter(({ responseStatus }) => responseStatus?.code === 403);
  const messages = refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`);
  assert.deepEqual(messages, []);
}

async function assertInvariantsHold(env: RealEnv): Promise<void> {
  const removed = await env.removedByOperator();
  assert.ok(removed.size > 0, 'the history ascribes no removal to the operator');
  const judgement = await env.judge();
  assert.equal(judgement.violations.length, 0, judgement.report());
}

describe('rollouts on a real control plane', () => {
  let lane: RealLane;

  before(async () => {
    lane = await startRealLane();
  });

  after(async () => {
    await lane?.close();
  });

  for (const role of ['ours', 'peer'] as const satisfies readonly RoleName[]) {
    describe(`under the Role of ${role === 'ours' ? 'this operator' : 'the peer'}`, () => {
      for (const [name, { needs = [], act }] of Object.entries(rollouts)) {
        test(name, { timeout: 240_000 }, async (context) => {
          const env = await lane.env({ role });
          const missing = needs.filter((feature) => !env.supports(feature));
          if (missing.length > 0) {
            context.skip(`the real lane has no ${missing.join(', ')}`);
          } else {
            await act(env);
            await assertInvariantsHold(env);
            await assertNothingForbidden(env);
          }
          await env.close();
        });
      }
    });
  }
});
