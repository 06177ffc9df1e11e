import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { RawServer } from '#support/pods/raw-server.ts';
import { type HopAnswer, type RoundTripContext, roundTrip } from './pod-round-trip.ts';
import type { Hop } from './redirect.ts';

function hopTo(url: URL): Hop {
  return { method: 'POST', url, host: url.host };
}

function contextOf(parts: Partial<RoundTripContext> = {}): RoundTripContext {
  return {
    headers: {},
    proxy: undefined,
    maxBody: 64,
    ending: new AbortController().signal,
    ...parts,
  };
}

/** Sends a request to a server that says just `says`; the connection is gone, with both, when this resolves. */
function answerTo(says: string, ending: 'ends' | 'waits'): Promise<HopAnswer> {
  return answerOf(new RawServer(says, ending));
}

async function answerOf(server: RawServer): Promise<HopAnswer> {
  const answer = roundTrip(hopTo(await server.listen()), contextOf());
  // With the connection gone, no answer would come any more.
  const first = await Promise.race([answer, server.left()]);
  await server.quiet();
  assert.ok(first !== undefined, 'the connection ended without an answer');
  return first;
}

function ok(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

const closedEarly = 'the connection was closed before the whole answer';
const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\n\r\n';

const whole: Record<string, readonly [says: string, status: number, body: string]> = {
  'a body of the length that was stated': [ok('done'), 200, 'done'],
  'a body in chunks, with a trailer': [`${chunked}4\r\ndone\r\n0\r\nx: y\r\n\r\n`, 200, 'done'],
  'no body after 204, whatever length is stated': [
    'HTTP/1.1 204 No Content\r\ncontent-length: 4\r\n\r\ndone',
    204,
    '',
  ],
  'what was stated, with more bytes behind it': [`${ok('done')}more`, 200, 'done'],
  'the first answer, with a second one behind it': [ok('done') + ok('more'), 200, 'done'],
  'the answer after 100 and 103': [
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${ok('done')}`,
    200,
    'done',
  ],
  'an answer that offers an upgrade': [
    `HTTP/1.1 426 Upgrade Required\r\ncontent-length: 2\r\n${upgrade}no`,
    426,
    'no',
  ],
  'a body of just the longest length': [ok('x'.repeat(64)), 200, 'x'.repeat(64)],
};

for (const [title, [says, status, body]] of Object.entries(whole)) {
  test(`roundTrip() takes ${title}, and ends the connection itself`, async () => {
    const answer = await answerTo(says, 'waits');
    assert.deepEqual(answer, { kind: 'answered', status, location: '', contentType: '', body });
  });
}

test('roundTrip() reads a body without length to the end of the connection', async () => {
  const answer = await answerTo('HTTP/1.1 200 OK\r\n\r\ndone', 'ends');
  assert.deepEqual(answer.kind === 'answered' && answer.body, 'done');
});

const broken: Record<string, readonly [says: string, why: string]> = {
  'ends without a byte': ['', closedEarly],
  'ends within its head': ['HTTP/1.1 200 OK\r\ncontent-', closedEarly],
  'ends within a body of stated length': [ok('done').slice(0, -1), closedEarly],
  'ends before the last chunk': [`${chunked}4\r\ndone\r\n`, closedEarly],
  'ends after 103': ['HTTP/1.1 103 Early Hints\r\n\r\n', closedEarly],
};

for (const [title, [says, why]] of Object.entries(broken)) {
  test(`roundTrip() says "broken" when the answer ${title}`, async () => {
    assert.deepEqual(await answerTo(says, 'ends'), { kind: 'broken', why, isSent: true });
  });
}

const refused: Record<string, readonly [says: string, why: string]> = {
  'an upgrade': [
    `HTTP/1.1 101 Switching Protocols\r\n${upgrade}bytes`,
    'it answers 101, which is no final status',
  ],
  '101 without an upgrade': [
    'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    'it answers 101, which is no final status',
  ],
  'a status below 100': ['HTTP/1.1 050 Odd\r\n\r\n', 'it answers 50, which is no final status'],
  'another protocol': [
    '220 mail.test ESMTP\r\n',
    'the answer is not valid HTTP/1.1: Expected HTTP/, RTSP/ or ICE/',
  ],
  'a header with a control character': [
    'HTTP/1.1 200 OK\r\nx: a\u0001b\r\n\r\n',
    'the answer is not valid HTTP/1.1: Invalid header value char',
  ],
  'a header with a line break that is none': [
    'HTTP/1.1 200 OK\r\nx: a\rcontent-length: 0\r\n\r\n',
    'the answer is not valid HTTP/1.1: Missing expected LF after header value',
  ],
  'two lengths': [
    'HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 2\r\n\r\ndone',
    'the answer is not valid HTTP/1.1: Duplicate Content-Length',
  ],
  'a length besides chunks': [
    `${chunked.slice(0, -2)}content-length: 4\r\n\r\n4\r\ndone\r\n0\r\n\r\n`,
    "the answer is not valid HTTP/1.1: Content-Length can't be present with Transfer-Encoding",
  ],
  'a head of more than 16 KiB': [
    `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(17_000)}\r\n\r\n`,
    'the answer is not valid HTTP/1.1: Header overflow',
  ],
};

for (const [title, [says, why]] of Object.entries(refused)) {
  test(`roundTrip() takes ${title} for no answer, and ends the connection itself`, async () => {
    assert.deepEqual(await answerTo(says, 'waits'), { kind: 'broken', why, isSent: true });
  });
}

test('roundTrip() ends the connection when more comes than is read', async () => {
  const answer = await answerTo(ok('x'.repeat(65)), 'waits');
  assert.deepEqual(answer, {
    kind: 'too-large',
    why: 'the answer is longer than 64 bytes',
    isSent: true,
  });
});

test('roundTrip() sends the whole request with the end of the connection announced', async () => {
  const server = new RawServer(ok(''), 'waits');
  const url = new URL('/prepare?x=1', await server.listen());
  await roundTrip(hopTo(url), contextOf({ headers: { 'x-cluster': 'test' } }));
  await server.quiet();
  assert.deepEqual(server.heard[0]?.toLowerCase().split('\r\n'), [
    'post /prepare?x=1 http/1.1',
    `host: ${url.host}`,
    'x-cluster: test',
    'connection: close',
    'content-length: 0',
    '',
    '',
  ]);
});

test('roundTrip() sends nothing with a header that would be two', async () => {
  const server = new RawServer(ok(''), 'waits');
  const headers = { 'x-cluster': 'test\r\nx-more: 1' };
  const answer = await roundTrip(hopTo(await server.listen()), contextOf({ headers }));
  await server.quiet();
  assert.deepEqual(answer, {
    kind: 'unreachable',
    why: 'Invalid character in header content ["x-cluster"]',
    isSent: false,
  });
  assert.deepEqual(server.heard, []);
});

test('roundTrip() sends nothing over a connection that is lost as soon as it is made', async () => {
  const server = new RawServer(ok(''), 'waits');
  const lose = (message: unknown): void => {
    assert.ok(typeof message === 'object' && message !== null && 'socket' in message);
    const { socket } = message;
    assert.ok(socket instanceof Socket);
    socket.once('connect', () => socket.destroy());
  };
  subscribe('net.client.socket', lose);
  try {
    const why = 'the connection was closed before it could be used';
    assert.deepEqual(await answerOf(server), { kind: 'unreachable', why, isSent: false });
  } finally {
    unsubscribe('net.client.socket', lose);
  }
  assert.deepEqual(server.heard, []);
});

const halfAnswers: Record<string, string> = {
  'before a byte of the answer': '',
  'within the head': 'HTTP/1.1 200 OK\r\ncontent-',
  'within the body': ok('done').slice(0, -1),
};

for (const [title, says] of Object.entries(halfAnswers)) {
  test(`roundTrip() ends the connection when it is given up ${title}`, async () => {
    const server = new RawServer(says, 'waits');
    const ending = new AbortController();
    const hop = hopTo(await server.listen());
    const answer = roundTrip(hop, contextOf({ ending: ending.signal }));
    await server.said();
    ending.abort('timed-out');
    assert.deepEqual(await answer, { kind: 'timed-out', why: '', isSent: true });
    await server.quiet();
  });
}

test('roundTrip() leaves nothing open when it is given up while it connects', async () => {
  const server = new RawServer(ok(''), 'waits');
  const address = await server.listen();
  for (const url of [address, new URL('http://pod.invalid'), new URL(`https://${address.host}`)]) {
    const ending = new AbortController();
    const answer = roundTrip(hopTo(url), contextOf({ ending: ending.signal }));
    ending.abort('aborted');
    assert.deepEqual(await answer, { kind: 'aborted', why: '', isSent: false });
  }
  await server.quiet();
  assert.deepEqual(server.heard, []);
});
