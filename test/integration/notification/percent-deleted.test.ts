/** StatefulsetRollouts that are deleted half way: receivers that wait for their outcome are called back, and keep none of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import type { SlackResult } from '#notification/slack-client/slack-call.ts';
import { answered } from '#support/external-services/fake-receiver.ts';
import { PercentStage } from '../statefulset-rollout/percent-stage.ts';

const bapi = { bapiUrl: 'https://deploys.example', stageId: 'stage-1' };

/** A set of four pods, two of which have just been let go; then the resource is deleted. */
async function deletedHalfWay(
  spec: JsonObject,
  arrange: (stage: PercentStage) => void = () => undefined,
): Promise<PercentStage> {
  const stage = await PercentStage.open();
  stage.start();
  await stage.create('db:1');
  await stage.ended();
  await stage.edit({ ...spec, statefulset: stage.carried('db:2') });
  await stage.until('two have gone', () => stage.evictions().length === 2);
  arrange(stage);
  await stage.remove();
  return stage;
}

async function gone(stage: PercentStage): Promise<void> {
  await stage.until('the resource is gone', () => stage.rollout() === undefined);
}

/** What the resource said in the end. */
function lastStatus(stage: PercentStage): JsonObject {
  const { commits } = stage.env.cluster.eventLog;
  const last = commits.findLast(({ resource }) => resource.startsWith('statefulsetrollouts'));
  return (last?.before?.['status'] ?? {}) as JsonObject;
}

test('a rollout that is deleted half way calls one failure back once its set is gone, and shows so in Slack [B-83]', async () => {
  const stage = await deletedHalfWay({ bapi, channel: '#deploys' });
  await gone(stage);
  assert.equal(stage.set(), undefined);
  assert.deepEqual(
    stage.receiver.calls.map(({ told }) => [told['result'], told['reasonCode'], told['stageId']]),
    [['failure', 'Deleted', 'stage-1']],
  );
  assert.equal(lastStatus(stage)['deleted'], true);
  await stage.env.clock.advance(minutes(2));
  const last = stage.slack.calls.findLast(({ call }) => call.page === 0);
  assert.match(JSON.stringify(last?.call.message.blocks), /Deleting/);
  assert.equal(stage.evictions().length, 2);
  await stage.close();
});

test('a rollout that had ended when it was deleted calls no receiver back again [B-83]', async () => {
  const stage = await PercentStage.open();
  stage.start();
  await stage.create('db:1', { bapi });
  await stage.ended();
  await stage.remove();
  await gone(stage);
  assert.deepEqual(
    stage.receiver.calls.map(({ told }) => told['result']),
    ['success'],
  );
  await stage.close();
});

test('a set that is kept is let go first, and then the failure is called back [B-83]', async () => {
  const stage = await deletedHalfWay({ bapi, deletionPolicy: 'Orphan' });
  await gone(stage);
  assert.equal(
    textAt(stage.set(), 'metadata', 'annotations', 'bedrock.operator.slack.com/rollout'),
    '',
  );
  assert.equal(stage.receiver.calls.length, 1);
  assert.equal(lastStatus(stage)['deleted'], false);
  await stage.close();
});

test('a Slack and a receiver that never answer keep a deleted rollout for less than 60 s [T-61]', async () => {
  const never = Promise.withResolvers<SlackResult>();
  const stage = await deletedHalfWay({ bapi, channel: '#deploys' }, ({ slack, receiver, env }) => {
    slack.answers.push(...Array.from({ length: 50 }, () => never.promise));
    // As its client does: by its own deadline, which its own tests hold.
    const timedOut = { kind: 'timed-out', why: 'no answer within 10000 ms' } as const;
    receiver.answers.push(env.clock.sleep(seconds(10)).then(() => timedOut));
  });
  await stage.until('the set is gone', () => stage.set() === undefined);
  const from = stage.env.clock.now();
  await gone(stage);
  const took = stage.env.clock.now() - from;
  assert.ok(took >= 10_000 && took < 60_000, `${took} ms`);
  assert.equal(stage.receiver.calls.length, 1);
  never.resolve({ kind: 'unreachable', message: 'given up' });
  await stage.close();
});

const refusals: Readonly<Record<string, (stage: PercentStage) => void>> = {
  'refuses for now': ({ receiver }) => receiver.answers.push(answered(503), answered(503)),
  'cannot be signed for, as the Secret may not be read': ({ env }) => {
    const match = { user: 'operator-1', resource: 'secrets' };
    env.cluster.faults.add({ match, action: { kind: 'error', code: 403 } });
  },
};

for (const [what, arrange] of Object.entries(refusals)) {
  test(`a receiver that ${what} keeps no deleted rollout [B-83]`, async () => {
    const signingSecretRef = { name: 'keys', key: 'callback' };
    const webhook = { url: 'https://deploys.example', id: 'stage-1', signingSecretRef };
    const isSecret = what.includes('Secret');
    const spec = isSecret ? { callback: { webhook } } : { bapi };
    const stage = await deletedHalfWay(spec, arrange);
    await stage.until('the set is gone', () => stage.set() === undefined);
    const from = stage.env.clock.now();
    await gone(stage);
    assert.ok(stage.env.clock.now() - from < 60_000);
    assert.equal(stage.receiver.calls.length, isSecret ? 0 : 1);
    assert.ok(stage.messages('CallbackFailed').length <= 1);
    await stage.close();
  });
}

test('a process that is killed after it has called a deletion back is followed by one that tells it again by the same key [B-83, E-14]', async () => {
  const late = Promise.withResolvers<ReturnType<typeof answered>>();
  const stage = await deletedHalfWay({ bapi }, ({ receiver }) => {
    receiver.answers.push(late.promise);
  });
  await stage.until('it is told', () => stage.receiver.calls.length === 1);
  stage.running[0]?.die();
  late.resolve(answered(200));
  await stage.env.clock.advance(seconds(1));
  stage.start();
  await gone(stage);
  assert.equal(stage.receiver.calls.length, 2);
  const keys = stage.receiver.calls.map(({ idempotencyKey }) => idempotencyKey);
  assert.equal(new Set(keys).size, 1);
  await stage.close();
});
