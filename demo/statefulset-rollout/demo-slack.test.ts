import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { SlackCall } from '#notification/slack-client/slack-call.ts';
import { createSlackClient, type SlackClient } from '#notification/slack-client/slack-client.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { type DemoSlack, type StoredSlackMessage, startDemoSlack } from './demo-slack.ts';

const shared = {
  thread: 'uid',
  page: 0,
  hash: '',
  account: '',
  isTokenDoubted: false,
  message: { text: 'Waiting', blocks: [] },
} as const;
const metadata = { uid: 'uid', key: 'key' };

function postTo(channel: string, threadTs?: string): SlackCall {
  return {
    ...shared,
    kind: 'post',
    channel,
    metadata,
    ...(threadTs !== undefined && { threadTs }),
  };
}

describe('startDemoSlack()', () => {
  const { signal } = new AbortController();
  const heard: StoredSlackMessage[] = [];
  let slack: DemoSlack;
  let client: SlackClient;
  let token: string;

  before(async () => {
    slack = await startDemoSlack('#deploys', (message) => heard.push(message));
    token = slack.token;
    client = createSlackClient({
      clock: systemClock(),
      env: {},
      token: () => Promise.resolve(token),
      baseUrl: new URL(slack.url),
    });
  });

  after(async () => {
    await Promise.all([client.close(), slack.close()]);
  });

  test('keeps what is posted and changed as Slack does, and tells it', async () => {
    const posted = await client.send(postTo('#deploys'), signal);
    assert.equal(posted.kind, 'ok');
    const { channel, ts } = posted.kind === 'ok' ? posted : { channel: '', ts: '' };
    await client.send(postTo(channel, ts), signal);
    const blocks = [{ type: 'header', text: { type: 'plain_text', text: 'Done', emoji: true } }];
    const message = { text: 'Done', blocks } as SlackCall['message'];
    await client.send({ ...shared, kind: 'update', channel, ts, message }, signal);
    assert.deepEqual(
      [...slack.messages.values()],
      [
        { text: 'Done', blocks, thread: '', changes: 1 },
        { text: 'Waiting', blocks: [], thread: ts, changes: 0 },
      ],
    );
    assert.deepEqual(
      heard.map(({ text, thread }) => [text, thread]),
      [
        ['Waiting', ''],
        ['Waiting', ts],
        ['Done', ''],
      ],
    );
  });

  test('refuses in the words of Slack what Slack would', async () => {
    const refused = (error: string): object => ({ kind: 'refused', error });
    assert.deepEqual(await client.send(postTo('#other'), signal), refused('channel_not_found'));
    const update = { ...shared, kind: 'update', ts: '1.2' } as const;
    assert.deepEqual(
      await client.send({ ...update, channel: '#deploys' }, signal),
      refused('channel_not_found'),
    );
    assert.deepEqual(
      await client.send({ ...update, channel: 'C0DEMO001' }, signal),
      refused('message_not_found'),
    );
    token = 'xoxb-other';
    assert.deepEqual(await client.send(postTo('#deploys'), signal), refused('invalid_auth'));
  });
});
