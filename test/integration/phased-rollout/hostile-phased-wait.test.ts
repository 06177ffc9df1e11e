/** PhasedRollouts that wait, or are taken up again: what is reported of it, and what must not begin again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { noData, someData } from '#support/external-services/fake-prometheus.ts';
import { mostDown } from './phased-judge.ts';
import { PhasedStage, usualCheck } from './phased-stage.ts';

const namespace = 'demo';
const pods = ['db-0', 'db-1', 'db-2'];

async function settled(check: JsonObject = {}, spec: JsonObject = {}): Promise<PhasedStage> {
  const stage = await PhasedStage.open(spec);
  stage.start();
  await stage.create({ check: { ...usualCheck, ...check } });
  await stage.settled();
  return stage;
}

function imagesOf(stage: PhasedStage): readonly string[] {
  return pods.map((pod) => (stage.env.stored('pods').has(pod) ? stage.env.imageOf(pod) : 'gone'));
}

/** The Event about the PhasedRollout that was reported last. */
function newestEvent(stage: PhasedStage): { readonly text: string; readonly age: number } {
  const [newest] = [...stage.env.stored('events').values()]
    .filter((event) => textAt(event, 'involvedObject', 'kind') === 'PhasedRollout')
    .toSorted((one, other) =>
      textAt(one, 'lastTimestamp') < textAt(other, 'lastTimestamp') ? 1 : -1,
    );
  const last = Date.parse(textAt(newest, 'lastTimestamp'));
  return { text: textAt(newest, 'message'), age: stage.env.clock.now() - last };
}

test('a Prometheus that is dead for an hour is named by an Event of the last 10 minutes', async () => {
  const stage = await settled();
  const message = 'no answer of prometheus:9090: connect ECONNREFUSED';
  stage.prometheus.answer = () => ({ kind: 'error', reason: 'Unreachable', message });
  await stage.change('db:2');
  await stage.env.clock.advance(minutes(60));
  const { text, age } = newestEvent(stage);
  assert.match(text, /no answer of prometheus:9090: connect ECONNREFUSED/);
  assert.ok(age <= minutes(10), `${age} ms`);
  await stage.close();
});

test('what a check that fails for an hour finds is named by an Event of the last 10 minutes, and no more once it passes', async () => {
  const stage = await settled({ successThreshold: 300 });
  stage.prometheus.answer = () => noData;
  await stage.change('db:2');
  await stage.env.clock.advance(minutes(60));
  const { text, age } = newestEvent(stage);
  assert.match(text, /the query found nothing/);
  assert.ok(age <= minutes(10), `${age} ms`);
  stage.prometheus.answer = () => someData;
  await stage.env.clock.advance(minutes(11));
  assert.doesNotMatch(newestEvent(stage).text, /; the last/);
  await stage.close();
});

test('the last pod that cannot start is named by an Event of the last 10 minutes', async () => {
  const stage = await settled();
  stage.env.kubelet.behaviours.add({
    match: { name: 'db-0', image: 'db:2' },
    behave: 'crashLoop',
  });
  await stage.change('db:2');
  await stage.until('all are let go', () => stage.partition() === 0);
  await stage.env.clock.advance(minutes(60));
  const { text, age } = newestEvent(stage);
  assert.match(text, /db-0 .*CrashLoopBackOff/);
  assert.ok(age <= minutes(10), `${age} ms`);
  await stage.close();
});

test('the last pod that is never ready is named while all wait for it', async () => {
  const stage = await settled();
  stage.env.kubelet.behaviours.add({
    match: { name: 'db-0', image: 'db:2' },
    behave: 'neverReady',
  });
  await stage.change('db:2');
  await stage.until('all are let go', () => stage.partition() === 0);
  await stage.env.clock.advance(minutes(5));
  assert.match(newestEvent(stage).text, /nothing left to check.* db-0/);
  await stage.close();
});

test('the last pod that cannot start takes the update back where that is wanted', async () => {
  const stage = await settled({
    failureBudget: { consecutiveFailures: 3, onFailure: 'Rollback' },
  });
  stage.env.kubelet.behaviours.add({
    match: { name: 'db-0', image: 'db:2' },
    behave: 'crashLoop',
  });
  await stage.change('db:2');
  await stage.until('all are let go', () => stage.partition() === 0);
  await stage.until('it is rolled back', () => stage.step() === 'RolledBack', minutes(20));
  assert.deepEqual(imagesOf(stage), ['db:1', 'db:1', 'db:1']);
  assert.equal(mostDown(stage.env.cluster.eventLog.commits, pods), 1);
  stage.isLifted = true;
  await stage.close();
});

const ends = { Pause: 'Paused', Rollback: 'RolledBack' } as const;
for (const onFailure of ['Pause', 'Rollback'] as const) {
  test(`an update that has failed with ${onFailure} is not begun anew because another owner came and went`, async () => {
    const stage = await settled({ failureBudget: { consecutiveFailures: 2, onFailure } });
    await stage.change('db:2');
    await stage.until('one may go', () => stage.partition() === 2);
    stage.prometheus.answer = () => noData;
    await stage.until('it has failed', () => stage.step() === ends[onFailure]);
    const images = imagesOf(stage);
    const told = stage.condition('Updated');
    const type = 'OnDelete';
    await stage.env.patchSet({ spec: { updateStrategy: { type, rollingUpdate: null } } });
    await stage.until('it is left alone', () => stage.phase() === 'ErrorCannotManage');
    const { length } = stage.prometheus.asked;
    stage.prometheus.answer = () => someData;
    const partition = onFailure === 'Pause' ? 2 : 3;
    const rollingUpdate = { partition };
    await stage.env.patchSet({
      spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate } },
    });
    await stage.env.clock.advance(minutes(30));
    assert.equal(stage.prometheus.asked.length, length);
    assert.deepEqual(imagesOf(stage), images);
    assert.equal(stage.condition('Updated'), told);
    await stage.change('db:3');
    stage.isLifted = true;
    await stage.completed('db:3');
    await stage.close();
  });
}

test('pods that go back to a template from before wait while a pod of it is away [MAXU-2]', async () => {
  const stage = await settled({}, { podManagementPolicy: 'Parallel' });
  await stage.change('db:2');
  const isUp = (pod: string): boolean =>
    stage.env.stored('pods').has(pod) && stage.env.isReady(pod);
  await stage.until('two are new', () => stage.env.imageOf('db-1') === 'db:2' && isUp('db-1'));
  await stage.change('db:3');
  await stage.until('it is blocked', () => stage.partition() === 3);
  await stage.env.clock.advance(seconds(5));
  await stage.until('all are up', () => pods.every(isUp));
  assert.equal(stage.env.imageOf('db-1'), 'db:2');
  const lost = stage.env.kubelet.behaviours.add({ match: { name: 'db-0' }, behave: 'neverReady' });
  await stage.env.deletePod('db-0');
  await stage.env.clock.advance(seconds(30));
  await stage.change('db:1');
  await stage.env.clock.advance(minutes(3));
  assert.equal(stage.partition(), 3);
  assert.match(stage.messages('AwaitingAvailability').join(), /db-0/);
  lost.remove();
  await stage.env.deletePod('db-0');
  await stage.until('all are back', () => imagesOf(stage).every((image) => image === 'db:1'));
  await stage.settled();
  assert.equal(mostDown(stage.env.cluster.eventLog.commits, pods), 1);
  await stage.close();
});

for (const late of [20, 60]) {
  test(`a suspension that a killed process had sent, and that arrives ${late} s after it was taken back, lifts the gate for no more than a moment [GATE-1]`, async () => {
    const stage = await PhasedStage.open();
    const first = stage.start();
    await stage.create();
    await stage.settled();
    await stage.change('db:2');
    await stage.until('it waits', () => stage.step() === 'WaitForInitialDelay');
    await stage.env.clock.advance(seconds(3));
    stage.env.cluster.faults.add({
      match: { user: 'operator-1', verb: 'patch', resource: 'statefulsets' },
      action: { kind: 'delay', delay: seconds(5), when: 'before' },
      count: 1,
    });
    await stage.edit({ spec: { standardRollingUpdate: true } });
    await stage.env.clock.advance(seconds(2));
    first.die(seconds(late));
    await stage.edit({ spec: { standardRollingUpdate: false } });
    stage.start();
    await stage.until('it arrived', () => stage.partitions().length > 2);
    await stage.env.clock.advance(seconds(15));
    assert.equal(stage.partition(), 3);
    const updated = imagesOf(stage).filter((image) => image === 'db:2');
    assert.ok(updated.length <= 1, updated.join(', '));
    await stage.completed('db:2');
    await stage.close();
  });
}

test('a question is asked by the Secret that the spec names now, though that was another when the reading began', async () => {
  const stage = await PhasedStage.open();
  for (const name of ['one', 'two']) {
    const data = { token: Buffer.from(`token-${name}`).toString('base64') };
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data };
    await stage.env.client.create(resourceTypes.secrets, { namespace }, { body });
  }
  stage.start();
  const query = { expr: 'errors < 5', url: 'http://prometheus:9090', secretRef: 'one' };
  await stage.create({ check: { ...usualCheck, query } });
  await stage.settled();
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'get', resource: 'secrets' },
    action: { kind: 'delay', delay: seconds(3), when: 'before' },
    count: 1,
  });
  await stage.change('db:2');
  await stage.until('it waits', () => stage.step() === 'WaitForInitialDelay');
  await stage.env.clock.advance(seconds(12));
  assert.equal(stage.prometheus.asked.length, 0);
  await stage.edit({ spec: { check: { query: { secretRef: 'two' } } } });
  await stage.until('it is asked', () => stage.prometheus.asked.length >= 2);
  const sent = stage.prometheus.asked.map(({ question }) => question.authorization);
  assert.deepEqual([...new Set(sent)], ['Bearer token-two']);
  await stage.close();
});
