/** What PhasedRollouts ask Prometheus, and what becomes of the answers, on the embedded cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, minutes, seconds } from '#base/units.ts';
import { parseReading } from '#check/prometheus/parse-reading.ts';
import { sentHeaders } from '#check/prometheus/query-headers.ts';
import type { QueryReading } from '#check/prometheus/reading.ts';
import { numberAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { noData, someData } from '#support/external-services/fake-prometheus.ts';
import { PhasedStage, usualCheck } from './phased-stage.ts';

const namespace = 'demo';
const outage: QueryReading = { kind: 'error', reason: 'Refused', message: 'it answers 500' };

/** A rollout whose first check is due in some 10 s. */
async function begun(check: JsonObject = usualCheck): Promise<PhasedStage> {
  const stage = await PhasedStage.open();
  await stage.create({ check });
  return stage;
}

/** What the program makes of the body of an answer with status 200. */
function readingOf(body: string): QueryReading {
  const parsed = parseReading(body);
  if (parsed.kind === 'valid') return parsed.value;
  return { kind: 'error', reason: 'Unreadable', message: parsed.problem.message };
}

function counted(stage: PhasedStage, field: string): number | undefined {
  return numberAt(stage.rollout(), 'status', 'rollingPodStatus', field);
}

test('nothing goes while a query finds nothing, and everything once it does [phased 36, 37]', async () => {
  const stage = await begun();
  const run = stage.start();
  await stage.settled();
  stage.prometheus.answer = () => noData;
  await stage.change('db:2');
  await stage.env.clock.advance(seconds(120));
  assert.deepEqual(stage.partitions(), [0, 3]);
  assert.equal(stage.phase(), 'Rolling');
  const failed = counted(stage, 'totalFailedChecks') ?? 0;
  assert.ok(failed >= 18 && failed <= 27, `${failed} failed`);
  assert.equal(counted(stage, 'consecutiveFailedChecks'), failed);
  assert.equal(counted(stage, 'consecutiveSuccessfulChecks'), 0);
  stage.prometheus.answer = () => someData;
  await stage.completed('db:2');
  await run.stop();
  await stage.close();
});

/** Answers with status 200 that are no success. */
const errorsWith200: Readonly<Record<string, string>> = {
  'an error of Prometheus': '{"status":"error","errorType":"timeout","error":"query timed out"}',
  'an error of a proxy': '{"error":"no healthy upstream"}',
  'an empty object': '{}',
};

for (const [what, body] of Object.entries(errorsWith200)) {
  test(`${what} that comes with status 200 lets nothing go where no data passes [found R-5]`, async () => {
    const query = { expr: 'errors < 5', url: 'http://prometheus:9090', onNoData: 'Pass' };
    const stage = await begun({ ...usualCheck, query });
    const run = stage.start();
    await stage.settled();
    stage.prometheus.answer = () => readingOf(body);
    await stage.change('db:2');
    await stage.env.clock.advance(minutes(10));
    assert.deepEqual(stage.partitions(), [0, 3]);
    assert.equal(stage.step(), 'PrometheusError');
    await run.stop();
    await stage.close();
  });

  test(`${what} that comes with status 200 takes no update back [found R-5]`, async () => {
    const failureBudget = { consecutiveFailures: 2, onFailure: 'Rollback' };
    const stage = await begun({ ...usualCheck, failureBudget });
    const run = stage.start();
    await stage.settled();
    stage.prometheus.answer = () => readingOf(body);
    await stage.change('db:2');
    await stage.env.clock.advance(minutes(10));
    assert.equal(counted(stage, 'totalFailedChecks'), 0);
    assert.equal(stage.step(), 'PrometheusError');
    stage.prometheus.answer = () => someData;
    await stage.completed('db:2');
    await run.stop();
    await stage.close();
  });
}

test('what Prometheus said is in the condition of the rollout', async () => {
  const stage = await begun();
  const run = stage.start();
  await stage.settled();
  stage.prometheus.answer = () => ({
    kind: 'vector',
    samples: [{ value: 4.25, text: '4.25' }],
    warnings: [],
  });
  await stage.change('db:2');
  await stage.until('one has passed', () => counted(stage, 'consecutiveSuccessfulChecks') === 1);
  assert.match(stage.conditionMessage('Updated'), /4\.25/);
  assert.equal(stage.condition('Updated'), 'False Rolling');
  await run.stop();
  await stage.close();
});

test('an error breaks no streak, and is asked again every 30 s [phased 38, 39, 40]', async () => {
  const stage = await begun();
  const run = stage.start();
  await stage.settled();
  const answers: QueryReading[] = [someData, outage, outage, someData];
  stage.prometheus.answer = () => answers.shift() ?? someData;
  await stage.change('db:2');
  await stage.until('it is an error', () => stage.step() === 'PrometheusError');
  assert.equal(counted(stage, 'consecutiveSuccessfulChecks'), 1);
  await stage.until('it may go', () => stage.partition() === 2);
  const times = stage.prometheus.asked.map(({ at }) => at);
  assert.equal(times.length, 4);
  const span = (times[3] ?? 0) - (times[2] ?? 0);
  assert.ok(span >= 30_000 && span < 31_000, `${span} ms`);
  assert.ok(!stage.events().includes('PrometheusConfigError'));
  await run.stop();
  await stage.close();
});

test('a value beyond its bounds lets nothing go, and no data does where that is good', async () => {
  const query = {
    expr: 'errors',
    url: 'http://h',
    thresholdRange: { max: 5 },
    onNoData: 'Pass',
  };
  const stage = await begun({ ...usualCheck, query });
  const run = stage.start();
  await stage.settled();
  const finds = (value: number): QueryReading => ({
    kind: 'vector',
    samples: [{ value, text: String(value) }],
    warnings: [],
  });
  stage.prometheus.answer = () => finds(6);
  await stage.change('db:2');
  await stage.env.clock.advance(seconds(60));
  assert.deepEqual(stage.partitions(), [0, 3]);
  assert.match(stage.conditionMessage('Updated'), /value 6$/);
  stage.prometheus.answer = () => finds(5);
  await stage.until('one may go', () => stage.partition() === 2);
  stage.prometheus.answer = () => noData;
  stage.isLifted = true;
  await stage.completed('db:2');
  await run.stop();
  await stage.close();
});

test('a Secret that is missing is reported once, asks nothing, and is used as soon as it is there [phased 46, 47]', async () => {
  const query = { expr: 'up', url: 'http://h', secretRef: 'metrics' };
  const stage = await begun({ ...usualCheck, query });
  const run = stage.start();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('it says so', () => stage.step() === 'PrometheusError');
  await stage.env.clock.advance(seconds(60));
  assert.equal(stage.prometheus.asked.length, 0);
  assert.deepEqual(stage.messages('PrometheusConfigError').length, 1);
  assert.match(stage.messages('PrometheusConfigError')[0] ?? '', /metrics/);
  await putSecret(stage, { token: 'secret-one' });
  await stage.until('it is asked', () => stage.prometheus.asked.length > 0, seconds(6));
  assert.equal(stage.prometheus.asked[0]?.question.authorization, 'Bearer secret-one');
  await run.stop();
  await stage.close();
});

test('every query is asked for its tenant, with the header of the spec and the one of the Secret [found R-13]', async () => {
  const headers = [
    { name: 'X-Scope-OrgID', value: 'tenant-1' },
    { name: 'X-Api-Key', secretKey: 'api-key' },
  ];
  const query = { expr: 'up', url: 'http://mimir/prometheus', secretRef: 'metrics', headers };
  const additionalQueries = [{ name: 'errors', expr: 'errors' }];
  const stage = await begun({ ...usualCheck, query, additionalQueries });
  await putSecret(stage, { token: 'secret-one' });
  const run = stage.start();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('it says so', () => stage.step() === 'PrometheusError');
  assert.equal(stage.prometheus.asked.length, 0);
  assert.match(stage.messages('PrometheusConfigError')[0] ?? '', /"metrics", key api-key/);
  await putSecret(stage, { 'api-key': 'k3y' });
  await stage.completed('db:2');
  const sent = stage.prometheus.asked.map(({ question }) => ({
    expr: question.expr,
    headers: sentHeaders(question.headers ?? [], question.secretValues ?? {}),
  }));
  const wanted = { 'x-scope-orgid': 'tenant-1', 'x-api-key': 'k3y' };
  assert.deepEqual(sent.slice(0, 2), [
    { expr: 'up', headers: wanted },
    { expr: 'errors', headers: wanted },
  ]);
  await run.stop();
  await stage.close();
});

test('a token that is replaced in mid-rollout is used with the next question, and not asked with early [phased 49]', async () => {
  const query = { expr: 'up', url: 'http://h', secretRef: 'metrics' };
  const stage = await begun({ ...usualCheck, successThreshold: 3, query });
  await putSecret(stage, { token: 'secret-one' });
  const run = stage.start();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('it is asked', () => stage.prometheus.asked.length === 1);
  await stage.env.clock.advance(seconds(1));
  await putSecret(stage, { token: 'secret-two' });
  await stage.until('it is asked again', () => stage.prometheus.asked.length === 2);
  const [one, two] = stage.prometheus.asked;
  assert.equal(two?.question.authorization, 'Bearer secret-two');
  assert.ok((two?.at ?? 0) - (one?.at ?? 0) > 4_000);
  await run.stop();
  await stage.close();
});

test('credentials that contradict one another are reported, and used once they are mended [phased 48]', async () => {
  const query = { expr: 'up', url: 'http://h', secretRef: 'metrics' };
  for (const keys of [{ username: 'u' }, { username: 'u', password: 'p', token: 't' }]) {
    const stage = await begun({ ...usualCheck, query });
    await putSecret(stage, keys);
    const run = stage.start();
    await stage.settled();
    await stage.change('db:2');
    await stage.until('it says so', () => stage.step() === 'PrometheusError');
    assert.equal(stage.prometheus.asked.length, 0);
    assert.deepEqual(stage.messages('PrometheusConfigError').length, 1);
    await putSecret(stage, { username: 'u', password: 'p', token: null });
    await stage.until('it is asked', () => stage.prometheus.asked.length > 0, seconds(6));
    assert.match(stage.prometheus.asked[0]?.question.authorization ?? '', /^Basic /);
    await run.stop();
    await stage.close();
  }
});

test('a lower threshold lets the next pod go at once [phased 32]', async () => {
  const stage = await begun({ ...usualCheck, successThreshold: 5 });
  const run = stage.start();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('three passed', () => counted(stage, 'consecutiveSuccessfulChecks') === 3);
  await stage.edit({ spec: { check: { ...usualCheck, successThreshold: 2 } } });
  await stage.until('it may go', () => stage.partition() === 2, seconds(1));
  assert.equal(stage.prometheus.asked.length, 3);
  await run.stop();
  await stage.close();
});

test('events of the set cause no further questions [phased 31]', async () => {
  const stage = await begun();
  const run = stage.start();
  await stage.settled();
  stage.prometheus.answer = () => noData;
  await stage.change('db:2');
  await stage.until('it is asked', () => stage.prometheus.asked.length === 1);
  for (let at = 0; at < 20; at += 1) {
    await stage.env.patchSet({ metadata: { labels: { touched: `t${at}` } } });
    await stage.env.clock.advance(seconds(1));
  }
  const { length } = stage.prometheus.asked;
  assert.ok(length >= 4 && length <= 6, `asked ${length} times`);
  await run.stop();
  await stage.close();
});

test('a count of a former revision lets nothing go of another [phased 52, GATE-1]', async () => {
  const stage = await begun();
  const run = stage.start();
  await stage.settled();
  stage.prometheus.latencyOf = () => millis(3_000);
  await stage.change('db:2');
  await stage.until('one has passed', () => counted(stage, 'consecutiveSuccessfulChecks') === 1);
  await stage.until('the second is asked', () => stage.prometheus.asked.length === 2);
  await stage.change('db:3');
  const changed = stage.env.clock.monotonic();
  await stage.until('it may go', () => stage.partition() === 2);
  assert.ok(stage.env.clock.monotonic() - changed > 16_000);
  await stage.completed('db:3');
  await run.stop();
  await stage.close();
});

test('a wait for checks is reported once, and again every 10 minutes while it lasts', async () => {
  const stage = await begun();
  const run = stage.start();
  await stage.settled();
  stage.prometheus.answer = () => noData;
  await stage.change('db:2');
  await stage.until('it is asked', () => stage.prometheus.asked.length > 0);
  await stage.env.clock.advance(minutes(60));
  const told = stage.env.cluster.eventLog.commits.filter(
    ({ resource, after }) =>
      resource === 'events' && after !== undefined && textAt(after, 'reason') === 'AwaitingCheck',
  );
  assert.ok(told.length >= 6 && told.length <= 8, `told ${told.length} times`);
  await run.stop();
  await stage.close();
});

async function putSecret(
  stage: PhasedStage,
  keys: Readonly<Record<string, string | null>>,
): Promise<void> {
  const { client } = stage.env;
  const data = Object.fromEntries(
    Object.entries(keys).map(([key, value]) => [
      key,
      value === null ? null : Buffer.from(value).toString('base64'),
    ]),
  );
  const key = { namespace, name: 'metrics' };
  const isThere = [...stage.env.stored('secrets').values()].some(
    (each) => textAt(each, 'metadata', 'name') === 'metrics',
  );
  if (isThere) {
    await client.patch(resourceTypes.secrets, key, {
      body: { kind: 'merge', document: { data } },
    });
    return;
  }
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'metrics' }, data };
  await client.create(resourceTypes.secrets, { namespace }, { body });
}
