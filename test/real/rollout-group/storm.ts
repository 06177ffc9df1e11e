import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { autoscale, followAnnotations } from '#support/objects/scaling.ts';
import { lateText } from '../../real-cluster/late-proxy.ts';
import type { RealEnv } from '../../real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { features } from '../../scenarios/env.ts';
import { images, isComplete, podsOn, setImage, setName } from '../../scenarios/group.ts';

const limit = seconds(420);

/** Of what is late, and how late; `STORM_SEED` replays the draws, though not what the two processors make of them. */
const latenessSeed = Number(process.env['STORM_SEED'] ?? randomInt(2 ** 32));

/** Keeps what tells how a violation came about. @returns the path */
async function keepEvidence(env: RealEnv): Promise<string> {
  const path = join(tmpdir(), `storm-${latenessSeed}.json`);
  const { log, lateWrites } = env;
  const evidence = { log, lateWrites, audit: await env.audit(), history: env.history() };
  await writeFile(path, JSON.stringify(evidence));
  return path;
}

/** Rolls one zone to another image, and back before it is through. */
async function rollBackZone(env: RealEnv, zone: string): Promise<void> {
  const setImageOf = async (image: string): Promise<void> => {
    const document = {
      spec: { template: { spec: { containers: [{ name: 'ingester', image }] } } },
    };
    const key = { namespace: env.namespace, name: setName(zone) };
    await env.admin.patch(resourceTypes.statefulSets, key, {
      body: { kind: 'strategic', document },
    });
  };
  await setImageOf(images.fixed);
  await env.until('20 pods are on the way', () => podsOn(env, images.fixed, [zone]) >= 20, limit);
  await setImageOf(images.new);
}

/** Scales zone a down by 20 pods, which zone b follows. */
async function scaleDown(env: RealEnv): Promise<void> {
  const { namespace } = env;
  const annotations = followAnnotations(setName('a'));
  const follower = { namespace, name: setName('b') };
  const document = { metadata: { annotations } };
  await env.admin.patch(resourceTypes.statefulSets, follower, {
    body: { kind: 'merge', document },
  });
  const leader = { type: resourceTypes.statefulSets, namespace, name: setName('a') };
  await autoscale(env.admin, leader, (replicas) => replicas - 20);
  const isGone = (zone: string): boolean =>
    Array.from({ length: 20 }, (_, index) => `${setName(zone)}-${199 - index}`).every(
      (name) => env.stored('pods', name) === undefined,
    );
  await env.until('both zones have 180 pods', () => isGone('a') && isGone('b'), limit);
}

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

    test('completes, no invariant broken, through five kills whose requests arrive late, an API server restart and an etcd pause', {
      timeout: 900_000,
    }, async (context) => {
      const { own } = lane;
      if (own === undefined) {
        context.skip(features.disturbance);
        return;
      }
      const env = await lane.env({ replicas: 200, maxUnavailable: 40, latenessSeed });
      const { clock } = own;
      context.diagnostic(`The seed of what is late is ${latenessSeed}.`);
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
      // Each pod once, whatever arrived late; and a history that ascribed nothing to us would be judged as spotless.
      assert.equal((await env.removedByOperator()).size, 600);
      await scaleDown(env);
      await rollBackZone(env, 'c');
      await env.until('the rollback is complete', () => isComplete(env, images.new, ['c']), limit);
      const took = ((clock.monotonic() - start) / 1_000).toFixed(1);
      await operator.stop();
      await env.untilNothingIsLate();
      context.diagnostic(lateText(env.lateWrites));
      assert.ok(env.lateWrites.length > 0, 'nothing arrived late');

      const judgement = await env.judge();
      const lines = judgement.report().split('\n');
      context.diagnostic(
        `rolled in ${took} s, ${judgement.violations.length} violations that count; ${[...lines.slice(0, 2), lines.at(-1)].join(' ')}`,
      );
      if (judgement.violations.length > 0) {
        context.diagnostic(`The evidence is in ${await keepEvidence(env)}`);
      }
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
