/** StatefulsetRollouts that want more pods than any memory has names for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { numberAt } from '#cluster/json/read-json.ts';
import { PercentStage } from './percent-stage.ts';

const most = 2_147_483_647;

for (const replicas of [20_001, most]) {
  test(`a set of ${replicas} replicas is not made, and that fails with these words [D-56]`, async () => {
    const stage = await PercentStage.open(3);
    stage.start();
    await stage.create('db:1', { statefulset: stage.carried('db:1', { replicas }) });
    await stage.ended('RolloutFailed');
    assert.match(stage.reason(), new RegExp(`${replicas} replicas`));
    assert.equal(stage.set(), undefined);
    // The number of pods alone begins nothing.
    await stage.edit({ rolloutIdentity: 'again', statefulset: stage.carried('db:1') });
    await stage.ended();
    assert.equal(stage.images().length, 3);
    await stage.close();
  });

  test(`after its end a set is not scaled to ${replicas} replicas, nor by a new version [D-56]`, async () => {
    const stage = await PercentStage.open(3);
    stage.start();
    await stage.create('db:1');
    await stage.ended();
    await stage.edit({ statefulset: { spec: { replicas } } });
    await stage.env.clock.advance(seconds(30));
    assert.equal(numberAt(stage.set(), 'spec', 'replicas'), 3);
    await stage.edit({ statefulset: stage.carried('db:2', { replicas }) });
    await stage.ended('RolloutFailed');
    assert.match(stage.reason(), new RegExp(`${replicas} replicas`));
    assert.equal(numberAt(stage.set(), 'spec', 'replicas'), 3);
    assert.equal(stage.env.imageOfSet('db'), 'db:1');
    await stage.close();
  });
}
