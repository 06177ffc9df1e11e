/** The last deletion of a killed process comes late, under a budget that came to bind its pod only after it was sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { evict } from '../stages/zone-evictions.ts';
import { budgetedUpdate, createBudget, editBudget } from '../zone-aware-update/budgeted-update.ts';
import type { ZoneUpdateStage } from '../zone-aware-update/zone-update-stage.ts';
import { ZoneBudgetStage } from './zone-budget-stage.ts';

interface Case {
  readonly first: JsonObject | undefined;
  readonly edit: (stage: ZoneUpdateStage) => Promise<void>;
}

const cases: Readonly<Record<string, Case>> = {
  'was a dry run': {
    first: { maxUnavailable: 4, dryRun: true },
    edit: (stage) => editBudget(stage, { dryRun: false }),
  },
  'selected other pods': {
    first: { maxUnavailable: 4, selector: { matchLabels: { app: 'other' } } },
    edit: (stage) => editBudget(stage, { selector: { matchLabels: { app: 'db' } } }),
  },
  'was not there': {
    first: undefined,
    edit: (stage) => createBudget(stage, { maxUnavailable: 4 }),
  },
};

for (const [what, { first, edit }] of Object.entries(cases)) {
  for (const when of ['before', 'after'] as const) {
    for (const standby of [true, false]) {
      test(`no eviction of another zone is let go while a deletion of a killed process is late, under a budget that ${what}, changed ${when} the next process starts (standby: ${standby}) [EXCL-1, BUDG-1]`, async () => {
        const stage = await budgetedUpdate(first, { maxUnavailable: 1, exponentialFactor: '0' });
        stage.isDisturbed = true;
        if (standby) stage.start();
        await stage.pass(seconds(60));
        stage.env.cluster.faults.add({
          match: { user: 'operator-1', verb: 'delete', resource: 'pods' },
          action: { kind: 'delay', delay: seconds(100) },
          count: 1,
        });
        await stage.change('db:2');
        await stage.pass(seconds(5));
        stage.running[0]?.die(seconds(90));
        if (when === 'before') await edit(stage);
        await stage.pass(seconds(1));
        if (!standby) stage.start();
        await stage.pass(seconds(5));
        if (when === 'after') await edit(stage);
        const next = stage.running[1];
        assert.ok(next);
        const parts = { env: stage.env, webhook: next.webhook };
        const from = stage.env.clock.now();
        const names = [...stage.env.stored('pods').keys()].filter(
          (name) => name.startsWith('db-') && stage.zoneOf(name) === 'zone-c',
        );
        const [name] = names;
        assert.ok(name);
        stage.env.kubelet.behaviours.add({ match: { name }, behave: 'slow', by: seconds(300) });
        const said: string[] = [];
        for (let at = 0; at < 90; at += 2) {
          const answer = await stage.finish(evict(parts, name));
          said.push(`${stage.env.clock.now() - from}: ${answer}`);
          if (answer === '') break;
          await stage.pass(seconds(2));
        }
        await stage.pass(seconds(120));
        const twoZones = stage.faults().filter((each) => each.includes('pods of'));
        assert.deepEqual(twoZones.slice(0, 1), [], said.at(-1) ?? '');
        await stage.close();
      });
    }
  }
}

for (const [what, { first, edit }] of Object.entries(cases)) {
  for (const asked of ['the leader', 'a standby'] as const) {
    test(`no eviction of another zone is let go by ${asked} while a deletion of the leader, which lives, takes 25 s, under a budget that ${what} when that was sent [EXCL-1, BUDG-1]`, async () => {
      const stage = await budgetedUpdate(first, { maxUnavailable: 1, exponentialFactor: '0' });
      stage.isDisturbed = true;
      stage.start();
      await stage.pass(seconds(60));
      stage.env.cluster.faults.add({
        match: { user: 'operator-1', verb: 'delete', resource: 'pods' },
        action: { kind: 'delay', delay: seconds(25) },
        count: 1,
      });
      await stage.change('db:2');
      await stage.pass(seconds(5));
      await edit(stage);
      await stage.pass(seconds(2));
      const served = stage.running[asked === 'the leader' ? 0 : 1];
      assert.ok(served);
      const [name] = [...stage.env.stored('pods').keys()].filter(
        (each) => each.startsWith('db-') && stage.zoneOf(each) === 'zone-c',
      );
      assert.ok(name);
      stage.env.kubelet.behaviours.add({ match: { name }, behave: 'slow', by: seconds(60) });
      const parts = { env: stage.env, webhook: served.webhook };
      const answer = await stage.finish(evict(parts, name));
      await stage.pass(seconds(40));
      const twoZones = stage.faults().filter((each) => each.includes('pods of'));
      assert.deepEqual(twoZones.slice(0, 1), [], answer);
      await stage.close();
    });
  }
}

test('an eviction that a budget let go as a dry run, and that may still come, counts once the budget is none any more [EXCL-1]', async () => {
  const stage = await ZoneBudgetStage.open();
  const leader = await stage.start();
  leader.lead();
  await stage.create({ maxUnavailable: 1, dryRun: true });
  await stage.pass(seconds(20));
  const [a] = stage.podsOf('zone-a');
  const [b] = stage.podsOf('zone-b');
  assert.ok(a !== undefined && b !== undefined);
  assert.equal(await stage.finish(leader.review(a)), '');
  await stage.edit({ dryRun: false });
  await stage.pass(seconds(1));
  assert.match(await stage.finish(leader.review(b)), /^429 /);
  await stage.close();
});
