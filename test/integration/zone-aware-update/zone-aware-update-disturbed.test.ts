/** ZoneAwareUpdates under processes that die, pods that are lost, specs that change, and others who want the same set. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { zoneAwareUpdateDefinition } from '#zone-aware-update/definition.ts';
import { templateOf } from '../stages/virtual-environment.ts';
import { ZoneUpdateStage } from './zone-update-stage.ts';

async function settled(spec: JsonObject = {}): Promise<ZoneUpdateStage> {
  const stage = await ZoneUpdateStage.open();
  stage.start();
  await stage.create(spec);
  await stage.until('it is settled', () => stage.condition() === 'True Updated');
  return stage;
}

/** Resolves when as many deletions of the program as `count` have been answered. */
async function deletions(stage: ZoneUpdateStage, count: number): Promise<void> {
  await stage.until(`${count} pods were deleted`, () => {
    const { calls } = stage.env.cluster.eventLog;
    const deleted = calls.filter(
      ({ verb, resource, user }) =>
        verb === 'delete' && resource === 'pods' && user.startsWith('operator-'),
    );
    return deleted.length >= count;
  });
}

test('a process that dies in the middle of a step is followed by one that waits for what it sent, and no two zones are ever away', async () => {
  const stage = await settled({ exponentialFactor: '0' });
  const [first] = stage.running;
  await stage.change('db:2');
  await deletions(stage, 2);
  first?.die();
  stage.start();
  await stage.completed('db:2');
  await stage.close();
});

test('a step counts although the spec is edited while it is sent', async () => {
  const stage = await settled();
  await stage.change('db:2');
  await stage.until('one step is done', () => stage.status().startsWith('1 '));
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'update', resource: 'zoneawareupdates' },
    action: { kind: 'delay', delay: seconds(3) },
    count: 1,
  });
  await deletions(stage, 3);
  await stage.pass(seconds(1));
  await stage.edit({ maxUnavailable: 3 });
  await stage.completed('db:2');
  assert.deepEqual(
    stage.steps().map((step) => step.split(' ').length),
    [1, 2, 1, 3, 1, 3, 1],
  );
  assert.ok(stage.statuses().includes('2 / 2 / 3,4,4'), stage.statuses().join('; '));
  await stage.close();
});

test('a definition that keeps no conditions, as that of the peer, is not written to again and again', async () => {
  const definition = withoutConditions();
  const stage = await ZoneUpdateStage.open({}, { definition });
  stage.start();
  await stage.create();
  await stage.change('db:2');
  await stage.until(
    'all are new',
    () => stage.on('db:2') === 12 && stage.status().startsWith('0 '),
  );
  await stage.pass(seconds(60));
  const { calls, commits } = stage.env.cluster.eventLog;
  const isOurs = ({ verb, resource }: { verb: string; resource: string }): boolean =>
    verb === 'update' && resource.startsWith('zoneawareupdates');
  const [sent, stored] = [calls.filter(isOurs).length, commits.filter(isOurs).length];
  // The first tells that conditions are not kept.
  assert.ok(sent <= stored + 1, `${sent} were sent, and ${stored} changed something`);
  await stage.close();
});

test('a template that is taken back reaches pods that are stuck on what was given up first, and without asking an alarm', async () => {
  const stage = await settled({ pauseRolloutAlarm: 'Ingesters' });
  stage.env.kubelet.behaviours.add({ match: { image: 'db:bad' }, behave: 'crashLoop' });
  await stage.change('db:bad');
  await deletions(stage, 1);
  await stage.pass(seconds(300));
  assert.equal(stage.steps().length, 1);
  const calls = stage.source.calls.length;
  stage.source.state = 'ALARM';
  await stage.change('db:1');
  await stage.until('it is back', () => stage.on('db:1') === 12);
  await stage.completed('db:1');
  assert.equal(stage.source.calls.length, calls);
  await stage.close();
});

test('[found S-4] a template that is corrected reaches pods of all zones that are stuck on the version before', async () => {
  const stage = await settled({ pauseRolloutAlarm: 'Ingesters' });
  stage.isDisturbed = true;
  stage.env.kubelet.behaviours.add({ match: { image: 'db:bad' }, behave: 'crashLoop' });
  stage.source.state = 'ALARM';
  await stage.change('db:bad');
  // Drained, as nodes are: one pod of each zone comes back broken.
  for (const name of ['db-0', 'db-1', 'db-2']) {
    const key = { namespace: 'demo', name };
    await stage.env.client.delete(resourceTypes.pods, key, { preconditions: {} });
  }
  await stage.pass(minutes(5));
  assert.equal(stage.on('db:bad'), 3);
  await stage.change('db:1');
  await stage.until('all are back', () => stage.on('db:1') === 12, minutes(2));
  await stage.close();
});

test('of two ZoneAwareUpdates over one set the older one goes on, and the other says so', async () => {
  const stage = await settled();
  await stage.pass(seconds(2));
  await stage.create({}, 'second');
  await stage.change('db:2');
  await stage.completed('db:2');
  assert.equal(stage.condition('second'), 'False OwnedByAnother');
  assert.match(stage.conditionMessage('second'), /zau/);
  await stage.close();
});

test('a set that is of a rollout group as well is moved by neither', async () => {
  const stage = await settled();
  const document = { metadata: { labels: { 'rollout-group': 'db' } } };
  await stage.env.patchSet(document);
  await stage.change('db:2');
  await stage.pass(seconds(120));
  assert.deepEqual(stage.steps(), []);
  assert.equal(stage.condition(), 'False ConflictingOwners');
  await stage.env.patchSet({ metadata: { labels: { 'rollout-group': null } } });
  await stage.completed('db:2');
  await stage.close();
});

test('a dry run deletes nothing, promotes nothing, and says what the first step would take', async () => {
  const stage = await settled({ dryRun: true });
  await stage.env.patchSet({ spec: { template: templateOf('db:2') } });
  await stage.until('it says so', () => stage.condition().endsWith('DryRun'));
  assert.match(stage.conditionMessage(), /db-9 of zone zone-a/);
  assert.equal(stage.status(), '1 / 1 / 4,4,4');
  await stage.pass(seconds(60));
  assert.deepEqual(stage.steps(), []);
  await stage.edit({ dryRun: false });
  await stage.completed('db:2');
  await stage.close();
});

test('a set that deletes its pods by itself is left alone until its strategy is OnDelete', async () => {
  const stage = await settled();
  await stage.env.patchSet({
    spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 12 } } },
  });
  await stage.change('db:2');
  await stage.until('it says so', () => stage.condition() === 'False WrongUpdateStrategy');
  assert.deepEqual(stage.steps(), []);
  await stage.env.patchSet({ spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } });
  await stage.completed('db:2');
  await stage.close();
});

test('a ZoneAwareUpdate that is deleted in mid-rollout stops it, and one that is recreated goes on from the first step', async () => {
  const stage = await settled();
  await stage.change('db:2');
  await stage.until('two steps are done', () => stage.status().startsWith('2 '));
  const key = { namespace: 'demo', name: 'zau' };
  await stage.env.client.delete(resourceTypes.zoneAwareUpdates, key, { preconditions: {} });
  await stage.pass(seconds(300));
  assert.equal(stage.steps().length, 2);
  await stage.create();
  await stage.completed('db:2');
  assert.deepEqual(
    stage.steps().map((step) => step.split(' ').length),
    [1, 2, 1, 2, 2, 4],
  );
  await stage.close();
});

/** The definition as the peer ships it, as far as its status goes. */
function withoutConditions(): JsonObject {
  const copy: unknown = JSON.parse(
    JSON.stringify(zoneAwareUpdateDefinition, (field, value: unknown) =>
      field === 'conditions' || field === 'observedGeneration' ? undefined : value,
    ),
  );
  assert.ok(isJsonObject(copy));
  return copy;
}
