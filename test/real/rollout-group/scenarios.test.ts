/**
 * The scenarios on a real control plane, the operator under its Role. The other files of the folder have what only a real
 * server shows: manifests, kubectl, helm, other programs beside this one; `npm run do test:real` starts what they take.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { refusedCalls } from '../../real-cluster/audit/audit.ts';
import type { RoleName } from '../../real-cluster/control-plane/operator-account.ts';
import type { RealEnv } from '../../real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { ofTheServer } from '../../scenarios/control-plane/of-the-server.ts';
import { missing } from '../../scenarios/env.ts';
import { rollouts } from '../../scenarios/rollouts.ts';

/** Fails on any refusal: what the Role lacks is asked for once, by a review, and never tried (D-1). */
async function assertNothingForbidden(env: RealEnv): Promise<void> {
  const refused = refusedCalls(await env.audit(), { mayLackLeases: env.role === 'peer' });
  assert.deepEqual(refused, []);
}

async function assertInvariantsHold(env: RealEnv): Promise<void> {
  const removed = await env.removedByOperator();
  assert.ok(removed.size > 0, 'the history ascribes no removal to the operator');
  const judgement = await env.judge();
  assert.equal(judgement.violations.length, 0, judgement.report());
}

describe('on a real control plane', () => {
  let lane: RealLane;

  before(async () => {
    lane = await startRealLane();
  });

  after(async () => {
    await lane?.close();
  });

  // Most of a rollout is waiting: both Roles are tried at once, each in namespaces of its own.
  describe('rollouts', { concurrency: 2 }, () => {
    for (const role of ['ours', 'peer'] as const satisfies readonly RoleName[]) {
      describe(`under the Role of ${role === 'ours' ? 'this operator' : 'the peer'}`, {
        concurrency: 1,
      }, () => {
        for (const [name, { needs, options, act }] of Object.entries(rollouts)) {
          test(name, { timeout: 240_000 }, async (context) => {
            const env = await lane.env({ role, ...options });
            const reason = missing(env, needs);
            if (reason !== undefined) {
              context.skip(reason);
            } else {
              await act(env);
              if (env.supports('history')) {
                await assertInvariantsHold(env);
                await assertNothingForbidden(env);
              }
            }
            await env.close();
          });
        }
      });
    }
  });

  for (const [name, { needs, act }] of Object.entries(ofTheServer)) {
    test(name, { timeout: 240_000 }, async (context) => {
      const env = await lane.env({ zones: [] });
      const reason = missing(env, needs);
      if (reason !== undefined) context.skip(reason);
      else await act(env);
      await env.close();
    });
  }
});
