/** How rollouts tell those who asked for them how they ended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { idempotencyKey } from '#notification/callback/callback-body.ts';
import { answered } from '#support/external-services/fake-receiver.ts';
import { PercentStage } from '../statefulset-rollout/percent-stage.ts';

const url = 'https://deploys.example';
const namespace = 'demo';

function stage(stageId: string): JsonObject {
  return { bapi: { bapiUrl: `${url}/`, stageId } };
}

/** A set of four pods whose rollout has ended; nothing was to be reported. */
async function settled(): Promise<PercentStage> {
  const opened = await PercentStage.open();
  opened.start();
  await opened.create('db:1');
  await opened.ended();
  return opened;
}

test('[T-87] a rollout that is done is reported once, with all that is known of it, and then done', async () => {
  const opened = await settled();
  const { receiver } = opened;
  await opened.edit({ ...stage('stage-1'), percent: 50, statefulset: opened.carried('db:2') });
  await opened.ended();
  const [call, ...others] = receiver.calls;
  assert.deepEqual(others, []);
  assert.equal(call?.url, `${url}/v1/stages/stage-1/callback`);
  const told = call?.told ?? {};
  assert.equal(told['result'], 'success');
  assert.equal(told['percentDeployed'], 50);
  assert.equal(told['attempt'], 1);
  assert.equal(textAt(told, 'resource', 'cluster'), 'prod-1');
  assert.deepEqual(told['replicas'], {
    total: 4,
    target: 2,
    updated: 2,
    ready: 4,
    readyServiceDiscovery: null,
    leaked: 0,
  });
  assert.equal(textAt(opened.status(), 'lastCallbackStageId'), 'stage-1');
  assert.equal(opened.condition('CallbackDelivered'), 'True CallbackDelivered');
  await opened.close();
});

test('[T-87] [E-5] attempts of one outcome have one key, by the resource, its rollout, its stage and its end', async () => {
  const opened = await settled();
  const { receiver } = opened;
  receiver.answers.push(answered(503), answered(503));
  await opened.edit({ ...stage('stage-1'), statefulset: opened.carried('db:2') });
  await opened.ended();
  const uid = textAt(opened.rollout(), 'metadata', 'uid');
  const key = textAt(opened.status(), 'rollout', 'key');
  const wanted = idempotencyKey({ uid, key, stageId: 'stage-1', result: 'success' });
  assert.deepEqual(
    receiver.calls.map(({ idempotencyKey: own }) => own),
    [wanted, wanted, wanted],
  );
  await opened.close();
});

test('[T-88] a receiver that cannot be reached now is called again, ever later, and the rollout waits for it alone', async () => {
  const opened = await settled();
  const { receiver } = opened;
  receiver.answers.push(answered(503), { kind: 'unreachable', why: 'no route' }, answered(503));
  await opened.edit({ ...stage('stage-1'), statefulset: opened.carried('db:2') });
  await opened.until('it waits', () => opened.phase() === 'CallingBack');
  await opened.until('it says so', () => opened.reason().startsWith('AwaitingCallback'));
  assert.match(opened.condition('CallbackDelivered'), /^False Receiver/);
  await opened.ended();
  const times = receiver.calls.map(({ at }) => at);
  const waits = times.slice(1).map((at, index) => Math.round((at - (times[index] ?? 0)) / 1_000));
  assert.deepEqual(waits, [2, 4, 8]);
  // The same is reported each time, to the byte.
  assert.equal(new Set(receiver.calls.map(({ body }) => body)).size, 1);
  await opened.close();
});

test('[T-89] a receiver that refuses is called once, and the rollout is what it is', async () => {
  const opened = await settled();
  const { receiver } = opened;
  receiver.answers.push(answered(404));
  await opened.edit({ ...stage('stage-1'), statefulset: opened.carried('db:2') });
  await opened.ended();
  assert.equal(receiver.calls.length, 1);
  assert.equal(opened.condition('CallbackDelivered'), 'False CallbackRefused');
  assert.equal(opened.messages('CallbackFailed').length, 1);
  await opened.env.clock.advance(minutes(30));
  assert.equal(receiver.calls.length, 1);
  await opened.close();
});

test('[E-13] a receiver that is away for good is given up after ten attempts, and a failure stays a failure', async () => {
  const opened = await settled();
  const { receiver } = opened;
  receiver.answers.push(...Array.from({ length: 30 }, () => answered(500)));
  opened.env.kubelet.behaviours.add({ match: { name: 'db-3' }, behave: 'neverReady' });
  await opened.edit({
    ...stage('stage-1'),
    progressDeadlineSeconds: 60,
    statefulset: opened.carried('db:2'),
  });
  await opened.ended('RolloutFailed');
  assert.equal(receiver.calls.length, 10);
  assert.equal(receiver.calls[0]?.told['result'], 'failure');
  assert.equal(receiver.calls[0]?.told['reasonCode'], 'ProgressDeadlineExceeded');
  assert.equal(opened.condition('CallbackDelivered'), 'False CallbackAttemptsUsedUp');
  await opened.close();
});

test('[T-90] a process that starts after the callback was delivered sends none', async () => {
  const opened = await settled();
  const { receiver } = opened;
  await opened.edit({ ...stage('stage-1'), statefulset: opened.carried('db:2') });
  await opened.ended();
  await opened.running[0]?.stop();
  opened.start();
  await opened.env.clock.advance(minutes(5));
  assert.equal(receiver.calls.length, 1);
  await opened.close();
});

test('[T-91] a retry under the stage that was called back with a failure is called back with its success', async () => {
  const opened = await settled();
  const { receiver } = opened;
  const broken = opened.env.kubelet.behaviours.add({
    match: { name: 'db-3' },
    behave: 'neverReady',
  });
  await opened.edit({
    ...stage('stage-1'),
    progressDeadlineSeconds: 60,
    rolloutIdentity: 'one',
    statefulset: opened.carried('db:2'),
  });
  await opened.ended('RolloutFailed');
  broken.remove();
  await opened.edit({ rolloutIdentity: 'two' });
  await opened.ended();
  assert.deepEqual(
    receiver.calls.map(({ told }) => [told['result'], told['attempt'], told['rolloutIdentity']]),
    [
      ['failure', 1, 'one'],
      ['success', 2, 'two'],
    ],
  );
  await opened.env.clock.advance(seconds(20));
  assert.match(opened.messages('RolloutStarted').join('\n'), /attempt 2/);
  await opened.close();
});

test('[B-22] another stage of a rollout that has ended is called back with the outcome, and nothing moves', async () => {
  const opened = await settled();
  const { receiver } = opened;
  const before = opened.evictions().length;
  await opened.edit(stage('later'));
  await opened.until('it is told', () => receiver.calls.length === 1);
  await opened.ended();
  assert.equal(receiver.calls[0]?.told['stageId'], 'later');
  assert.equal(receiver.calls[0]?.told['result'], 'success');
  assert.equal(opened.evictions().length, before);
  await opened.env.clock.advance(minutes(5));
  assert.equal(receiver.calls.length, 1);
  await opened.close();
});

test('[E-15] a new rollout gives a callback up that is still tried, and says so', async () => {
  const opened = await settled();
  const { receiver } = opened;
  receiver.answers.push(answered(503));
  await opened.edit({ ...stage('stage-1'), statefulset: opened.carried('db:2') });
  await opened.until('it waits', () => opened.reason().startsWith('AwaitingCallback'));
  await opened.edit({ ...stage('stage-2'), statefulset: opened.carried('db:3') });
  await opened.ended();
  assert.deepEqual(
    receiver.calls.map(({ told }) => told['stageId']),
    ['stage-1', 'stage-2'],
  );
  assert.equal(opened.messages('CallbackSuperseded').length, 1);
  await opened.close();
});

for (const [status, told] of [
  [200, []],
  [404, ['stage stage-1 got no callback that says: 2 of 4 pods at 50 percent are new and ready']],
] as const) {
  test(`[E-15] a receiver that begins the next rollout and then answers ${status} ${told.length === 0 ? 'was told, and nothing says that it was not' : 'was not told, which is said'}`, async () => {
    const opened = await settled();
    const { receiver } = opened;
    const late = Promise.withResolvers<ReturnType<typeof answered>>();
    receiver.answers.push(late.promise);
    const statefulset = opened.carried('db:2');
    await opened.edit({ ...stage('stage-1'), percent: 50, statefulset });
    await opened.until('it is called', () => receiver.calls.length === 1);
    await opened.edit({ ...stage('stage-2'), percent: 100 });
    await opened.until('the next one has begun', () => opened.phase() === 'RollingOut');
    late.resolve(answered(status));
    await opened.ended();
    assert.deepEqual(
      receiver.calls.map((call) => call.told['stageId']),
      ['stage-1', 'stage-2'],
    );
    await opened.env.clock.advance(seconds(5));
    assert.deepEqual(opened.messages('CallbackSuperseded'), told);
    await opened.close();
  });
}

test('[A-34] a key of the resource signs, and nothing is sent while the Secret lacks it', async () => {
  const opened = await settled();
  const { receiver, env } = opened;
  const webhook = { url, id: 'stage-1', signingSecretRef: { name: 'keys', key: 'callback' } };
  await opened.edit({ callback: { webhook }, statefulset: opened.carried('db:2') });
  await opened.until('it waits', () => opened.reason().startsWith('AwaitingCallback'));
  assert.match(opened.reason(), /no key to sign with in Secret keys under callback/);
  assert.equal(receiver.calls.length, 0);
  const data = { callback: Buffer.from('secret').toString('base64') };
  const body = { metadata: { name: 'keys', namespace }, data };
  await env.client.create(resourceTypes.secrets, { namespace }, { body });
  await opened.ended();
  assert.equal(Buffer.from(receiver.calls[0]?.signingKey ?? '').toString(), 'secret');
  await opened.close();
});

test('[E-14] a process that is killed after it called the receiver calls it again, with the same key', async () => {
  const opened = await settled();
  const { receiver, env } = opened;
  const late = Promise.withResolvers<ReturnType<typeof answered>>();
  receiver.answers.push(late.promise);
  await opened.edit({ ...stage('stage-1'), statefulset: opened.carried('db:2') });
  await opened.until('it is told', () => receiver.calls.length === 1);
  opened.running[0]?.die();
  late.resolve(answered(200));
  await env.clock.advance(seconds(1));
  opened.start();
  await opened.ended();
  assert.equal(receiver.calls.length, 2);
  assert.equal(new Set(receiver.calls.map(({ idempotencyKey: key }) => key)).size, 1);
  await opened.close();
});
