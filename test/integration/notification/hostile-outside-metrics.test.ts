/** What is counted of the talk with Slack, with Consul and with receivers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { FakeConsul } from '#support/external-services/fake-consul.ts';
import { answered } from '#support/external-services/fake-receiver.ts';
import { PercentStage } from '../statefulset-rollout/percent-stage.ts';

const outside = /^(?:slack|consul|callback)_/;

/** Series about the outside, by name and labels. */
async function seriesOf(opened: PercentStage): Promise<Readonly<Record<string, number>>> {
  const series = await opened.running.at(-1)?.series();
  return Object.fromEntries([...(series ?? [])].filter(([name]) => outside.test(name)));
}

test('callbacks are counted by how they ended [G-6]', async () => {
  const opened = await PercentStage.open();
  opened.start();
  opened.receiver.answers.push(answered(503), answered(503));
  const bapi = { bapiUrl: 'https://deploys.example', stageId: 'stage-1' };
  await opened.create('db:1', { bapi });
  await opened.ended();
  opened.receiver.answers.push(answered(404));
  await opened.edit({ bapi: { ...bapi, stageId: 'stage-2' } });
  await opened.until('it is told', () => opened.receiver.calls.length === 4);
  await opened.ended();
  assert.deepEqual(await seriesOf(opened), {
    'callback_attempts_total{result="delivered"}': 1,
    'callback_attempts_total{result="permanent"}': 1,
    'callback_attempts_total{result="temporary"}': 2,
    slack_rate_limited_total: 0,
  });
  await opened.close();
});

test('requests to Slack are counted by method and end, those without a token not [G-6]', async () => {
  const opened = await PercentStage.open();
  const { slack } = opened;
  opened.start();
  slack.answers.push({ kind: 'no-token' }, { kind: 'rate-limited', retryAfter: seconds(7) });
  await opened.create('db:1', { channel: '#deploys' });
  await opened.ended();
  await opened.env.clock.advance(minutes(5));
  const updates = slack.calls.length - slack.posts().length;
  const counted = await seriesOf(opened);
  assert.deepEqual(
    {
      posts: counted['slack_requests_total{method="chat.postMessage",result="ok"}'],
      limited: counted['slack_requests_total{method="chat.postMessage",result="rate_limited"}'],
      patience: counted['slack_rate_limited_total'],
      updates: counted['slack_requests_total{method="chat.update",result="ok"}'] ?? 0,
    },
    { posts: 2, limited: 1, patience: 1, updates },
  );
  await opened.close();
});

test('questions to Consul are counted, and the age of its word is shown as long as a rollout waits for it [G-6]', async () => {
  const opened = await PercentStage.open();
  const consul = new FakeConsul(opened.env.clock);
  opened.consul = consul.opened;
  opened.start();
  for (const pod of ['db-0', 'db-1', 'db-2']) consul.register('kv', pod);
  consul.register('kv', 'db-3', { isPassing: false });
  await opened.create('db:1', { serviceDiscovery: { serviceNames: ['kv'] } });
  await opened.until('it waits', () => opened.phase() === 'WaitingForServiceDiscovery');
  consul.fail({ kind: 'trouble', code: 'ConsulPermissionDenied', message: 'it answers 403' });
  await opened.env.clock.advance(seconds(40));
  const waiting = await seriesOf(opened);
  assert.ok((waiting['consul_requests_total{result="ok"}'] ?? 0) >= 1);
  assert.ok((waiting['consul_requests_total{result="permission_denied"}'] ?? 0) >= 2);
  assert.ok((waiting['consul_snapshot_age_seconds'] ?? 0) >= 30);
  consul.fail(undefined);
  await opened.env.clock.advance(minutes(1));
  consul.register('kv', 'db-3');
  await opened.ended();
  await opened.env.clock.advance(minutes(5));
  const names = Object.keys(await seriesOf(opened));
  assert.ok(!names.includes('consul_snapshot_age_seconds'), names.join(' '));
  await opened.close();
});
