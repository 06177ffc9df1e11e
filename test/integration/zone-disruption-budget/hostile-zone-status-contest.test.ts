/** The status of a ZoneDisruptionBudget that another client writes, too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { instant, millis, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ZoneBudgetStage } from './zone-budget-stage.ts';

async function patchStatus(stage: ZoneBudgetStage, status: JsonObject): Promise<void> {
  await stage.env.client.patch(
    resourceTypes.zoneDisruptionBudgets,
    { namespace: 'demo', name: 'db' },
    { body: { kind: 'merge', document: { status } }, subresource: 'status' },
  );
}

for (const every of [100, 5]) {
  test(`a stranger that changes the status ${every} ms after each of our writes does not make us write without end`, async () => {
    const stage = await ZoneBudgetStage.open();
    const leader = await stage.start();
    leader.lead();
    await stage.create({ maxUnavailable: 1 });
    await stage.pass(seconds(30));
    const from = stage.env.clock.now();
    for (let at = 0; at < 60_000; at += every) {
      await patchStatus(stage, { disruptionsAllowed: { 'zone-a': 3 + ((at / every) % 2) } });
      await stage.pass(millis(every));
    }
    const writes = stage.statusWriters(instant(from)).length;
    assert.ok(writes <= 60, `${writes} writes in a minute`);
    await stage.close();
  });
}
