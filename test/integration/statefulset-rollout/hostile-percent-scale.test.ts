/** Edits of replicas after a rollout has ended, whose one write does not reach the set at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import type { FaultAction } from '#cluster/faults.ts';
import { numberAt, objectAt } from '#cluster/json/read-json.ts';
import { PercentStage } from './percent-stage.ts';

async function settled(): Promise<PercentStage> {
  const stage = await PercentStage.open();
  stage.start();
  await stage.create('db:1');
  await stage.ended();
  return stage;
}

function replicasOf(stage: PercentStage): number | undefined {
  return numberAt(stage.set(), 'spec', 'replicas');
}

const ofSet = { user: 'operator-1', verb: 'patch', resource: 'statefulsets' };
const ofStatus = { user: 'operator-1', verb: 'update', resource: 'statefulsetrollouts' };

const failures: Readonly<Record<string, FaultAction>> = {
  'fails with 500': { kind: 'error', code: 500, reason: 'InternalError' },
  'is throttled': { kind: 'throttle', retryAfterSeconds: 1 },
  'meets another write': { kind: 'conflict' },
  'is never answered': { kind: 'drop' },
};

for (const [what, action] of Object.entries(failures)) {
  for (const to of [2, 6]) {
    test(`after its end ${to} replicas are written although the first write ${what} [B-17, B-62]`, async () => {
      const stage = await settled();
      stage.env.cluster.faults.add({ match: ofSet, count: 1, action });
      await stage.edit({ statefulset: { spec: { replicas: to } } });
      await stage.until('it is scaled', () => replicasOf(stage) === to, minutes(5));
      await stage.ended();
      assert.equal(stage.env.cluster.faults.hits.length, 1);
      assert.equal(stage.phase(), 'RolloutDone');
      await stage.close();
    });
  }
}

for (const when of ['before', 'after'] as const) {
  for (const match of [ofSet, ofStatus]) {
    test(`after its end replicas are written although the program is killed ${when} its first ${match.verb} of ${match.resource} [B-7, B-62]`, async () => {
      const stage = await settled();
      const { faults } = stage.env.cluster;
      const die = (): void => stage.running[0]?.die();
      if (when === 'before') faults.beforeWrite(match, 1, die);
      else faults.afterWrite(match, 1, die);
      await stage.edit({ statefulset: { spec: { replicas: 6 } } });
      await stage.env.clock.advance(seconds(30));
      stage.start();
      await stage.until('it is scaled', () => replicasOf(stage) === 6, minutes(5));
      await stage.ended();
      assert.deepEqual(stage.evictions(), []);
      await stage.close();
    });
  }
}

const drifts: Readonly<Record<string, JsonObject>> = {
  'a label of it': { metadata: { labels: { 'app.kubernetes.io/managed-by': 'somebody' } } },
  'its template': {
    spec: { template: { spec: { containers: [{ name: 'main', image: 'theirs:1' }] } } },
  },
};

for (const [what, drift] of Object.entries(drifts)) {
  for (const policy of ['Report', 'Pin']) {
    test(`after its end, with ${policy}, replicas are written although a user has changed ${what}, and nothing else is [B-62]`, async () => {
      const stage = await PercentStage.open();
      stage.start();
      const metadata = { name: 'db', labels: { app: 'db' } };
      const carried = { ...stage.carried('db:1'), metadata };
      await stage.create('db:1', { versionLeak: { policy }, statefulset: carried });
      await stage.ended();
      await stage.env.clock.advance(minutes(1));
      await stage.env.patchSet(drift);
      await stage.env.clock.advance(minutes(1));
      const before = stage.set();
      await stage.edit({ statefulset: { spec: { replicas: 6 } } });
      await stage.until('it is scaled', () => replicasOf(stage) === 6, minutes(5));
      await stage.ended();
      for (const part of ['labels', 'annotations']) {
        const [was, is] = [before, stage.set()].map((set) => objectAt(set, 'metadata', part));
        assert.deepEqual(is, was);
      }
      const [was, is] = [before, stage.set()].map((set) => objectAt(set, 'spec', 'template'));
      assert.deepEqual(is, was);
      assert.deepEqual(stage.evictions(), []);
      assert.equal(stage.phase(), 'RolloutDone');
      await stage.close();
    });
  }
}

test('after a failure replicas are written although what failed cannot be written [B-62, B-66]', async () => {
  const stage = await settled();
  await stage.edit({ statefulset: stage.carried('db:2', { serviceName: 'other' }) });
  await stage.ended('RolloutFailed');
  await stage.edit({ statefulset: { spec: { replicas: 6 } } });
  await stage.until('it is scaled', () => replicasOf(stage) === 6, minutes(5));
  await stage.ended('RolloutFailed');
  assert.match(stage.reason(), /serviceName/);
  assert.equal(stage.env.imageOfSet('db'), 'db:1');
  await stage.close();
});
