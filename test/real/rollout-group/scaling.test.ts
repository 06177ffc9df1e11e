import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { seconds } from '#base/units.ts';
import { refusedCalls } from '../../real-cluster/audit/audit.ts';
import type { RoleName } from '../../real-cluster/control-plane/operator-account.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { missing } from '../../scenarios/env.ts';
import { scalings } from '../../scenarios/scaling.ts';

// Most of it is waiting: both Roles are tried at once, each in namespaces of its own.
describe('scaling on a real control plane', { concurrency: 2 }, () => {
  let lane: RealLane;

  before(async () => {
    lane = await startRealLane();
  });

  after(async () => {
    await lane?.close();
  });

  for (const role of ['ours', 'peer'] as const satisfies readonly RoleName[]) {
    describe(`under the Role of ${role === 'ours' ? 'this operator' : 'the peer'}`, {
      concurrency: 1,
    }, () => {
      for (const [name, { act }] of Object.entries(scalings)) {
        test(name, { timeout: 240_000 }, async (context) => {
          const env = await lane.env({ role });
          const reason = missing(env, ['history']);
          if (reason !== undefined) {
            context.skip(reason);
            await env.close();
            return;
          }
          await act(env);
          const judgement = await env.judge(seconds(3));
          assert.equal(judgement.violations.length, 0, judgement.report());
          const refused = refusedCalls(await env.audit(), { mayLackLeases: role === 'peer' });
          assert.deepEqual(refused, []);
          await env.close();
        });
      }
    });
  }
});
