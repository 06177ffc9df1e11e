import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonic } from '#base/units.ts';
import type { SlackCall, SlackResult } from '#notification/slack-client/slack-call.ts';
import { FakeSlack } from './fake-slack.ts';

const shared = {
  thread: 't',
  hash: 'h',
  account: '',
  isTokenDoubted: false,
  message: { text: 'told', blocks: [] },
} as const;
const post: SlackCall = {
  ...shared,
  kind: 'post',
  page: 0,
  channel: '#deploys',
  metadata: { uid: 'u', key: 'k' },
};
const update: SlackCall = { ...shared, kind: 'update', page: 0, channel: 'C0DEPLOYS', ts: '1' };
const long = { type: 'mrkdwn', text: 'x'.repeat(3_001), verbatim: true } as const;
const blocks = [{ type: 'section', text: long }] as const;

/** What comes of `call` so long after a message was posted. */
async function cameOf(call: SlackCall, later = 1_000): Promise<SlackResult> {
  let now = 0;
  const slack = new FakeSlack(() => monotonic(now));
  await slack.send(post);
  now = later;
  return slack.send(call);
}

const refused: Readonly<Record<string, readonly [SlackCall, string]>> = {
  'a change by the name of the channel': [{ ...update, channel: '#deploys' }, 'channel_not_found'],
  'a change of what does not stand': [update, 'message_not_found'],
  'a page below nothing': [{ ...post, page: 1, threadTs: '1' }, 'thread_not_found'],
  'a section that is too long': [{ ...post, message: { text: 'a', blocks } }, 'invalid_blocks'],
  'a message without a text': [{ ...post, message: { text: '', blocks: [] } }, 'no_text'],
};
for (const [fact, [call, error]] of Object.entries(refused)) {
  test(`FakeSlack refuses ${fact}, as Slack does`, async () => {
    assert.deepEqual(await cameOf(call), { kind: 'refused', error });
  });
}

test('FakeSlack asks for patience where two calls come within a second, as Slack does', async () => {
  assert.equal((await cameOf(post, 999)).kind, 'rate-limited');
  assert.equal((await cameOf(post, 1_000)).kind, 'ok');
});
