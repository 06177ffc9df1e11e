import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { instant, monotonic, seconds } from '#base/units.ts';
import {
  OutboxPlay,
  type PlayedSlack,
  shown,
  wantedThread,
} from '#support/rollouts/outbox-play.ts';
import { donePod, podNews } from '#support/rollouts/rollout-news.ts';
import { settle } from './outbox-results.ts';
import { emptyOutbox, type Outbox } from './outbox-state.ts';
import { type WantedThread, want } from './outbox-wants.ts';
import { contentOf, section } from './slack-message/slack-blocks.ts';
import { pageContents } from './slack-message/slack-pages.ts';
import { type OutboxStep, planSending } from './slack-outbox.ts';
import { formatThread, readStoredThread } from './stored-thread.ts';

/** What is wanted when, in seconds. */
interface Case {
  readonly wants: readonly (readonly [at: number, about: Partial<WantedThread>])[];
  readonly answer?: PlayedSlack;
  /** @default a minute */
  readonly until?: number;
  readonly want: readonly string[];
}

function text(value: string): Partial<WantedThread> {
  return { summary: shown(value) };
}

/** Refuses the calls with these numbers. */
function refusing(error: string, ...numbers: readonly number[]): PlayedSlack {
  let number = 0;
  return () => {
    number += 1;
    return numbers.includes(number) ? { kind: 'refused', error } : undefined;
  };
}

const cases: Record<string, Case> = {
  'posts first, then updates': {
    wants: [
      [0, text('a')],
      [10, text('b')],
    ],
    want: ['0 post 0 a', '10 update 0 b'],
  },
  'sends nothing twice (C-12)': {
    wants: [
      [0, text('a')],
      [10, text('a')],
    ],
    want: ['0 post 0 a'],
  },
  'sends a summary every 5 s, the newest one (C-12)': {
    wants: [
      [0, text('a')],
      [1, text('b')],
      [2, text('c')],
      [6, text('d')],
    ],
    want: ['0 post 0 a', '5 update 0 c', '10 update 0 d'],
  },
  'sends nothing where all is as it was before it could be sent': {
    wants: [
      [0, text('a')],
      [1, text('b')],
      [2, text('a')],
    ],
    want: ['0 post 0 a'],
  },
  'does not wait where the phase has changed, but for the second (C-12)': {
    wants: [
      [0, text('a')],
      [0.2, { ...text('b'), phase: 'Paused' }],
    ],
    want: ['0 post 0 a', '1 update 0 b'],
  },
  'sends pages below the summary, each every 15 s (C-12)': {
    wants: [
      [0, { pages: [shown('p'), shown('q')] }],
      [3, { pages: [shown('r'), shown('q')] }],
    ],
    want: ['0 post 0 summary', '1 post 1 p', '2 post 2 q', '16 update 1 r'],
  },
  'sends no pages at info (C-14)': {
    wants: [[0, { level: 'info', pages: [shown('p')] }]],
    want: ['0 post 0 summary'],
  },
  'sends nothing at error until something fails (C-14)': {
    wants: [
      [0, { level: 'error', ...text('a'), pages: [shown('p')] }],
      [10, { level: 'error', ...text('b'), phase: 'RolloutFailed', isAlarm: true }],
      [20, { level: 'error', ...text('c') }],
    ],
    want: ['10 post 0 b', '20 update 0 c'],
  },
  'sends the end before all else (C-13)': {
    wants: [
      [0, text('a')],
      [0, { uid: 'uid-2', ...text('b'), pages: [shown('p'), shown('q')] }],
      [1.5, { ...text('end'), phase: 'RolloutDone', pages: [shown('last')] }],
    ],
    want: [
      '0 post 0 a',
      '1 post 0 b',
      '2 update 0 end',
      '3 post 1 last',
      '4 post 1 p',
      '5 post 2 q',
    ],
  },
  'waits as long as Slack says, and sends the newest then [T-72]': {
    wants: [
      [0, text('a')],
      [5, text('b')],
      [7, text('c')],
      [20, { ...text('d'), phase: 'Paused', pages: [shown('p')] }],
    ],
    answer: (_, at) =>
      at === 5_000 ? { kind: 'rate-limited', retryAfter: seconds(30) } : undefined,
    want: ['0 post 0 a', '5 update 0 b', '35 update 0 d', '36 post 1 p'],
  },
  'waits 30 s where Slack does not say how long (C-11)': {
    wants: [[0, text('a')]],
    answer: (_, at) => (at === 0 ? { kind: 'rate-limited', retryAfter: undefined } : undefined),
    want: ['0 post 0 a', '30 post 0 a'],
  },
  'posts anew what is gone, and its pages below it [T-77]': {
    wants: [
      [0, { ...text('a'), pages: [shown('p')] }],
      [10, { ...text('b'), pages: [shown('p')] }],
    ],
    answer: refusing('message_not_found', 3),
    want: ['0 post 0 a', '1 post 1 p', '10 update 0 b', '11 post 0 b', '12 post 1 p'],
  },
  'posts one page anew': {
    wants: [
      [0, { ...text('a'), pages: [shown('p')] }],
      [20, { ...text('a'), pages: [shown('q')] }],
    ],
    answer: refusing('cant_update_message', 3),
    want: ['0 post 0 a', '1 post 1 p', '20 update 1 q', '21 post 1 q'],
  },
  'fills no channel with copies where nothing can be changed': {
    wants: [
      [0, text('a')],
      [10, text('b')],
      [20, text('c')],
      [30, text('d')],
    ],
    answer: ({ kind }) =>
      kind === 'update' ? { kind: 'refused', error: 'edit_window_closed' } : undefined,
    until: 400,
    want: ['0 post 0 a', '10 update 0 b', '11 post 0 b', '20 update 0 c', '320 post 0 d'],
  },
  'stops where there is no channel [T-73]': {
    wants: [
      [0, text('a')],
      [10, { ...text('b'), phase: 'RolloutDone' }],
    ],
    answer: refusing('channel_not_found', 1),
    want: ['0 post 0 a'],
  },
  'asks again with the next step after an end': {
    wants: [
      [0, { ...text('a'), phase: 'RolloutDone' }],
      [10, { ...text('b'), phase: 'Pending' }],
    ],
    answer: refusing('not_in_channel', 1),
    want: ['0 post 0 a', '10 post 0 b'],
  },
  'asks again in another channel': {
    wants: [
      [0, text('a')],
      [10, { ...text('b'), channel: '#other' }],
    ],
    answer: refusing('is_archived', 1),
    want: ['0 post 0 a', '10 post 0 b'],
  },
  'reads a token again once (C-15)': {
    wants: [[0, text('a')]],
    answer: ({ isTokenDoubted }) =>
      isTokenDoubted ? undefined : { kind: 'refused', error: 'invalid_auth' },
    want: ['0 post 0 a', '1 post 0 a'],
  },
  'stops where the token that was read again is no better': {
    wants: [[0, text('a')]],
    answer: () => ({ kind: 'refused', error: 'invalid_auth' }),
    want: ['0 post 0 a', '1 post 0 a'],
  },
  'sends a text where Slack does not take the blocks, once (C-16)': {
    wants: [
      [0, { summary: contentOf({ text: 'a', blocks: [section(['line'])] }) }],
      [10, text('b')],
    ],
    answer: refusing('msg_blocks_too_long', 1, 2),
    want: ['0 post 0 a', '1 post 0 line', '10 post 0 b'],
  },
  'tries again ever later where there is no answer, ten times (C-16)': {
    wants: [[0, text('a')]],
    answer: () => ({ kind: 'unreachable', message: 'down' }),
    until: 3_600,
    want: [0, 1, 3, 7, 15, 31, 63, 127, 255, 511].map((at) => `${at} post 0 a`),
  },
  'tries newer content where older was given up': {
    wants: [
      [0, text('a')],
      [1_000, text('b')],
    ],
    answer: ({ message }) =>
      message.text === 'a' ? { kind: 'refused', error: 'internal_error' } : undefined,
    until: 2_000,
    want: [
      ...[0, 1, 3, 7, 15, 31, 63, 127, 255, 511].map((at) => `${at} post 0 a`),
      '1000 post 0 b',
    ],
  },
  'gives the end up after 10 minutes (C-13)': {
    wants: [[0, { ...text('a'), phase: 'RolloutDone' }]],
    answer: (_, at) =>
      at < 650_000 ? { kind: 'rate-limited', retryAfter: seconds(400) } : undefined,
    until: 3_600,
    want: ['0 post 0 a', '400 post 0 a'],
  },
  'looks for a token every minute where there is none [T-78]': {
    wants: [[0, text('a')]],
    answer: (_, at) => (at < 100_000 ? { kind: 'no-token' } : undefined),
    until: 300,
    want: ['0 post 0 a', '60 post 0 a', '120 post 0 a'],
  },
  'tells of a rollout that another one follows (C-4)': {
    wants: [
      [0, text('a')],
      [10, { key: 'key-2', ...text('b') }],
      [20, { key: 'key-2', ...text('c') }],
    ],
    want: ['0 post 0 a', '10 update 0 Superseded: a', '11 post 0 b', '20 update 0 c'],
  },
  'tells nothing of a rollout that was never shown': {
    wants: [
      [0, { level: 'error', ...text('a') }],
      [10, { level: 'error', key: 'key-2', ...text('b'), isAlarm: true }],
    ],
    want: ['10 post 0 b'],
  },
  'goes on where the status says the messages stand': {
    wants: [
      [
        0,
        {
          ...text('b'),
          pages: [shown('p'), shown('q')],
          stored: {
            key: 'key-1',
            channel: 'C0000001',
            ts: '1.5',
            hash: shown('a').hash,
            pages: [{ index: 1, ts: '1.6', hash: shown('p').hash }],
          },
        },
      ],
    ],
    want: ['0 update 0 b', '1 post 2 q'],
  },
  'takes no message of another rollout, or of another channel': {
    wants: [
      [
        0,
        {
          channel: 'C0000002',
          stored: { key: 'key-1', channel: 'C0000001', ts: '1.5', hash: '', pages: [] },
        },
      ],
      [
        10,
        {
          uid: 'uid-2',
          stored: { key: 'key-0', channel: 'C0000001', ts: '1.5', hash: '', pages: [] },
        },
      ],
    ],
    want: ['0 post 0 summary', '10 post 0 summary'],
  },
  'posts no page where its summary was not taken': {
    wants: [
      [
        0,
        {
          summary: contentOf({ text: 'a', blocks: [section(['line'])] }),
          pages: [shown('p')],
        },
      ],
    ],
    answer: refusing('invalid_blocks', 1, 2),
    want: ['0 post 0 a', '1 post 0 line'],
  },
  'tries blocks again with newer content': {
    wants: [
      [0, { summary: contentOf({ text: 'a', blocks: [section(['line a'])] }) }],
      [0.5, { summary: contentOf({ text: 'b', blocks: [section(['line b'])] }) }],
    ],
    answer: refusing('invalid_blocks', 1),
    want: ['0 post 0 a', '1 post 0 b'],
  },
  'sends an end before the beginning of another (C-13)': {
    wants: [
      [0, text('a')],
      [0, { uid: 'uid-2', ...text('x') }],
      [10, text('b')],
      [10, { uid: 'uid-2', ...text('end'), phase: 'RolloutDone', pages: [shown('last')] }],
    ],
    want: ['0 post 0 a', '1 post 0 x', '10 update 0 end', '11 post 1 last', '12 update 0 b'],
  },
  'sends a summary before pages, also where it was sent later': {
    wants: [
      [0, { ...text('a'), pages: [shown('p')] }],
      [10, { ...text('b'), pages: [shown('p')] }],
      [30, { ...text('c'), pages: [shown('q')] }],
    ],
    want: ['0 post 0 a', '1 post 1 p', '10 update 0 b', '30 update 0 c', '31 update 1 q'],
  },
  'sends first the page that was sent least lately': {
    wants: [
      [0, { pages: [shown('p'), shown('q')] }],
      [20, { pages: [shown('r'), shown('q')] }],
      [40, { pages: [shown('s'), shown('t')] }],
    ],
    want: [
      '0 post 0 summary',
      '1 post 1 p',
      '2 post 2 q',
      '20 update 1 r',
      '40 update 2 t',
      '41 update 1 s',
    ],
  },
  'does not let wait any more what waited when the phase changed': {
    wants: [
      [0, text('a')],
      [1, text('b')],
      [2, { ...text('b'), phase: 'Paused' }],
    ],
    want: ['0 post 0 a', '2 update 0 b'],
  },
  'keeps the hurry of a phase for content that follows': {
    wants: [
      [0, text('a')],
      [0.2, { ...text('b'), phase: 'Paused' }],
      [0.4, { ...text('c'), phase: 'Paused' }],
    ],
    want: ['0 post 0 a', '1 update 0 c'],
  },
  'is in no hurry where a phase has brought nothing new': {
    wants: [
      [0, text('a')],
      [1, text('b')],
      [2, { ...text('a'), phase: 'Paused' }],
      [3, { ...text('c'), phase: 'Paused' }],
    ],
    want: ['0 post 0 a', '5 update 0 c'],
  },
  'gives up after 10 minutes also what waited before the end (C-13)': {
    wants: [
      [0, text('a')],
      [10, { ...text('a'), phase: 'RolloutDone' }],
    ],
    answer: () => ({ kind: 'rate-limited', retryAfter: seconds(400) }),
    until: 3_600,
    want: ['0 post 0 a', '400 post 0 a'],
  },
  'waits no longer than an hour, whatever Slack says': {
    wants: [[0, text('a')]],
    answer: (_, at) => (at === 0 ? { kind: 'rate-limited', retryAfter: seconds(1e9) } : undefined),
    until: 10_000,
    want: ['0 post 0 a', '3600 post 0 a'],
  },
  'tries each content ten times, and waits on where the last one was': {
    wants: [
      [0, text('a')],
      [300, text('b')],
    ],
    answer: () => ({ kind: 'unreachable', message: 'down' }),
    until: 5_000,
    want: [
      ...[0, 1, 3, 7, 15, 31, 63, 127, 255].map((at) => `${at} post 0 a`),
      ...Array.from({ length: 10 }, (_, at) => `${511 + at * 300} post 0 b`),
    ],
  },
  'begins with short waits again after a success': {
    wants: [
      [0, text('a')],
      [10, text('b')],
    ],
    answer: refusing('fatal_error', 1, 2, 4),
    want: ['0 post 0 a', '1 post 0 a', '3 post 0 a', '10 update 0 b', '11 update 0 b'],
  },
  'reads a token again each time that it has become bad (C-15)': {
    wants: [
      [0, text('a')],
      [10, text('b')],
    ],
    answer: refusing('invalid_auth', 1, 3),
    want: ['0 post 0 a', '1 post 0 a', '10 update 0 b', '11 update 0 b'],
  },
  'posts the summary again where nothing can be put below it': {
    wants: [[0, { pages: [shown('p')] }]],
    answer: refusing('thread_not_found', 2),
    want: ['0 post 0 summary', '1 post 1 p', '2 post 0 summary', '3 post 1 p'],
  },
  'sends no more pages once the level is info (C-14)': {
    wants: [
      [0, { pages: [shown('p')] }],
      [3, { pages: [shown('q')] }],
      [4, { level: 'info', pages: [shown('q')] }],
    ],
    want: ['0 post 0 summary', '1 post 1 p'],
  },
  'tells of a failure also where it is over before it could be reported (C-14)': {
    wants: [
      [0, { level: 'error', ...text('a'), isAlarm: true }],
      [10, { level: 'error', ...text('b') }],
    ],
    answer: (_, at) => (at === 0 ? { kind: 'rate-limited', retryAfter: undefined } : undefined),
    want: ['0 post 0 a', '30 post 0 b'],
  },
  'posts again with the token of somebody else': {
    wants: [
      [0, text('a')],
      [10, { ...text('b'), account: 'team-b' }],
    ],
    want: ['0 post 0 a', '10 post 0 b'],
  },
};

describe('planSending()', () => {
  for (const [name, { wants, answer, until = 60, want }] of Object.entries(cases)) {
    test(name, () => {
      const play = new OutboxPlay();
      if (answer !== undefined) play.answer = answer;
      for (const [at, about] of wants) {
        if (at * 1_000 > play.now) play.runTo(at * 1_000);
        play.want(about);
      }
      play.runTo(until * 1_000);
      assert.deepEqual(play.log, want);
    });
  }
});

test('planSending() updates by the id that the post was answered with [T-74]', () => {
  const play = new OutboxPlay();
  play.want(text('a'));
  play.runTo(5_000);
  play.want(text('b'));
  play.runTo(10_000);
  assert.deepEqual(
    play.calls.map(({ call }) => call.channel),
    ['#deploys', 'C0000001'],
  );
});

test('planSending() says whose message it posts, and below which one (C-18)', () => {
  const play = new OutboxPlay();
  play.want({ pages: [shown('p')] });
  play.runTo(5_000);
  const [first, second] = play.calls.map(({ call }) => call);
  assert.deepEqual(first?.kind === 'post' && first.metadata, { uid: 'uid-1', key: 'key-1' });
  assert.equal(second?.kind === 'post' && second.threadTs, 'ts-0');
});

/** The call that is made at `at`, and the outbox while it is under way. */
function underWay(outbox: Outbox, at: number): Extract<OutboxStep, { kind: 'call' }> {
  const step = planSending(outbox, monotonic(at));
  assert.ok(step.kind === 'call');
  return step;
}

test('planSending() makes no second call of a rollout while one is under way', () => {
  const wanted = wantedThread({ pages: [shown('p')] });
  const { call, outbox } = underWay(want(emptyOutbox, wanted, monotonic(0)), 0);
  assert.equal(planSending(outbox, monotonic(5_000)).kind, 'idle');
  const result = { kind: 'unreachable', message: 'down' } as const;
  const after = settle(outbox, { call, result }, monotonic(5_000));
  assert.equal(planSending(after, monotonic(6_000)).kind, 'call');
});

test('settle() takes no answer for a channel that the rollout has left', () => {
  const { call, outbox } = underWay(want(emptyOutbox, wantedThread(), monotonic(0)), 0);
  const moved = want(outbox, wantedThread({ channel: '#other' }), monotonic(100));
  const result = { kind: 'ok', channel: 'C0000001', ts: '1.5' } as const;
  const after = settle(moved, { call, result }, monotonic(200));
  const next = underWay(after, 2_000).call;
  assert.deepEqual([next.kind, next.channel], ['post', '#other']);
});

test('settle() sends newer content with blocks, though those of the older were not taken', () => {
  const wanted = (line: string): WantedThread =>
    wantedThread({ summary: contentOf({ text: line, blocks: [section([line])] }) });
  const { call, outbox } = underWay(want(emptyOutbox, wanted('a'), monotonic(0)), 0);
  const newer = want(outbox, wanted('b'), monotonic(100));
  const result = { kind: 'refused', error: 'invalid_blocks' } as const;
  const after = settle(newer, { call, result }, monotonic(200));
  assert.equal(underWay(after, 2_000).call.message.blocks.length, 1);
});

test('settle() tells of another rollout once the post is there that was under way (C-4)', () => {
  const { call, outbox } = underWay(want(emptyOutbox, wantedThread(), monotonic(0)), 0);
  const followed = want(outbox, wantedThread({ key: 'key-2', level: 'error' }), monotonic(100));
  const result = { kind: 'ok', channel: 'C0000001', ts: '1.5' } as const;
  const after = settle(followed, { call, result }, monotonic(200));
  const next = underWay(after, 2_000).call;
  assert.deepEqual([next.kind, next.message.text], ['update', 'Superseded: summary']);
});

test('settle() posts nothing about a rollout that was followed before its post failed', () => {
  const { call, outbox } = underWay(want(emptyOutbox, wantedThread(), monotonic(0)), 0);
  const followed = want(outbox, wantedThread({ key: 'key-2', level: 'error' }), monotonic(100));
  const result = { kind: 'unreachable', message: 'down' } as const;
  const after = settle(followed, { call, result }, monotonic(200));
  const step = planSending(after, monotonic(60_000));
  assert.equal(step.kind, 'idle');
  assert.deepEqual([...step.outbox.threads.keys()], ['uid-1|key-2']);
});

test('planSending() changes ten messages at once, then 40 a minute, whatever their channels (C-10)', () => {
  const play = new OutboxPlay();
  play.answer = (call) => {
    const ts = call.kind === 'update' ? call.ts : `ts ${call.channel}`;
    return { kind: 'ok', channel: call.channel.replace('#', 'C'), ts };
  };
  const channels = Array.from({ length: 60 }, (_, at) => `#channel-${at}`);
  const wantAll = (value: string): void => {
    for (const channel of channels) play.want({ uid: channel, channel, ...text(value) });
  };
  wantAll('a');
  play.runTo(10_000);
  wantAll('b');
  play.runTo(200_000);
  const times = play.calls.map(({ at }) => at);
  assert.deepEqual(times.slice(0, 60), Array(60).fill(0));
  const changes = Array.from({ length: 50 }, (_, at) => 10_000 + (at + 1) * 1_500);
  assert.deepEqual(times.slice(60), [...Array<number>(10).fill(10_000), ...changes]);
  play.want({ uid: channels[0] ?? '', channel: channels[0] ?? '', ...text('c') });
  play.runTo(201_000);
  assert.equal(play.outbox.rates.channels.size, 1);
});

test('dropDeleted() sends the summary yet, and nothing else (C-21)', () => {
  const play = new OutboxPlay();
  play.want({ pages: [shown('p')] });
  play.runTo(5_000);
  play.want({ ...text('end'), pages: [shown('q')], phase: 'Deleting' });
  play.drop();
  play.runTo(60_000);
  assert.deepEqual(play.log, ['0 post 0 summary', '1 post 1 p', '5 update 0 end']);
  assert.equal(play.outbox.threads.size, 0);
});

test('dropDeleted() waits no longer than a minute (B-83)', () => {
  const play = new OutboxPlay();
  play.answer = () => ({ kind: 'unreachable', message: 'down' });
  play.want();
  play.drop();
  play.runTo(59_000);
  assert.equal(play.outbox.threads.size, 1);
  play.runTo(60_001);
  assert.equal(play.outbox.threads.size, 0);
});

test('formatThread() stores what readStoredThread() reads (A-92)', () => {
  const play = new OutboxPlay();
  play.want({ pages: [shown('p'), shown('q')] });
  play.runTo(60_000);
  const [thread] = [...play.outbox.threads.values()];
  assert.ok(thread);
  const stored = formatThread(thread, instant(Date.UTC(2026, 10, 25)));
  assert.deepEqual(stored, {
    key: 'key-1',
    channel: 'C0000001',
    ts: 'ts-0',
    hash: shown('summary').hash,
    pages: [
      { index: 1, ts: 'ts-1', hash: shown('p').hash },
      { index: 2, ts: 'ts-2', hash: shown('q').hash },
    ],
    lastSent: '2026-11-25T00:00:00Z',
  });
  const { lastSent: _at, ...rest } = stored;
  assert.deepEqual(readStoredThread(stored), rest);
});

test('formatThread() stores why nothing was sent, and nothing where nothing was tried', () => {
  const play = new OutboxPlay();
  play.answer = () => ({ kind: 'refused', error: 'channel_not_found' });
  play.want();
  const [before] = [...play.outbox.threads.values()];
  assert.equal(before && formatThread(before, undefined), undefined);
  play.runTo(1_000);
  const [thread] = [...play.outbox.threads.values()];
  assert.ok(thread?.isStopped);
  assert.deepEqual(formatThread(thread, undefined), { key: 'key-1', error: 'channel_not_found' });
});

test('readStoredThread() reads nothing where no summary stands', () => {
  assert.equal(readStoredThread({}), undefined);
  assert.equal(readStoredThread({ channel: 'C1', ts: 4 }), undefined);
  assert.deepEqual(
    readStoredThread({ channel: 'C1', ts: '1.5', pages: [{ index: 0, ts: '1' }, 4] }),
    {
      key: '',
      channel: 'C1',
      ts: '1.5',
      hash: '',
      pages: [],
    },
  );
});

/** Calls about one channel are a second apart, and no token changes more than 50 messages in a minute. */
function assertRates({ calls }: OutboxPlay): void {
  const times = calls.map(({ at }) => at);
  for (const [at, time] of times.entries()) {
    assert.ok(at === 0 || time - (times[at - 1] ?? 0) >= 1_000, `two calls at ${time}`);
  }
  const updates = calls.filter(({ call }) => call.kind === 'update').map(({ at }) => at);
  for (const start of updates) {
    assert.ok(updates.filter((at) => at >= start && at < start + 60_000).length <= 50);
  }
}

test('a rollout of 1,000 pods, 100 at a time, makes 21 messages that end true [T-71] (F-5)', () => {
  const play = new OutboxPlay();
  const pagesAt = (done: number): WantedThread['pages'] => {
    const pods = Array.from({ length: 1_000 }, (_, ordinal) => {
      if (ordinal >= 1_000 - done) return donePod(ordinal);
      return podNews(ordinal, { isRotated: ordinal >= 900 - done });
    });
    return pageContents('web', pods);
  };
  for (let done = 0; done < 1_000; done += 20) {
    const phase = done % 40 === 0 ? 'RollingOut' : 'WaitingForReady';
    play.want({ ...text(`${done} done`), pages: pagesAt(done), phase });
    play.runTo(play.now + 10_000);
  }
  const pages = pagesAt(1_000);
  play.want({ ...text('all done'), pages, phase: 'RolloutDone' });
  play.runTo(play.now + 120_000);
  assertRates(play);
  assert.equal(play.calls.filter(({ call }) => call.kind === 'post').length, 21);
  const want = ['all done', ...pages.map((page) => page.text)];
  assert.deepEqual([...play.messages.values()].sort(), want.sort());
});

test('whatever is wanted, and however Slack answers, the newest is shown in the end', () => {
  const results = [
    'ok',
    'ok',
    'ok',
    'ratelimited',
    'message_not_found',
    'invalid_blocks',
    'internal_error',
  ];
  const step = fc.record({
    after: fc.integer({ min: 0, max: 20_000 }),
    uid: fc.constantFrom('uid-1', 'uid-2', 'uid-3'),
    phase: fc.constantFrom('RollingOut', 'Paused', 'WaitingForReady'),
    pages: fc.array(fc.constantFrom('p', 'q', 'r'), { maxLength: 3 }),
    summary: fc.string({ minLength: 1, maxLength: 2 }),
  } as const);
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 20 }),
      fc.array(fc.constantFrom(...results), { maxLength: 30 }),
      (steps, answers) => {
        const play = new OutboxPlay();
        const left = [...answers];
        play.answer = () => {
          const error = left.shift() ?? 'ok';
          return error === 'ok' ? undefined : { kind: 'refused', error };
        };
        for (const { after, summary, pages, ...about } of steps) {
          play.want({ ...about, summary: shown(summary), pages: pages.map(shown) });
          play.runTo(play.now + after);
        }
        left.length = 0;
        const newest = new Map(steps.map((each) => [each.uid, each]));
        for (const { uid, phase, pages } of newest.values()) {
          play.want({ uid, phase, summary: shown(`end of ${uid}`), pages: pages.map(shown) });
        }
        play.runTo(play.now + 3_600_000);
        assertRates(play);
        for (const [uid] of newest) {
          assert.ok([...play.messages.values()].includes(`end of ${uid}`));
          const thread = play.outbox.threads.get(`${uid}|key-1`);
          const pending = [...(thread?.slots.values() ?? [])].filter(
            ({ content, sentHash, givenUpHash }) =>
              content !== undefined && content.hash !== sentHash && content.hash !== givenUpHash,
          );
          assert.deepEqual(pending, []);
        }
      },
    ),
    { numRuns: 200 },
  );
});
