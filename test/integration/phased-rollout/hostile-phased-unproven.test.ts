/** PhasedRollouts of which only the watch of the resource itself lags: what its spec says is to be proven, too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { PhasedStage } from './phased-stage.ts';

const resource = 'phasedrollouts.sts.plus';

const edits: Readonly<Record<string, (stage: PhasedStage) => Promise<unknown>>> = {
  'was made a dry run': (stage) => stage.edit({ spec: { dryRun: true } }),
  'asks another question': (stage) =>
    stage.edit({
      spec: { check: { query: { expr: 'errors < 1', url: 'http://prometheus:9090' } } },
    }),
  'targets another set': (stage) => stage.edit({ spec: { targetRef: 'another' } }),
};

for (const [what, edit] of Object.entries(edits)) {
  test(`no further pod goes for a PhasedRollout that ${what}, which its watch has not told [D-51]`, async () => {
    const stage = await PhasedStage.open();
    stage.start();
    await stage.create({
      check: {
        initialDelaySeconds: 2,
        periodSeconds: 2,
        successThreshold: 2,
        query: { expr: 'errors < 5', url: 'http://prometheus:9090' },
      },
    });
    await stage.until('it is blocked', () => stage.partition() === 3);
    await stage.change('db:2');
    await stage.until('one may go', () => stage.partition() === 2);
    for (const watch of stage.env.cluster.faults.watches({ resource })) watch.pause();
    await edit(stage);
    await stage.env.clock.advance(seconds(20));
    assert.equal(stage.partition(), 2);
    await stage.close();
  });
}
