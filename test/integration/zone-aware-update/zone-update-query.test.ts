/** ZoneAwareUpdates that a query of Prometheus pauses, alone or in addition to an alarm, in virtual time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import type { QueryReading } from '#check/prometheus/reading.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ZoneUpdateStage } from './zone-update-stage.ts';

const query = {
  url: 'http://prometheus:9090',
  expr: 'sum(errors)',
  thresholdRange: { max: 5 },
};

function errors(count: number): QueryReading {
  return { kind: 'vector', samples: [{ value: count, text: String(count) }], warnings: [] };
}

/** A stage whose update has seen that all is up to date. */
async function settled(spec: JsonObject): Promise<ZoneUpdateStage> {
  const stage = await ZoneUpdateStage.open();
  await stage.create(spec);
  stage.prometheus.answer = () => errors(0);
  stage.start();
  await stage.until('all is up to date', () => stage.condition() === 'True Updated');
  return stage;
}

function deletions(stage: ZoneUpdateStage): number {
  return stage.steps().flatMap((step) => step.split(' ')).length;
}

test('a query is asked before every step, and not while there is nothing to do', async () => {
  const stage = await settled({ pauseRolloutQuery: query });
  await stage.pass(seconds(60));
  assert.equal(stage.prometheus.asked.length, 0);
  await stage.change('db:2');
  await stage.completed('db:2');
  const steps = stage.steps();
  assert.ok(stage.prometheus.asked.length >= steps.length);
  assert.equal(stage.source.calls.length, 0);
  await stage.close();
});

test('a value outside of its range pauses a rollout between two steps, is asked for every 10 s, and the steps go on', async () => {
  const stage = await settled({ pauseRolloutQuery: query });
  await stage.change('db:2');
  await stage.until('one step is done', () => stage.status().startsWith('1 '));
  stage.prometheus.answer = () => errors(6);
  await stage.until('it is paused', () => stage.isPaused());
  assert.equal(stage.condition(), 'False QueryFails');
  assert.match(stage.conditionMessage(), /6 is above 5/);
  const [asked, deleted] = [stage.prometheus.asked.length, deletions(stage)];
  const writes = stage.statuses().length;
  await stage.pass(seconds(100));
  assert.equal(deletions(stage), deleted);
  const since = stage.prometheus.asked.length - asked;
  assert.ok(since >= 9 && since <= 10, `${since} questions in 100 s`);
  assert.equal(stage.statuses().length, writes);
  stage.prometheus.answer = () => errors(5);
  await stage.completed('db:2');
  assert.equal(stage.isPaused(), false);
  await stage.close();
});

test('a query that finds nothing pauses, unless it says that this is good', async () => {
  const stage = await settled({ pauseRolloutQuery: query });
  stage.prometheus.answer = () => ({ kind: 'no-data', warnings: [] });
  await stage.change('db:2');
  await stage.until('it is paused', () => stage.isPaused());
  assert.equal(stage.condition(), 'False QueryFails');
  assert.equal(deletions(stage), 0);
  await stage.edit({ pauseRolloutQuery: { ...query, onNoData: 'Pass' } });
  await stage.completed('db:2');
  await stage.close();
});

test('a Prometheus that gives no answer holds the next step, says why, and is asked again', async () => {
  const stage = await settled({ pauseRolloutQuery: query });
  const message = 'Cannot ask http://prometheus:9090: connection refused';
  stage.prometheus.answer = () => ({ kind: 'error', reason: 'Unreachable', message });
  await stage.change('db:2');
  await stage.until('it says so', () => stage.condition() === 'False QueryUnknown');
  assert.equal(stage.conditionMessage(), message);
  await stage.pass(seconds(60));
  assert.equal(deletions(stage), 0);
  assert.equal(stage.isPaused(), false);
  stage.prometheus.answer = () => errors(0);
  await stage.completed('db:2');
  await stage.close();
});

test('alarm and query are asked together, and each of them alone holds the rollout', async () => {
  const stage = await settled({ pauseRolloutQuery: query, pauseRolloutAlarm: 'Ingesters' });
  stage.source.state = 'ALARM';
  await stage.change('db:2');
  await stage.until('the alarm pauses it', () => stage.condition() === 'False AlarmRings');
  stage.prometheus.answer = () => errors(6);
  stage.source.state = 'OK';
  await stage.until('the query pauses it', () => stage.condition() === 'False QueryFails');
  await stage.pass(seconds(60));
  assert.equal(deletions(stage), 0);
  assert.equal(stage.isPaused(), true);
  stage.prometheus.answer = () => errors(0);
  await stage.completed('db:2');
  await stage.close();
});

test('ignoreAlarm goes on without the query, too', async () => {
  const stage = await settled({ pauseRolloutQuery: query });
  stage.prometheus.answer = () => errors(6);
  await stage.change('db:2');
  await stage.until('it is paused', () => stage.isPaused());
  await stage.edit({ ignoreAlarm: true });
  await stage.completed('db:2');
  await stage.close();
});

test('a query is asked with what its Secret says at that time', async () => {
  const stage = await settled({ pauseRolloutQuery: { ...query, secretRef: 'prometheus' } });
  const { client } = stage.env;
  await stage.change('db:2');
  await stage.until('it says that there is none', () => stage.condition() === 'False QueryUnknown');
  assert.match(stage.conditionMessage(), /prometheus/);
  assert.equal(stage.prometheus.asked.length, 0);
  const metadata = { name: 'prometheus', namespace: 'demo' };
  const data = { token: Buffer.from('first').toString('base64') };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data };
  await client.create(resourceTypes.secrets, { namespace: 'demo' }, { body: secret });
  await stage.until('one step is done', () => stage.status().startsWith('1 '));
  const document = { data: { token: Buffer.from('second').toString('base64') } };
  await client.patch(resourceTypes.secrets, metadata, { body: { kind: 'merge', document } });
  await stage.pass(seconds(2));
  const before = stage.prometheus.asked.length;
  await stage.completed('db:2');
  const said = stage.prometheus.asked.map(({ question }) => question.authorization);
  assert.deepEqual([...new Set(said.slice(0, before))], ['Bearer first']);
  assert.deepEqual([...new Set(said.slice(before))], ['Bearer second']);
  for (const { log } of stage.running) {
    assert.deepEqual(
      log.lines.filter((line) => /first|second/.test(line)),
      [],
    );
  }
  await stage.close();
});

test('a query is asked for its tenant, and not before the Secret has the header [found R-13]', async () => {
  const headers = [{ name: 'X-Scope-OrgID', secretKey: 'tenant' }];
  const stage = await settled({
    pauseRolloutQuery: { ...query, secretRef: 'prometheus', headers },
  });
  const { client } = stage.env;
  const metadata = { name: 'prometheus', namespace: 'demo' };
  const body = { apiVersion: 'v1', kind: 'Secret', metadata, data: {} };
  await client.create(resourceTypes.secrets, { namespace: 'demo' }, { body });
  await stage.change('db:2');
  await stage.until('it says what is missing', () => stage.condition() === 'False QueryUnknown');
  assert.match(stage.conditionMessage(), /"prometheus", key tenant must hold/);
  assert.equal(stage.prometheus.asked.length, 0);
  const document = { data: { tenant: Buffer.from('tenant-1').toString('base64') } };
  await client.patch(resourceTypes.secrets, metadata, { body: { kind: 'merge', document } });
  await stage.completed('db:2');
  for (const { question } of stage.prometheus.asked) {
    assert.deepEqual(question.secretValues, { tenant: 'tenant-1' });
  }
  await stage.close();
});

test('a query is asked by the Secret that the spec names now, though that was another when the reading began', async () => {
  const stage = await settled({ pauseRolloutQuery: { ...query, secretRef: 'one' } });
  const { client, cluster, clock } = stage.env;
  for (const name of ['one', 'two']) {
    const data = { token: Buffer.from(`token-${name}`).toString('base64') };
    const metadata = { name, namespace: 'demo' };
    const body = { apiVersion: 'v1', kind: 'Secret', metadata, data };
    await client.create(resourceTypes.secrets, { namespace: 'demo' }, { body });
  }
  cluster.faults.add({
    match: { user: 'operator-1', verb: 'get', resource: 'secrets' },
    action: { kind: 'delay', delay: seconds(3), when: 'before' },
    count: 1,
  });
  await stage.change('db:2');
  await clock.advance(seconds(1));
  assert.equal(stage.prometheus.asked.length, 0);
  await stage.edit({ pauseRolloutQuery: { ...query, secretRef: 'two' } });
  await stage.completed('db:2');
  const sent = stage.prometheus.asked.map(({ question }) => question.authorization);
  assert.deepEqual([...new Set(sent)], ['Bearer token-two']);
  await stage.close();
});

test('a spec that says nothing of good values moves no pod, and says what is missing', async () => {
  const stage = await ZoneUpdateStage.open();
  stage.start();
  const { url, expr } = query;
  await assert.rejects(
    stage.create({ pauseRolloutQuery: { url, expr } }),
    /spec\.pauseRolloutQuery\.thresholdRange/,
  );
  await stage.create({ pauseRolloutQuery: { url, expr, thresholdRange: {} } });
  await stage.change('db:2');
  await stage.until('it says so', () => stage.condition() === 'False InvalidSpec');
  assert.match(
    stage.conditionMessage(),
    /spec\.pauseRolloutQuery\.thresholdRange must have a number/,
  );
  await stage.pass(seconds(60));
  assert.equal(deletions(stage), 0);
  await stage.close();
});
