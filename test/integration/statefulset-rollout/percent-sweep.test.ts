/** Some of the deaths that `npm run do sweep` tells all of: a StatefulsetRollout, and its operator killed at any write or call. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isWhole } from '#support/extent.ts';
import { percentFaults } from './percent-judge.ts';
import { PercentStage } from './percent-stage.ts';
import { deathName, percentDeaths, percentStories, percentTold } from './percent-sweep.ts';

/** One death in so many: numbers that no count of the sweep divides, so that each kind has its turn. */
const sample = isWhole ? 13 : 59;

for (const [at, name] of Object.keys(percentStories).entries()) {
  test(`wherever the operator is killed in ${name}, another one ends it, and each pod goes once a version [GATE-2, BUDG-1, LOST-1, LOST-2, SWEEP-1]`, async () => {
    const deaths = await percentDeaths(name);
    assert.ok(deaths.length > 60, `${deaths.length} deaths`);
    const told: string[] = [];
    for (const death of deaths.filter((_, index) => index % sample === at)) {
      const faults = await percentTold(name, death);
      told.push(...faults.map((fault) => `${deathName(death)}: ${fault}`));
    }
    assert.deepEqual(told, []);
  });
}

test('the judge of this sweep finds a pod too many, one twice, one in a pause, one unrecorded, and fields of others', async () => {
  const stage = await PercentStage.open();
  const run = stage.start();
  await stage.create('db:1');
  await stage.ended();
  await stage.edit({ percent: 25, statefulset: stage.carried('db:2') });
  await stage.ended();
  assert.deepEqual(percentFaults(stage.env.cluster.eventLog), []);
  run.die();
  const { clock, cluster, env } = { ...stage.env, env: stage.env };
  const transport = cluster.transport({ user: 'operator-9' });
  const rogue = createClient({ transport, clock, timeout: seconds(5), userAgent: 'test' });
  const key = { namespace: 'demo', name: 'db' };
  const take = async (name: string): Promise<void> => {
    const uid = env.uidOf('pods', name);
    await stage.finish(rogue.delete(resourceTypes.pods, { ...key, name }, { preconditions: {} }));
    const isBack = (): boolean =>
      env.stored('pods').has(name) && env.uidOf('pods', name) !== uid && env.isReady(name);
    await clock.runUntil(isBack);
  };
  await take('db-2');
  await take('db-3');
  await stage.edit({ percent: 100, pauseRequested: true });
  await clock.advance(seconds(5));
  await take('db-1');
  await take('db-1');
  await take('db-1');
  const metadata = { labels: { theirs: 'changed' } };
  const body = { kind: 'merge', document: { metadata } } as const;
  await stage.finish(rogue.patch(resourceTypes.statefulSets, key, { body }));
  const faults = percentFaults(cluster.eventLog).map((each) => each.replace(/^at \d+ /, ''));
  const of = (fault: string): boolean => faults.includes(fault);
  assert.ok(of('db-2 was taken as number 2 of 1'), faults.join('; '));
  assert.ok(of('db-3 was taken before that was recorded'), faults.join('; '));
  assert.ok(of('db-1 was taken as number 3 of 0'), faults.join('; '));
  assert.ok(of('db-1 was taken twice on one version'), faults.join('; '));
  assert.ok(
    faults.some((each) => each.includes('metadata.labels.theirs was changed, which others own')),
    faults.join('; '),
  );
  await stage.close();
});
