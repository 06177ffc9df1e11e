/** Receivers that take their time, and what they keep. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { CallbackOutcome } from '#notification/callback/callback-answer.ts';
import { SkewedClock } from '#support/clocks/skewed-clock.ts';
import { answered } from '#support/external-services/fake-receiver.ts';
import { PercentStage } from '../statefulset-rollout/percent-stage.ts';

const namespace = 'demo';
const bapi = { bapiUrl: 'https://deploys.example', stageId: 'stage-1' };
const day = minutes(24 * 60);
const late: CallbackOutcome = { kind: 'timed-out', why: 'no answer within 10000 ms' };

/** Has a receiver answer the next calls after `wait` seconds each. */
function slowly(opened: PercentStage, wait: number, answers: readonly CallbackOutcome[]): void {
  const { env, receiver } = opened;
  const send = receiver.send.bind(receiver);
  receiver.answers.push(...answers);
  receiver.send = async (call) => {
    const outcome = await send(call);
    await env.clock.sleep(seconds(wait), { owner: 'slow receiver', background: true });
    return outcome;
  };
}

/** Makes a resource over a set of its own that has no pods: it ends at once. */
async function createEmpty({ env }: PercentStage, name: string): Promise<void> {
  const labels = { app: name };
  const containers = [{ name: 'db', image: 'db:1' }];
  const statefulset: JsonObject = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: {
      replicas: 0,
      serviceName: name,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
  const body = {
    apiVersion: 'bedrock.operator.slack.com/v1',
    kind: 'StatefulsetRollout',
    metadata: { name, namespace },
    spec: { percent: 100, bapi, statefulset },
  };
  await env.client.create(resourceTypes.statefulsetRollouts, { namespace }, { body });
}

test('a receiver that never answers keeps no other rollout: with 100 that wait for it one is as fast as alone', async () => {
  const opened = await PercentStage.open();
  const { env } = opened;
  slowly(
    opened,
    10,
    Array.from({ length: 2_000 }, () => late),
  );
  opened.start();
  await opened.create('db:1');
  await opened.ended();
  const took = async (image: string): Promise<number> => {
    const from = env.clock.now();
    await opened.edit({ statefulset: opened.carried(image) });
    await opened.ended();
    return env.clock.now() - from;
  };
  const alone = await took('db:2');
  const names = Array.from({ length: 100 }, (_, at) => `empty-${at}`);
  for (const name of names) await createEmpty(opened, name);
  const beside = await took('db:3');
  assert.ok(opened.receiver.calls.length >= 100, `${opened.receiver.calls.length} calls`);
  assert.ok(beside <= alone * 2, `${beside} ms beside, ${alone} ms alone`);
  await opened.close();
});

test('what the receiver has taken is not sent again where the resource changes before that is stored', async () => {
  const opened = await PercentStage.open();
  opened.start();
  await opened.create('db:1', { channel: '#deploys' });
  await opened.ended();
  await opened.env.clock.advance(minutes(2));
  slowly(opened, 2, []);
  await opened.edit({ bapi, statefulset: opened.carried('db:2') });
  await opened.until('it is told', () => opened.receiver.calls.length === 1);
  await opened.edit({ minPodEvictionIntervalSeconds: 1 });
  await opened.ended();
  assert.equal(opened.receiver.calls.length, 1);
  await opened.close();
});

test('a new rollout does not wait for the receiver of the one before', async () => {
  const opened = await PercentStage.open();
  opened.start();
  await opened.create('db:1');
  await opened.ended();
  const never = Promise.withResolvers<CallbackOutcome>();
  opened.receiver.answers.push(never.promise);
  await opened.edit({ bapi, statefulset: opened.carried('db:2') });
  await opened.until('it is told', () => opened.receiver.calls.length === 1);
  await opened.edit({ statefulset: opened.carried('db:3') });
  await opened.ended();
  assert.equal(opened.receiver.calls.length, 2);
  never.resolve(answered(200));
  await opened.running[0]?.stop();
  await opened.close();
});

test('a rollout that is begun again as it was before is reported again', async () => {
  const opened = await PercentStage.open();
  const { receiver } = opened;
  opened.start();
  await opened.create('db:1');
  await opened.ended();
  await opened.edit({ bapi, percent: 50, statefulset: opened.carried('db:2') });
  await opened.ended();
  await opened.edit({ percent: 100, pauseRequested: true });
  await opened.until('it is paused', () => opened.phase() === 'Paused');
  await opened.edit({ percent: 50, pauseRequested: false });
  await opened.ended();
  assert.deepEqual(
    receiver.calls.map(({ told }) => told['percentRequested']),
    [50, 50],
  );
  await opened.close();
});

test('a clock that goes back by a day keeps no callback for a day', async () => {
  const opened = await PercentStage.open();
  const { env, receiver } = opened;
  const clock = new SkewedClock(env.clock);
  clock.step(day);
  opened.start(clock);
  receiver.answers.push(answered(503));
  await opened.create('db:1', { bapi });
  await opened.until('it waits', () => opened.reason().startsWith('AwaitingCallback'));
  clock.step(minutes(-24 * 60));
  await opened.ended();
  assert.equal(receiver.calls.length, 2);
  await opened.close();
});

test('every attempt to tell one outcome sends the same bytes, whatever has changed meanwhile (E-5)', async () => {
  const opened = await PercentStage.open();
  const { receiver } = opened;
  opened.start();
  receiver.answers.push(answered(503), answered(503), answered(200));
  await opened.create('db:1', { bapi });
  await opened.until('it was told once', () => receiver.calls.length === 1);
  await opened.edit({
    minPodEvictionIntervalSeconds: 1,
    statefulset: opened.carried('db:1', { replicas: 6 }),
  });
  await opened.until('it was told twice', () => receiver.calls.length === 2);
  await opened.edit({ statefulset: opened.carried('db:1', { replicas: 3 }) });
  await opened.ended();
  assert.equal(receiver.calls.length, 3);
  assert.equal(new Set(receiver.calls.map(({ idempotencyKey }) => idempotencyKey)).size, 1);
  assert.equal(new Set(receiver.calls.map(({ body }) => body)).size, 1);
  await opened.close();
});

test('a process that comes after one that had called back sends the same bytes (E-14)', async () => {
  const opened = await PercentStage.open();
  const { receiver, env } = opened;
  const first = opened.start();
  receiver.intercept = () => (receiver.calls.length === 0 ? 'not-answered' : undefined);
  await opened.create('db:1', { bapi });
  await opened.until('it was told once', () => receiver.calls.length === 1);
  first.die();
  await opened.edit({ statefulset: opened.carried('db:1', { replicas: 6 }) });
  await env.clock.advance(minutes(3));
  opened.start();
  await opened.ended();
  const [before, after] = receiver.calls;
  assert.equal(receiver.calls.length, 2);
  assert.equal(after?.idempotencyKey, before?.idempotencyKey);
  assert.equal(after?.body, before?.body);
  await opened.close();
});
