import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { BodyRoom, maxBody, type ReadBody, readBody } from './read-body.ts';

/** A request as far as its body goes. */
function requestOf(headers: Readonly<Record<string, string>> = {}): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), { headers }) as unknown as PassThrough & IncomingMessage;
}

interface Told {
  readonly reads: ReadBody[];
  readonly failures: unknown[];
}

function reading(
  request: IncomingMessage,
  room: BodyRoom,
  use: (read: ReadBody) => void = () => undefined,
): Told {
  const told: Told = { reads: [], failures: [] };
  readBody(request, room, {
    use: (read) => {
      told.reads.push(read);
      return use(read);
    },
    failed: (error) => void told.failures.push(error),
  });
  return told;
}

test('readBody() reads a body that comes in pieces, and gives its room back', async () => {
  const room = new BodyRoom(10);
  const request = requestOf();
  const told = reading(request, room, () => assert.equal(room.held, 5));
  request.write('abc');
  request.end('de');
  await once(request, 'close');
  assert.deepEqual(told, { reads: [{ kind: 'whole', body: Buffer.from('abcde') }], failures: [] });
  assert.equal(room.held, 0);
});

for (const stated of [undefined, '600000', '10', 'x']) {
  test(`readBody() reads a long body whose length is stated as ${stated}`, async () => {
    const room = new BodyRoom(maxBody);
    const request = requestOf(stated === undefined ? {} : { 'content-length': stated });
    const told = reading(request, room);
    const pieces = Array.from({ length: 60 }, (_, at) => Buffer.alloc(10_000, at));
    for (const piece of pieces) request.write(piece);
    request.end();
    await once(request, 'close');
    assert.deepEqual(told.reads, [{ kind: 'whole', body: Buffer.concat(pieces) }]);
  });
}

for (const isStated of [true, false]) {
  test(`readBody() takes a body of exactly the most, its length ${isStated ? '' : 'not '}stated`, async () => {
    const request = requestOf(isStated ? { 'content-length': String(maxBody) } : {});
    const { promise, resolve } = Promise.withResolvers<ReadBody>();
    reading(request, new BodyRoom(2 * maxBody), resolve);
    request.end(Buffer.alloc(maxBody, 0x20));
    const read = await promise;
    assert.equal(read.kind === 'whole' ? read.body.length : read.kind, maxBody);
  });
}

test('readBody() does not begin with a body that is stated to be too long', () => {
  const request = requestOf({ 'content-length': String(maxBody + 1) });
  assert.deepEqual(reading(request, new BodyRoom(10)).reads, [{ kind: 'too-long' }]);
  assert.equal(request.listenerCount('data'), 0);
});

test('readBody() stops at what there is no room for, and gives back what it had', async () => {
  const room = new BodyRoom(4);
  const request = requestOf();
  const used = Promise.withResolvers<void>();
  const told = reading(request, room, () => used.resolve());
  request.write('abc');
  request.write('de');
  await used.promise;
  assert.deepEqual(told.reads, [{ kind: 'no-room' }]);
  assert.equal(room.held, 0);
});

test('readBody() tells once of a sender that goes away', async () => {
  const room = new BodyRoom(10);
  const request = requestOf();
  const told = reading(request, room);
  request.write('abc');
  request.destroy(new Error('gone'));
  await new Promise((resolve) => request.on('close', resolve));
  assert.deepEqual(told, { reads: [{ kind: 'broken' }], failures: [] });
  assert.equal(room.held, 0);
});

test('readBody() tells of what its reader throws, and gives the room back', async () => {
  const room = new BodyRoom(10);
  const fault = new Error('a bug');
  const request = requestOf();
  const told = reading(request, room, () => {
    throw fault;
  });
  request.end('abc');
  await once(request, 'close');
  assert.deepEqual(told.failures, [fault]);
  assert.equal(room.held, 0);
});
