/** StatefulsetRollouts under a wall clock that jumps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '#base/units.ts';
import { SkewedClock } from '#support/clocks/skewed-clock.ts';
import { PercentStage } from './percent-stage.ts';

// Deadlines are stored, so that they are of the wall clock: one that jumps beyond them ends the rollout.
for (const span of [20, -60, -1440]) {
  test(`a wall clock that jumps by ${span} minutes neither hurries nor delays what follows an eviction that was refused [MAXU-1]`, async () => {
    const stage = await PercentStage.open(4);
    const clock = new SkewedClock(stage.env.clock);
    stage.start(clock);
    await stage.create('db:1');
    await stage.ended();
    const isRefused = (): boolean => stage.reason().startsWith('ApiThrottled');
    const disarm = stage.env.cluster.faults.add({
      match: { user: 'operator-1', resource: 'pods', subresource: 'eviction' },
      action: { kind: 'throttle', retryAfterSeconds: 60 },
    });
    await stage.edit({ statefulset: stage.carried('db:2') });
    await stage.until('an eviction is refused', isRefused);
    disarm();
    clock.step(minutes(span));
    const before = stage.env.clock.monotonic();
    await stage.until('a pod goes', () => stage.evictions().length > 0);
    const waited = stage.env.clock.monotonic() - before;
    assert.ok(waited > minutes(0.9) && waited < minutes(1.1), `${waited / 1_000} s`);
    await stage.ended();
    assert.equal(stage.phase(), 'RolloutDone');
    await stage.close();
  });
}
