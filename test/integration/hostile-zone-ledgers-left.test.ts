/** Hostile: ledgers of ZoneDisruptionBudgets that are made and deleted, as whoever may make them may do all day. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ZoneBudgetStage } from './zone-budget-stage.ts';

test('an hour after 50 budgets were deleted at most 10 of their ledgers are left', async () => {
  const stage = await ZoneBudgetStage.open();
  const replica = await stage.start();
  replica.lead();
  const namespace = 'demo';
  for (let at = 0; at < 50; at += 1) {
    const name = `made-${at}`;
    await stage.create({ selector: { matchLabels: { app: name } }, maxUnavailable: 1 }, name);
    await stage.pass(seconds(2));
    const key = { namespace, name };
    await stage.env.client.delete(resourceTypes.zoneDisruptionBudgets, key, { preconditions: {} });
    await stage.pass(seconds(1));
  }
  await stage.pass(minutes(60));
  const left = [...stage.env.stored('configmaps').keys()].filter((name) => name.includes('ledger'));
  const inOps = await stage.finish(
    stage.env.client.list(resourceTypes.configMaps, { namespace: 'ops' }),
  );
  assert.ok(inOps.items.length <= 10, `${inOps.items.length} ledgers are left ${left.length}`);
  await stage.close();
});
