/** ZoneAwareUpdates in the middle of a step, or of a request that takes 30 s, while the world changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { ZoneUpdateStage } from './zone-update-stage.ts';

async function settled(spec: JsonObject = {}, set: JsonObject = {}): Promise<ZoneUpdateStage> {
  const stage = await ZoneUpdateStage.open(set);
  stage.start();
  await stage.create(spec);
  await stage.until('it is settled', () => stage.condition() === 'True Updated');
  return stage;
}

/** When the program asked pods away whose deletion is answered, in order. */
function deletionStarts(stage: ZoneUpdateStage): readonly number[] {
  return stage.env.cluster.eventLog.calls
    .filter(
      ({ verb, resource, user }) =>
        verb === 'delete' && resource === 'pods' && user.startsWith('operator-'),
    )
    .map(({ startedAt }) => startedAt);
}

function sent(stage: ZoneUpdateStage): number {
  return deletionStarts(stage).length;
}

function otherPod(stage: ZoneUpdateStage): string {
  const names = [...stage.env.stored('pods').keys()].filter((name) => name.startsWith('db-'));
  const found = names.find((name) => stage.zoneOf(name) === 'zone-c');
  assert.ok(found !== undefined);
  return found;
}

/** Whether every pod is there and ready. */
function isWhole(stage: ZoneUpdateStage): boolean {
  const names = [...stage.env.stored('pods').keys()].filter((name) => name.startsWith('db-'));
  return names.length === 12 && names.every((name) => stage.env.isReady(name));
}

/** What happens a second into a step of 40 pods, of which 32 are under way. */
const changes: Readonly<Record<string, (stage: ZoneUpdateStage) => Promise<unknown>>> = {
  'the template is taken back': (stage) => stage.change('db:1'),
  'the limit is lowered': (stage) => stage.edit({ maxUnavailable: 5 }),
  'the update becomes a dry run': (stage) => stage.edit({ dryRun: true }),
  'an alarm is named that rings': (stage) => stage.edit({ pauseRolloutAlarm: 'Ingesters' }),
  'a pod of another zone is lost': (stage) => {
    const name = otherPod(stage);
    stage.env.kubelet.behaviours.add({ match: { name }, behave: 'neverReady' });
    return stage.env.deletePod(name);
  },
  'the set becomes one of a rollout group': (stage) =>
    stage.env.patchSet({ metadata: { labels: { 'rollout-group': 'db' } } }),
  'the set gets another strategy': (stage) =>
    stage.env.patchSet({
      spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 120 } } },
    }),
};

for (const [what, change] of Object.entries(changes)) {
  test(`nothing more of a step leaves a second after ${what}`, async () => {
    const stage = await settled({ exponentialFactor: '0', maxUnavailable: 40 }, { replicas: 120 });
    stage.isDisturbed = true;
    stage.env.cluster.faults.add({
      match: { user: 'operator-1', verb: 'delete', resource: 'pods' },
      action: { kind: 'delay', delay: seconds(5) },
      count: 32,
    });
    await stage.change('db:2');
    stage.source.state = 'ALARM';
    await stage.pass(seconds(1));
    const changedAt = stage.env.clock.now();
    await change(stage);
    // The first requests of the step are answered by then, and the pods that they take are not back.
    await stage.pass(seconds(6));
    const starts = deletionStarts(stage);
    assert.equal(starts.filter((at) => at <= changedAt).length, 32);
    assert.equal(starts.length, 32, `${starts.at(-1)} after ${changedAt}`);
    await stage.close();
  });
}

const slow = [
  ['list', 'pods'],
  ['list', 'statefulsets'],
  ['get', 'statefulsets'],
  ['update', 'zoneawareupdates'],
] as const;

for (const [verb, resource] of slow) {
  for (const when of ['before', 'after'] as const) {
    test(`a ${verb} of ${resource} that takes 30 s ${when} its effect, while a pod of another zone goes away: never two zones`, async () => {
      const stage = await settled({ exponentialFactor: '0' });
      // What was listed at the start proves nothing any more.
      await stage.pass(seconds(30));
      stage.env.cluster.faults.add({
        match: { user: 'operator-1', verb, resource },
        action: { kind: 'delay', delay: seconds(28), when },
        count: 3,
      });
      await stage.change('db:2');
      const pod = otherPod(stage);
      await stage.pass(seconds(10));
      // Where nothing has left: what leaves once the answer is there must rest on what is so by then.
      const isAhead = isWhole(stage);
      const lame = isAhead
        ? stage.env.kubelet.behaviours.add({ match: { name: pod }, behave: 'neverReady' })
        : undefined;
      await stage.pass(seconds(40));
      if (isAhead) assert.equal(stage.env.isReady(pod), false);
      lame?.remove();
      await stage.completed('db:2');
      await stage.close();
    });
  }
}

for (const zones of [['zone-a'], ['zone-b'], ['zone-a', 'zone-b', 'zone-c']]) {
  test(`no pod goes for a hiccup of readiness in ${zones.join(', ')} between two steps`, async () => {
    const stage = await settled();
    stage.isDisturbed = true;
    await stage.change('db:2');
    await stage.pass(millis(500));
    assert.equal(sent(stage), 1);
    const pods = [...stage.env.stored('pods').keys()].filter(
      (name) => name.startsWith('db-') && zones.includes(stage.zoneOf(name)),
    );
    const hiccups = pods.map((name) =>
      stage.env.kubelet.behaviours.add({ match: { name }, behave: 'neverReady' }),
    );
    await stage.pass(seconds(2));
    assert.ok(pods.some((name) => !stage.env.isReady(name)));
    assert.equal(sent(stage), 1);
    for (const each of hiccups) each.remove();
    await stage.completed('db:2');
    assert.equal(sent(stage), 12);
    await stage.close();
  });
}

test('no pod leaves on a view that nobody has proven in the last 10 s, however long the requests before it took', async () => {
  const stage = await settled({ exponentialFactor: '0', maxUnavailable: 40 }, { replicas: 120 });
  stage.isDisturbed = true;
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(15) },
    count: 32,
  });
  // What was listed at the start proves nothing any more.
  await stage.pass(seconds(30));
  await stage.change('db:2');
  await stage.until('a second batch has left', () => sent(stage) > 32);
  const lists = stage.env.cluster.eventLog.calls
    .filter(
      ({ verb, resource, user }) =>
        verb === 'list' && resource === 'pods' && user.startsWith('operator-'),
    )
    .map(({ startedAt }) => startedAt);
  const unproven = deletionStarts(stage).filter(
    (at) => !lists.some((listed) => listed <= at && listed >= at - 10_000),
  );
  assert.deepEqual(unproven, []);
  await stage.close();
});

test('a step of more pods than are sent at once goes on where nothing has changed', async () => {
  const stage = await settled({ exponentialFactor: '0', maxUnavailable: 40 }, { replicas: 120 });
  stage.isDisturbed = true;
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(5) },
    count: 40,
  });
  await stage.change('db:2');
  await stage.until('the step is done', () => stage.status().startsWith('1 '));
  assert.equal(sent(stage), 40);
  await stage.close();
});
