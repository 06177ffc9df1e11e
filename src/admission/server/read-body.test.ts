import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { BodyRoom, maxBody, type ReadBody, readBody } from './read-body.ts';

function roomOf(size: number, clock = new FakeClock()): BodyRoom {
  return new BodyRoom(size, clock);
}

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
  const room = roomOf(10);
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
    const room = roomOf(maxBody);
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
    reading(request, roomOf(2 * maxBody), resolve);
    request.end(Buffer.alloc(maxBody, 0x20));
    const read = await promise;
    assert.equal(read.kind === 'whole' ? read.body.length : read.kind, maxBody);
  });
}

test('readBody() does not begin with a body that is stated to be too long', () => {
  const request = requestOf({ 'content-length': String(maxBody + 1) });
  assert.deepEqual(reading(request, roomOf(10)).reads, [{ kind: 'too-long' }]);
  assert.equal(request.listenerCount('data'), 0);
});

test('readBody() stops at what there is no room for, and gives back what it had', async () => {
  const room = roomOf(4);
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
  const room = roomOf(10);
  const request = requestOf();
  const told = reading(request, room);
  request.write('abc');
  request.destroy(new Error('gone'));
  await new Promise((resolve) => request.on('close', resolve));
  assert.deepEqual(told, { reads: [{ kind: 'broken' }], failures: [] });
  assert.equal(room.held, 0);
});

test('readBody() tells of what its reader throws, and gives the room back', async () => {
  const room = roomOf(10);
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

/** The end of what was sent to a request so far is read. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('BodyRoom leaves a quarter to bodies of at most 256 KiB', async () => {
  const size = 1_024 * 1_024;
  const room = roomOf(size);
  const [long, short] = [requestOf(), requestOf()];
  const used = Promise.withResolvers<void>();
  const [first, second] = [reading(long, room), reading(short, room, () => used.resolve())];
  long.write(Buffer.alloc(0.75 * size));
  await settled();
  long.write('x');
  short.end(Buffer.alloc(0.25 * size));
  await used.promise;
  assert.deepEqual(first.reads, [{ kind: 'no-room' }]);
  assert.deepEqual(
    second.reads.map(({ kind }) => kind),
    ['whole'],
  );
  assert.equal(room.held, 0);
});

test('BodyRoom drops a body of which too little came for a second, but only where room is short', async () => {
  const clock = new FakeClock();
  const room = roomOf(200_000, clock);
  const [idle, busy, next] = [requestOf(), requestOf(), requestOf()];
  const told = [idle, busy, next].map((request) => reading(request, room));
  idle.write(Buffer.alloc(80_000));
  busy.write(Buffer.alloc(10_000));
  await clock.advance(999);
  idle.write('x');
  busy.write(Buffer.alloc(70_000));
  await clock.advance(1);
  assert.deepEqual(
    told.flatMap(({ reads }) => reads),
    [],
  );
  next.write(Buffer.alloc(50_000));
  await clock.settle();
  assert.deepEqual(
    told.map(({ reads }) => reads.map(({ kind }) => kind)),
    [['too-slow'], [], []],
  );
  assert.equal(room.held, 130_000);
  next.write(Buffer.alloc(100_000));
  await clock.settle();
  assert.deepEqual(told[2]?.reads, [{ kind: 'no-room' }]);
});

test('BodyRoom forgets bodies that are read, refused or broken off', async () => {
  const bodies = new Set<unknown>();
  class WatchedRoom extends BodyRoom {
    override add(body: Parameters<BodyRoom['add']>[0]): void {
      bodies.add(body);
      super.add(body);
    }
    override remove(body: Parameters<BodyRoom['remove']>[0]): void {
      bodies.delete(body);
      super.remove(body);
    }
  }
  const room = new WatchedRoom(10, new FakeClock());
  const ends: readonly ((request: PassThrough) => void)[] = [
    (request) => request.end('abc'),
    (request) => request.write('much too long for it'),
    (request) => request.destroy(),
  ];
  for (const end of ends) {
    const request = requestOf();
    const told = reading(request, room);
    assert.equal(bodies.size, 1);
    end(request);
    await new Promise(setImmediate);
    assert.equal(told.reads.length, 1);
    assert.equal(bodies.size, 0);
  }
  reading(requestOf({ 'content-length': String(maxBody + 1) }), room);
  assert.equal(bodies.size, 0);
});
