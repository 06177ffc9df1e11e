/** A pod that never got a node, whose zone only the process before this one remembers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '#base/units.ts';
import { ZoneUpdateStage } from './zone-update-stage.ts';

for (const restarts of [false, true]) {
  test(`a corrected template reaches a pod that no node takes (restart of the operator: ${restarts}) [LIVE-3]`, async () => {
    const stage = await ZoneUpdateStage.open();
    stage.isDisturbed = true;
    stage.start();
    await stage.create({ exponentialFactor: '0', maxUnavailable: 1 });
    await stage.until('it is settled', () => stage.condition() === 'True Updated');
    await stage.env.patchSet({
      spec: {
        template: {
          metadata: { labels: { app: 'db' } },
          spec: {
            terminationGracePeriodSeconds: 30,
            nodeSelector: { disk: 'none-has-that' },
            containers: [{ name: 'main', image: 'db:bad' }],
          },
        },
      },
    });
    await stage.until('a pod waits for a node', () => stage.on('db:bad') === 1);
    await stage.pass(minutes(2));
    if (restarts) {
      await stage.running[0]?.stop();
      stage.start();
      await stage.pass(minutes(3));
    }
    await stage.env.patchSet({
      spec: {
        template: {
          metadata: { labels: { app: 'db' } },
          spec: {
            terminationGracePeriodSeconds: 30,
            nodeSelector: null,
            containers: [{ name: 'main', image: 'db:3' }],
          },
        },
      },
    });
    await stage.pass(minutes(40));
    assert.equal(stage.on('db:bad'), 0, `${stage.condition()}: ${stage.conditionMessage()}`);
    await stage.close();
  });
}
