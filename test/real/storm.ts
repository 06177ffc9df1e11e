import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { seconds } from '#base/units.ts';
import { type RealLane, startRealLane } from '../real-cluster/real-lane.ts';
import { features } from '../scenarios/env.ts';
import { images, isComplete, podsOn, setImage } from '../scenarios/group.ts';

const limit = seconds(420);

/** Defines the test that rolls many pods while everything else fails. */
export function defineStorm(): void {
  describe('a rollout of 3 x 200 pods on a real control plane', () => {
    let lane: RealLane;

    before(async () => {
      lane = await startRealLane();
    });

    after(async () => {
      await lane?.close();
    });

    test('completes, no invariant broken, through five kills, an API server restart and an etcd pause', {
      timeout: 900_000,
    }, async (context) => {
      const { own } = lane;
      if (own === undefined) {
        context.skip(features.disturbance);
        return;
      }
      const env = await lane.env({ replicas: 200, maxUnavailable: 40 });
      const { clock } = own;
      const untilNew = (count: number): Promise<void> =>
        env.until(`${count} pods are new`, () => podsOn(env, images.new) >= count, limit);

      let operator = await env.startOperator();
      const start = clock.monotonic();
      await setImage(env, images.new);
      const replaceOperator = async (): Promise<void> => {
        await operator.kill();
        operator = await env.startOperator();
      };
      const restart = { from: 0, until: 0 };
      const restartApiServer = async (): Promise<void> => {
        restart.from = clock.now();
        await own.restartApiServer('SIGKILL');
        restart.until = clock.now();
      };
      const faults: readonly (readonly [count: number, strike: () => Promise<void>])[] = [
        [50, replaceOperator],
        [150, replaceOperator],
        [220, restartApiServer],
        [300, replaceOperator],
        [380, replaceOperator],
        [
          430,
          async () => {
            own.pauseEtcd();
            // The fault itself, not a wait for something.
            await clock.sleep(seconds(5));
            own.resumeEtcd();
          },
        ],
        [500, replaceOperator],
      ];
      for (const [count, strike] of faults) {
        await untilNew(count);
        await strike();
      }
      await env.until('the rollout is complete', () => isComplete(env, images.new), limit);
      const took = ((clock.monotonic() - start) / 1_000).toFixed(1);
      await operator.stop();

      // A history that ascribed nothing to us would be judged as spotless.
      assert.equal((await env.removedByOperator()).size, 600);
      const judgement = await env.judge();
      const lines = judgement.report().split('\n');
      context.diagnostic(
        `rolled in ${took} s, ${judgement.violations.length} violations that count; ${[...lines.slice(0, 2), lines.at(-1)].join(' ')}`,
      );
      assert.equal(judgement.violations.length, 0, judgement.report());
      // Until its RBAC caches are filled, a starting API server forbids what it will allow.
      const isOutsideRestart = (time: string): boolean =>
        Date.parse(time) < restart.from || Date.parse(time) > restart.until;
      const forbidden = (await env.audit()).filter(
        ({ responseStatus, stageTimestamp }) =>
          responseStatus?.code === 403 && isOutsideRestart(stageTimestamp),
      );
      assert.deepEqual(forbidden, []);
      await env.close();
    });
  });
}
