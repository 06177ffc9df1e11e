/** What a hostile review of ZoneDisruptionBudgets tried: evictions that are allowed, one pod after the other, and never happen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { ZoneBudgetStage } from './zone-budget-stage.ts';

test('[found X-1] an evictor that asks for one pod of a zone after the other, none of which goes, lets another zone have its turn', async () => {
  const stage = await ZoneBudgetStage.open();
  const leader = await stage.start();
  leader.lead();
  await stage.create({ maxUnavailable: 4 });
  const [pods, [other = '']] = [stage.podsOf('zone-a'), stage.podsOf('zone-b')];
  const begun = stage.env.clock.now();
  let answer = 'not asked yet';
  while (answer !== '' && stage.env.clock.now() - begun < minutes(30)) {
    const at = stage.env.clock.now() - begun;
    // It asks first each time, so that a zone that is free is taken again at once.
    await stage.finish(leader.review(pods[Math.floor(at / seconds(100)) % pods.length] ?? ''));
    answer = await stage.finish(leader.review(other));
    await stage.pass(seconds(2.1));
  }
  const waited = stage.env.clock.now() - begun;
  assert.ok(waited > minutes(5) && waited < minutes(8), `${waited} ms: ${answer}`);
  await stage.close();
});
