/** ZoneAwareUpdates of which only the cache of the resource itself lags: what its spec says is no part of the proof. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { zoneAwareUpdateDefinition } from '#zone-aware-update/definition.ts';
import { ZoneUpdateStage } from './zone-update-stage.ts';

const resource = 'zoneawareupdates.zonecontrol.k8s.aws';

/** The definition as the peer ships it, as far as its status goes. */
function withoutConditions(): JsonObject {
  const text = JSON.stringify(zoneAwareUpdateDefinition, (key, value: unknown) =>
    key === 'conditions' || key === 'observedGeneration' ? undefined : value,
  );
  return JSON.parse(text) as JsonObject;
}

const edits: Readonly<Record<string, (stage: ZoneUpdateStage) => Promise<unknown>>> = {
  'was deleted': (stage) =>
    stage.env.client.delete(
      resourceTypes.zoneAwareUpdates,
      { namespace: 'demo', name: 'zau' },
      { preconditions: {} },
    ),
  'was made a dry run': (stage) => stage.edit({ dryRun: true }),
  'names an alarm that rings': (stage) => stage.edit({ pauseRolloutAlarm: 'Ingesters' }),
  'may take no pod any more': (stage) => stage.edit({ maxUnavailable: 0 }),
};

const definitions = { ours: zoneAwareUpdateDefinition, 'that of the peer': withoutConditions() };

for (const [whose, definition] of Object.entries(definitions)) {
  for (const [what, edit] of Object.entries(edits)) {
    test(`no further step is taken for a ZoneAwareUpdate that ${what} 15 s ago, which its watch has not told; the definition is ${whose} [D-51, MAXU-2]`, async () => {
      const stage = await ZoneUpdateStage.open({}, { definition });
      stage.start();
      await stage.pass(seconds(130));
      await stage.create({ exponentialFactor: '0' });
      await stage.pass(seconds(30));
      stage.source.state = 'ALARM';
      const slow = stage.env.kubelet.behaviours.add({
        match: { name: 'db-9' },
        behave: 'neverReady',
      });
      await stage.change('db:2');
      await stage.until('a step is done', () => stage.status().startsWith('1 '));
      await stage.pass(seconds(60));
      for (const watch of stage.env.cluster.faults.watches({ user: 'operator-1', resource })) {
        watch.pause();
      }
      await edit(stage);
      await stage.pass(seconds(15));
      slow.remove();
      await stage.pass(seconds(10));
      assert.equal(stage.steps().length, 1, stage.steps().join(', '));
      await stage.close();
    });
  }
}
