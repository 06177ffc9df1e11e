/** PhasedRollouts of sets whose replicas, ordinals or readiness change under them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { PhasedStage } from './phased-stage.ts';

/** A rollout to `db:2` that has let one pod go, which is new by now. */
async function halfway(spec: JsonObject = {}): Promise<PhasedStage> {
  const stage = await PhasedStage.open(spec);
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.until(
    'one is new',
    () => stage.partition() === 2 && stage.env.imageOf('db-2') === 'db:2',
  );
  await stage.until('it is ready', () => stage.env.isReady('db-2'));
  return stage;
}

test('a set that is scaled to 0 in mid-rollout is updated, and its pods come back new, with the next update blocked', async () => {
  const stage = await halfway();
  await stage.env.patchSet({ spec: { replicas: 0 } });
  await stage.until('it is empty', () => !stage.env.stored('pods').has('db-0'));
  await stage.until('it is updated', () => stage.phase() === 'Updated');
  await stage.env.patchSet({ spec: { replicas: 3 } });
  await stage.completed('db:2');
  await stage.change('db:3');
  await stage.env.clock.advance(seconds(8));
  assert.equal(stage.partition(), 3);
  await stage.completed('db:3');
  await stage.close();
});

test('a set whose ordinals begin elsewhere in mid-rollout lets no more pods go than its checks permit, and ends new', async () => {
  const stage = await halfway();
  await stage.env.patchSet({ spec: { ordinals: { start: 1 } } });
  const pods = ['db-1', 'db-2', 'db-3'];
  const isNew = (pod: string): boolean =>
    stage.env.stored('pods').has(pod) &&
    stage.env.imageOf(pod) === 'db:2' &&
    stage.env.isReady(pod);
  await stage.until('all are new', () => pods.every(isNew) && stage.phase() === 'Updated');
  assert.equal(stage.partition(), 3);
  await stage.close();
});

test('no pod goes while none of them stays ready for as long as the set wants, and all go once they do', async () => {
  const stage = await halfway({ minReadySeconds: 10 });
  const flapping = stage.env.kubelet.behaviours.add({
    match: { name: 'db-*' },
    behave: 'flapReady',
    period: seconds(7),
  });
  const before = stage.partitions().length;
  await stage.env.clock.advance(seconds(300));
  const gone = stage.partitions().slice(before);
  flapping.remove();
  await stage.completed('db:2');
  assert.deepEqual(gone, []);
  await stage.close();
});
