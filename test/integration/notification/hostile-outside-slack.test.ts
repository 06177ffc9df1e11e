/** Where the messages of Slack stand, by the status, whatever comes in between. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import type { SlackResult } from '#notification/slack-client/slack-call.ts';
import type { SentCall } from '#support/external-services/fake-slack.ts';
import { PercentStage } from '../statefulset-rollout/percent-stage.ts';

const channel = '#deploys';
const silence: SlackResult = { kind: 'unreachable', message: 'no answer in time' };

/** A set whose first rollout has ended, and was reported on a summary and a page. */
async function told(): Promise<PercentStage> {
  const opened = await PercentStage.open();
  opened.start();
  await opened.create('db:1', { channel });
  await opened.ended();
  await opened.env.clock.advance(minutes(2));
  assert.equal(opened.slack.posts().length, 2);
  return opened;
}

/** What names a message in a call that changes it. */
function changed({ call }: SentCall): string {
  return call.kind === 'update' ? call.ts : '';
}

test('a process that is killed between the summary of a new version and its page posts the page below it, and leaves the former one alone', async () => {
  const opened = await told();
  const { slack, env } = opened;
  const former = objectsAt(opened.status(), 'slackMessage', 'pages').map(({ ts }) => ts);
  const before = slack.calls.length;
  await opened.edit({ statefulset: opened.carried('db:2') });
  await opened.until('its summary stands', () => slack.posts().length === 3);
  await env.clock.advance(seconds(0.3));
  opened.running[0]?.die();
  await env.clock.advance(seconds(20));
  opened.start();
  await opened.ended();
  await env.clock.advance(minutes(2));
  const sent = slack.calls.slice(before);
  assert.deepEqual(
    sent.filter((each) => former.includes(changed(each))),
    [],
  );
  const page = sent.find(({ call }) => call.kind === 'post' && call.page === 1);
  const summary = textAt(opened.status(), 'slackMessage', 'ts');
  assert.equal(page?.call.kind === 'post' && page.call.threadTs, summary);
  await opened.close();
});

test('the last word of a former version that comes late does not be in the status for the new one', async () => {
  const opened = await told();
  const { slack, env } = opened;
  const late = Promise.withResolvers<SlackResult>();
  slack.answers.push(late.promise);
  await opened.edit({ statefulset: opened.carried('db:2') });
  await opened.ended();
  await env.clock.advance(minutes(2));
  const stands = opened.status()['slackMessage'];
  late.resolve(silence);
  await env.clock.advance(minutes(3));
  assert.deepEqual(opened.status()['slackMessage'], stands);
  const posts = slack.posts().length;
  await opened.running[0]?.stop();
  opened.start();
  await env.clock.advance(minutes(5));
  assert.equal(slack.posts().length, posts);
  await opened.close();
});

test('a failure stands in the status for as long as it lasts, and what was not taken has not been sent', async () => {
  const opened = await PercentStage.open();
  opened.start();
  opened.slack.answers.push(...Array.from({ length: 4 }, () => silence));
  await opened.create('db:1', { channel });
  await opened.until('it is told', () => opened.slack.calls.length === 1);
  await opened.env.clock.advance(seconds(0.5));
  const failed = objectAt(opened.status(), 'slackMessage');
  assert.deepEqual([failed['error'], failed['lastSent']], ['no answer in time', undefined]);
  await opened.ended();
  await opened.env.clock.advance(minutes(2));
  const { error, lastSent } = objectAt(opened.status(), 'slackMessage');
  assert.equal(error, undefined);
  assert.equal(typeof lastSent, 'string');
  await opened.close();
});
