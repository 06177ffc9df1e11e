import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { millis, monotonic, seconds } from '#base/units.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import {
  answeringWith,
  cutOff,
  rateLimited,
  refusingWith,
  type SlackObstacle,
  SlackServer,
  unanswered,
} from '#support/external-services/slack-server.ts';
import { wantedThread } from '#support/rollouts/outbox-play.ts';
import { podNews, rolloutNews } from '#support/rollouts/rollout-news.ts';
import { settle } from '../outbox-results.ts';
import { emptyOutbox } from '../outbox-state.ts';
import { want } from '../outbox-wants.ts';
import { summaryContent } from '../slack-message/slack-message.ts';
import { pageContents } from '../slack-message/slack-pages.ts';
import { planSending } from '../slack-outbox.ts';
import type { SlackCall, SlackResult } from './slack-call.ts';
import { createSlackClient, type SlackClient, type SlackClientOptions } from './slack-client.ts';

const token = 'xoxb-1234-this-is-a-secret';
const parts = {
  thread: 'uid-1|key-1',
  page: 0,
  hash: '',
  account: 'default',
  isTokenDoubted: false,
  message: { text: 'hello', blocks: [] },
};
const post: SlackCall = {
  ...parts,
  kind: 'post',
  channel: '#deploys',
  metadata: { uid: 'uid-1', key: 'key-1' },
};

/** A server, and a client whose clock stands still; both end with the test. */
async function bench(
  context: TestContext,
  about: Partial<SlackClientOptions> = {},
): Promise<{ server: SlackServer; client: SlackClient; clock: ManualClock }> {
  const server = new SlackServer();
  server.tokens.set(token, { bot: 'B1', scopes: ['chat:write'] });
  const baseUrl = await server.listen();
  const clock = new ManualClock();
  const source = (): Promise<string> => Promise.resolve(token);
  const client = createSlackClient({ clock, env: {}, baseUrl, token: source, ...about });
  context.after(async () => {
    await client.close();
    await server.close();
  });
  return { server, client, clock };
}

function send(client: SlackClient, call: SlackCall = post): Promise<SlackResult> {
  return client.send(call, new AbortController().signal);
}

test('send() posts a summary and a page below it, and changes both [T-74] (C-1, C-3)', async (context) => {
  const { server, client } = await bench(context);
  const { hash: _hash, ...summary } = summaryContent(rolloutNews());
  const [page] = pageContents('web', [podNews(3)]);
  assert.ok(page);
  const first = await send(client, { ...post, message: summary });
  assert.deepEqual(first, { kind: 'ok', channel: 'C0000001', ts: '1700000000.000001' });
  const threadTs = '1700000000.000001';
  const second = await send(client, { ...post, page: 1, threadTs, message: page });
  assert.equal(second.kind, 'ok');
  const later = summaryContent(rolloutNews({ phase: 'RolloutDone' }));
  const change = { ...parts, channel: 'C0000001', ts: threadTs, message: later };
  assert.deepEqual(await send(client, { ...change, kind: 'update' }), first);
  const [top, below] = server.messages;
  assert.deepEqual(top, {
    channel: 'C0000001',
    ts: threadTs,
    threadTs: undefined,
    bot: 'B1',
    text: later.text,
    blocks: later.blocks,
    metadata: {
      event_type: 'statefulset_rollout',
      event_payload: { uid: 'uid-1', key: 'key-1' },
    },
    edits: 1,
  });
  assert.equal(below?.threadTs, threadTs);
  assert.deepEqual(below?.blocks, page.blocks);
});

test('send() lets nothing become a link, and says who asks with the token in its header alone', async (context) => {
  const { server, client } = await bench(context);
  await send(client);
  const [call] = server.received;
  assert.deepEqual(call?.args, {
    channel: '#deploys',
    text: 'hello',
    parse: 'none',
    link_names: 'false',
    metadata: '{"event_type":"statefulset_rollout","event_payload":{"uid":"uid-1","key":"key-1"}}',
    unfurl_links: 'false',
    unfurl_media: 'false',
  });
  assert.equal(call?.method, 'chat.postMessage');
  assert.equal(call?.headers.authorization, `Bearer ${token}`);
  assert.equal(call?.headers['user-agent'], 'rollout-operator');
});

test('send() takes away blocks where a message becomes plain (C-16)', async (context) => {
  const { server, client } = await bench(context);
  await send(client, { ...post, message: summaryContent(rolloutNews()) });
  const ts = '1700000000.000001';
  await send(client, { ...parts, kind: 'update', channel: 'C0000001', ts });
  assert.deepEqual(server.messages[0]?.blocks, []);
  assert.equal(server.messages[0]?.text, 'hello');
});

const noPlace =
  'Cannot send to Slack: its answer should name an id like C0123456789 and a time like 1700000000.000100: got';

/** How a call ends that the server answers so. */
const answers: Record<string, { obstacle: SlackObstacle; want: SlackResult }> = {
  'a refusal, though the status is 200 (C-2)': {
    obstacle: refusingWith('channel_not_found'),
    want: { kind: 'refused', error: 'channel_not_found' },
  },
  'how long to wait (C-11)': {
    obstacle: rateLimited(30),
    want: { kind: 'rate-limited', retryAfter: seconds(30) },
  },
  'that it is to wait, it is not said how long': {
    obstacle: rateLimited(undefined),
    want: { kind: 'rate-limited', retryAfter: undefined },
  },
  'that it is to wait, it cannot be read how long': {
    obstacle: rateLimited('soon'),
    want: { kind: 'rate-limited', retryAfter: undefined },
  },
  'that it is to wait, though the status is 200': {
    obstacle: answeringWith(200, '{"ok":false,"error":"ratelimited"}', { 'retry-after': '7' }),
    want: { kind: 'rate-limited', retryAfter: seconds(7) },
  },
  'a failure of the server': {
    obstacle: answeringWith(503, 'no'),
    want: { kind: 'unreachable', message: 'Cannot send to Slack: it answers 503' },
  },
  'a redirect, which is not followed': {
    obstacle: answeringWith(302, '', { location: 'http://127.0.0.1:1/' }),
    want: { kind: 'unreachable', message: 'Cannot send to Slack: it answers 302' },
  },
  'a page of another owner, of which nothing is told [found X-3]': {
    obstacle: answeringWith(200, `<html>Bearer ${token}</html>`),
    want: {
      kind: 'unreachable',
      message: 'Cannot send to Slack: its answer is not from Slack',
    },
  },
  'an answer that repeats the token where it would be cut, without any of it': {
    obstacle: answeringWith(200, JSON.stringify({ ok: false, error: `${'x'.repeat(90)}${token}` })),
    want: {
      kind: 'unreachable',
      message: 'Cannot send to Slack: its answer is not from Slack',
    },
  },
  'a place with a channel of 60000 characters, which is not kept': {
    obstacle: answeringWith(200, `{"ok":true,"channel":"${'C'.repeat(60_000)}","ts":"1.5"}`),
    want: {
      kind: 'unreachable',
      message: `${noPlace} channel "${'C'.repeat(100)}"… (60000 characters), ts "1.5"`,
    },
  },
  'a place with a time that is none': {
    obstacle: answeringWith(200, '{"ok":true,"channel":"C0000001","ts":"now"}'),
    want: { kind: 'unreachable', message: `${noPlace} channel "C0000001", ts "now"` },
  },
  'an answer that says nothing of success': {
    obstacle: answeringWith(200, '{"channel":"C0000001","ts":"1.5"}'),
    want: { kind: 'unreachable', message: 'Cannot send to Slack: its answer is not from Slack' },
  },
  'success of something else than true (C-2)': {
    obstacle: answeringWith(200, '{"ok":"true","channel":"C0000001","ts":"1.5"}'),
    want: {
      kind: 'unreachable',
      message: 'Cannot send to Slack: its answer does not identify the message',
    },
  },
  'success without a place': {
    obstacle: answeringWith(200, '{"ok":true}'),
    want: {
      kind: 'unreachable',
      message: 'Cannot send to Slack: its answer does not identify the message',
    },
  },
  'an answer that is too long': {
    obstacle: answeringWith(200, `{"ok":true,"text":"${'x'.repeat(70_000)}"}`),
    want: {
      kind: 'unreachable',
      message: 'Cannot send to Slack: the answer is longer than 65536 bytes',
    },
  },
};

describe('send() tells', () => {
  for (const [name, { obstacle, want: wanted }] of Object.entries(answers)) {
    test(name, async (context) => {
      const { server, client } = await bench(context, { longestAnswer: 65_536 });
      server.obstacles.push(obstacle);
      assert.deepEqual(await send(client), wanted);
      // Neither the library nor this client tries again.
      assert.equal(server.received.length, 1);
    });
  }

  test('a connection that ends, once', async (context) => {
    const { server, client } = await bench(context);
    server.obstacles.push(cutOff);
    const result = await send(client);
    assert.equal(result.kind, 'unreachable');
    assert.match(result.kind === 'unreachable' ? result.message : '', /^Cannot send to Slack: ./);
    assert.equal(server.received.length, 1);
  });
});

/** Refusals of the server itself. */
const refusals: Record<
  string,
  { about: (server: SlackServer) => void; call?: SlackCall; want: string }
> = {
  'a token that was taken back': {
    about: ({ tokens }) => tokens.set(token, { bot: 'B1', scopes: [], isRevoked: true }),
    want: 'token_revoked',
  },
  'a token that may not write': {
    about: ({ tokens }) => tokens.set(token, { bot: 'B1', scopes: ['users:read'] }),
    want: 'missing_scope',
  },
  'an unknown token': { about: ({ tokens }) => tokens.clear(), want: 'invalid_auth' },
  'a channel that is not there': {
    about: ({ channels }) => channels.splice(0),
    want: 'channel_not_found',
  },
  'a channel in the archive': {
    about: ({ channels }) => channels.splice(0, 1, { id: 'C1', name: 'deploys', isArchived: true }),
    want: 'is_archived',
  },
  'a channel that it was not invited to': {
    about: ({ channels }) => channels.splice(0, 1, { id: 'C1', name: 'deploys', isClosed: true }),
    want: 'not_in_channel',
  },
  'a message that is gone [T-77]': {
    about: () => undefined,
    call: { ...parts, kind: 'update', channel: 'C0000001', ts: '1.5' },
    want: 'message_not_found',
  },
  'a change by the name of a channel (C-3)': {
    about: () => undefined,
    call: { ...parts, kind: 'update', channel: '#deploys', ts: '1.5' },
    want: 'channel_not_found',
  },
  'a text that is too long': {
    about: () => undefined,
    call: { ...post, message: { text: 'x'.repeat(40_001), blocks: [] } },
    want: 'msg_too_long',
  },
  'a block that is too long': {
    about: () => undefined,
    call: {
      ...post,
      message: {
        text: 'x',
        blocks: [
          { type: 'section', text: { type: 'mrkdwn', text: 'x'.repeat(3_001), verbatim: true } },
        ],
      },
    },
    want: 'invalid_blocks',
  },
  'blocks that are too long together (C-8)': {
    about: () => undefined,
    call: {
      ...post,
      message: {
        text: 'x',
        blocks: Array.from({ length: 5 }, () => ({
          type: 'section' as const,
          text: { type: 'mrkdwn' as const, text: 'x'.repeat(3_000), verbatim: true as const },
        })),
      },
    },
    want: 'msg_blocks_too_long',
  },
};

describe('send() is refused', () => {
  for (const [name, { about, call, want: error }] of Object.entries(refusals)) {
    test(name, async (context) => {
      const { server, client } = await bench(context);
      about(server);
      assert.deepEqual(await send(client, call), { kind: 'refused', error });
    });
  }
});

test('send() sends nothing without a token [T-78]', async (context) => {
  for (const none of [undefined, '', ' \n', 'two\nlines', 'with space']) {
    const { server, client } = await bench(context, { token: () => Promise.resolve(none) });
    assert.deepEqual(await send(client), { kind: 'no-token' });
    assert.deepEqual(server.received, []);
  }
});

test('send() takes a token with the line end of its file', async (context) => {
  const { client } = await bench(context, { token: () => Promise.resolve(`${token}\n`) });
  assert.equal((await send(client)).kind, 'ok');
});

test('send() says why a token cannot be read', async (context) => {
  const { client } = await bench(context, { token: () => Promise.reject(new Error('no Secret')) });
  const message = 'Cannot read the token of Slack: no Secret';
  assert.deepEqual(await send(client), { kind: 'unreachable', message });
});

test('send() asks for the token of the account, and again where it is doubted (C-15)', async (context) => {
  const asked: string[] = [];
  const source: SlackClientOptions['token'] = (account, { isDoubted }) => {
    asked.push(`${account} ${isDoubted}`);
    return Promise.resolve(isDoubted ? token : 'xoxb-old');
  };
  const { client } = await bench(context, { token: source });
  assert.deepEqual(await send(client), { kind: 'refused', error: 'invalid_auth' });
  const again = { ...post, account: 'team-a', isTokenDoubted: true };
  assert.equal((await send(client, again)).kind, 'ok');
  assert.deepEqual(asked, ['default false', 'team-a true']);
});

test('send() waits no longer than its time for an answer', async (context) => {
  const { server, client, clock } = await bench(context, { timeout: seconds(2) });
  server.obstacles.push(unanswered);
  const sent = send(client);
  while (server.received.length === 0) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(millis(2_001));
  assert.equal((await sent).kind, 'unreachable');
});

test('send() ends with its signal, and with the client', async (context) => {
  const { server, client } = await bench(context);
  server.obstacles.push(unanswered, unanswered);
  const controller = new AbortController();
  const sent = client.send(post, controller.signal);
  while (server.received.length === 0) await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  assert.equal((await sent).kind, 'unreachable');
  const other = send(client);
  while (server.received.length === 1) await new Promise((resolve) => setImmediate(resolve));
  await client.close();
  assert.equal((await other).kind, 'unreachable');
  assert.equal((await send(client)).kind, 'unreachable');
});

test('what is planned is taken by a server that keeps rates (F-5)', async (context) => {
  const { server, client } = await bench(context);
  let now = 0;
  server.now = () => now;
  let outbox = emptyOutbox;
  for (let round = 0; round < 120; round += 1) {
    const pods = Array.from({ length: 130 }, (_, at) =>
      podNews(at, { isRotated: at >= 130 - round }),
    );
    const about = { summary: summaryContent(rolloutNews({ updated: round })) };
    const wanted = wantedThread({ ...about, pages: pageContents('web', pods) });
    outbox = want(outbox, wanted, monotonic(now));
    const step = planSending(outbox, monotonic(now));
    outbox = step.outbox;
    if (step.kind === 'call') {
      const result = await send(client, step.call);
      assert.equal(result.kind, 'ok');
      outbox = settle(outbox, { call: step.call, result }, monotonic(now));
    }
    now += 1_000;
  }
  assert.equal(server.messages.length, 4);
  assert.ok(server.received.length > 30);
});
