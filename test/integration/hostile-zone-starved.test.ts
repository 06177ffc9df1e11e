/** Hostile: whoever asks for pods of one zone that never go, so that the other zones wait. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { ZoneBudgetStage } from './zone-budget-stage.ts';

/** Reviews of pods of zone-a that are posted again and again, and evict nothing, as of a drainer that a PodDisruptionBudget stops. */
for (const count of [1, 4]) {
  test(`${count} pods of one zone that are asked for every 5 s, and never go, keep other zones waiting for 20 minutes at most`, async () => {
    const stage = await ZoneBudgetStage.open();
    const replica = await stage.start();
    replica.lead();
    await stage.create({ maxUnavailable: 1 });
    await stage.pass(seconds(10));
    const posted = stage.podsOf('zone-a').slice(0, count);
    const [wanted = ''] = stage.podsOf('zone-b');
    let waited = 0;
    let last = 'not asked';
    let allowed = 0;
    while (waited < 1_200 && last !== '') {
      for (const name of posted) {
        if ((await stage.finish(replica.review(name))) === '') allowed += 1;
      }
      last = await stage.finish(replica.review(wanted));
      await stage.pass(seconds(5));
      waited += 5;
    }
    assert.equal(last, '', `after ${waited} s and ${allowed} forged permissions: ${last}`);
    await stage.close();
  });
}
