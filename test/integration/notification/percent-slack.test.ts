/** What Slack is told of rollouts, and that no rollout waits for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import type { CallbackOutcome } from '#notification/callback/callback-answer.ts';
import type { SlackResult } from '#notification/slack-client/slack-call.ts';
import { PercentStage } from '../statefulset-rollout/percent-stage.ts';

const channel = '#deploys';

/** A set whose rollout has ended, and of which nobody was told. */
async function settled(): Promise<PercentStage> {
  const opened = await PercentStage.open();
  opened.start();
  await opened.create('db:1');
  await opened.ended();
  return opened;
}

function stored(opened: PercentStage): string {
  return textAt(opened.status(), 'slackMessage', 'ts');
}

test('[T-74] one message is posted, then changed by the id of its conversation, and its end is shown', async () => {
  const opened = await settled();
  const { slack } = opened;
  await opened.edit({ channel, statefulset: opened.carried('db:2') });
  await opened.ended();
  await opened.env.clock.advance(minutes(1));
  const [summary, page, ...others] = slack.posts();
  assert.deepEqual(others, []);
  assert.equal(summary?.call.channel, channel);
  assert.equal(page?.call.kind === 'post' && page.call.threadTs, stored(opened));
  const updates = slack.calls.filter(({ call }) => call.kind === 'update');
  assert.ok(updates.length > 0);
  assert.deepEqual([...new Set(updates.map(({ call }) => call.channel))], ['C0DEPLOYS']);
  const last = updates.filter(({ call }) => call.page === 0).at(-1);
  assert.match(last?.call.message.text ?? '', /db/);
  assert.match(JSON.stringify(last?.call.message.blocks), /RolloutDone/);
  // No receiver is called back.
  const texts = slack.calls.map(({ call }) => JSON.stringify(call.message));
  assert.deepEqual(
    texts.filter((text) => text.includes('Reporting the outcome')),
    [],
  );
  assert.equal(opened.condition('NotificationsHealthy'), 'True MessagesSent');
  await opened.close();
});

test('[C-4] the message of a version is the same at all percentages; another version has its own', async () => {
  const opened = await settled();
  const { slack } = opened;
  await opened.edit({ channel, percent: 25, statefulset: opened.carried('db:2') });
  await opened.ended();
  await opened.edit({ percent: 100 });
  await opened.ended();
  await opened.env.clock.advance(minutes(1));
  const summaries = (): number => slack.posts().filter(({ call }) => call.page === 0).length;
  assert.equal(summaries(), 1);
  await opened.edit({ statefulset: opened.carried('db:3') });
  await opened.ended();
  await opened.env.clock.advance(minutes(1));
  assert.equal(summaries(), 2);
  await opened.close();
});

test('[T-70] the pods of 130 stand on three pages below the summary', async () => {
  const opened = await PercentStage.open(130);
  opened.start();
  await opened.create('db:1', { channel });
  await opened.ended();
  await opened.env.clock.advance(minutes(2));
  assert.deepEqual(
    opened.slack.posts().map(({ call }) => call.page),
    [0, 1, 2, 3],
  );
  assert.equal(objectsAt(opened.status(), 'slackMessage', 'pages').length, 3);
  await opened.close();
});

const wrong: Readonly<Record<string, SlackResult>> = {
  'says that there is no such channel': { kind: 'refused', error: 'channel_not_found' },
  'cannot be reached': { kind: 'unreachable', message: 'no route' },
  'has no token': { kind: 'no-token' },
};

for (const [what, result] of Object.entries(wrong)) {
  test(`[T-73, T-78] [C-17] a rollout whose Slack ${what} is as fast as one without`, async () => {
    const opened = await settled();
    const { slack, env } = opened;
    slack.answers.push(...Array.from({ length: 200 }, () => result));
    const took = async (image: string, spec: object): Promise<number> => {
      const from = env.clock.now();
      await opened.edit({ ...spec, statefulset: opened.carried(image) });
      await opened.ended();
      return env.clock.now() - from;
    };
    const without = await took('db:2', {});
    const wrongly = await took('db:3', { channel });
    assert.ok(Math.abs(wrongly - without) <= 200, `${wrongly} ms, ${without} ms without`);
    if (result.kind === 'refused') {
      assert.equal(opened.condition('NotificationsHealthy'), 'False MessagesRefused');
      assert.equal(opened.messages('NotificationFailed').length, 1);
      assert.equal(slack.calls.length, 1);
    }
    await opened.close();
  });
}

test('[C-17] a Slack that never answers keeps no rollout, and no end of the process', async () => {
  const opened = await settled();
  const never = Promise.withResolvers<SlackResult>();
  opened.slack.answers.push(never.promise);
  await opened.edit({ channel, statefulset: opened.carried('db:2') });
  await opened.ended();
  never.resolve({ kind: 'unreachable', message: 'given up' });
  await opened.running[0]?.stop();
  await opened.close();
});

test('[T-72] a Slack that asks for patience is left alone for so long, and then gets the newest message', async () => {
  const opened = await settled();
  const { slack } = opened;
  await opened.edit({ channel, statefulset: opened.carried('db:2') });
  await opened.until('it is told', () => slack.calls.length > 0);
  slack.answers.push({ kind: 'rate-limited', retryAfter: seconds(30) });
  await opened.ended();
  await opened.env.clock.advance(minutes(2));
  const times = slack.calls.map(({ at }) => at);
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  assert.ok(Math.max(...gaps) >= 30_000, gaps.join(' '));
  const last = slack.calls.filter(({ call }) => call.page === 0).at(-1);
  assert.match(JSON.stringify(last?.call.message.blocks), /RolloutDone/);
  await opened.close();
});

test('a process that starts later changes the message that stands, and posts no other', async () => {
  const opened = await settled();
  const { slack } = opened;
  await opened.edit({ channel, percent: 50, statefulset: opened.carried('db:2') });
  await opened.ended();
  await opened.env.clock.advance(minutes(1));
  await opened.running[0]?.stop();
  const calls = slack.calls.length;
  opened.start();
  await opened.env.clock.advance(minutes(5));
  assert.equal(slack.calls.length, calls);
  await opened.edit({ percent: 100 });
  await opened.ended();
  await opened.env.clock.advance(minutes(1));
  assert.equal(slack.posts().filter(({ call }) => call.page === 0).length, 1);
  await opened.close();
});

const statuses = { resource: 'statefulsetrollouts', subresource: 'status' } as const;

/** Writes of statuses by the program since `from`, by their verbs. */
function statusWrites({ env }: PercentStage, from: number): readonly string[] {
  return env.cluster.eventLog.calls
    .slice(from)
    .filter(({ resource }) => resource.startsWith(statuses.resource))
    .filter(({ user, subresource }) => user === 'operator-1' && subresource === 'status')
    .map(({ verb }) => verb);
}

test('where messages stand is stored with the status: one write a batch, and one a second', async () => {
  const opened = await PercentStage.open(60);
  opened.start();
  await opened.create('db:1');
  await opened.ended();
  const { clock, cluster } = opened.env;
  const { eventLog } = cluster;
  const [calls, commits, begun] = [eventLog.calls.length, eventLog.commits.length, clock.now()];
  await opened.edit({ channel, statefulset: opened.carried('db:2') });
  await opened.ended();
  const span = Math.ceil((clock.now() - begun) / 1_000);
  const batches = eventLog.commits
    .slice(commits)
    .filter(({ resource }) => resource.startsWith(statuses.resource))
    .map(({ after }) => JSON.stringify(objectsAt(after, 'status', 'rollout', 'batch')))
    .filter((batch, at, all) => batch !== '[]' && batch !== all[at - 1]);
  const writes = statusWrites(opened, calls);
  assert.ok(opened.slack.calls.length > 10, `${opened.slack.calls.length} calls of Slack`);
  assert.ok(writes.length <= new Set(batches).size + span, `${writes.length} in ${span} s`);
  assert.ok(!writes.includes('patch'));
  await opened.close();
});

test('of a message that only shows something else the status says so within a second, and not more often', async () => {
  const opened = await settled();
  await opened.edit({ channel, statefulset: opened.carried('db:2') });
  await opened.ended();
  const { clock, cluster } = opened.env;
  await clock.advance(minutes(2));
  const from = cluster.eventLog.calls.length;
  const { hash } = objectAt(opened.status(), 'slackMessage');
  const told = opened.slack.calls.length;
  await opened.env.patchSet({ spec: { replicas: 5 } });
  await opened.until('it is told', () => opened.slack.calls.length > told);
  await clock.advance(seconds(1.5));
  assert.notEqual(objectAt(opened.status(), 'slackMessage')['hash'], hash);
  assert.ok(!statusWrites(opened, from).includes('patch'));
  await opened.close();
});

test('nothing follows a message until it is stored where it stands: no more than one is posted once more', async () => {
  const opened = await settled();
  const { slack, env } = opened;
  slack.intercept = () => {
    slack.intercept = () => undefined;
    const match = { ...statuses, verb: ['update', 'patch'] };
    env.cluster.faults.add({ match, action: { kind: 'error', code: 503 } });
    return undefined;
  };
  await opened.edit({ channel, statefulset: opened.carried('db:2') });
  await opened.until('its summary stands', () => slack.posts().length === 1);
  await env.clock.advance(seconds(40));
  assert.equal(slack.posts().length, 1);
  env.cluster.faults.clear();
  await opened.ended();
  await env.clock.advance(minutes(1));
  assert.deepEqual(
    slack.posts().map(({ call }) => call.page),
    [0, 1],
  );
  assert.notEqual(stored(opened), '');
  await opened.close();
});

test('where a message is is stored within two seconds also while a receiver keeps the rollout waiting', async () => {
  const opened = await settled();
  const { slack, receiver, env } = opened;
  const late = Promise.withResolvers<SlackResult>();
  slack.answers.push(late.promise);
  const silent = Promise.withResolvers<CallbackOutcome>();
  receiver.answers.push(silent.promise);
  const bapi = { bapiUrl: 'https://deploys.example', stageId: 'stage-1' };
  await opened.edit({ channel, bapi, statefulset: opened.carried('db:2') });
  await opened.until('it calls back', () => opened.phase() === 'CallingBack');
  await env.clock.advance(seconds(1));
  late.resolve({ kind: 'ok', channel: 'C0DEPLOYS', ts: '1600000000.000001' });
  await env.clock.advance(seconds(2));
  assert.equal(opened.phase(), 'CallingBack');
  assert.equal(stored(opened), '1600000000.000001');
  silent.resolve({ kind: 'answered', status: 200, excerpt: '' });
  await opened.ended();
  await opened.close();
});
