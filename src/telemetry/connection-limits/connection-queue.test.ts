import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { millis, seconds } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { ConnectionQueue } from './connection-queue.ts';

const apiServer = '10.0.0.1';
const stranger = '10.0.0.2';

/** A connection as far as a queue goes. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  readonly remotePort: number;
  bytesRead = 0;
  destroyed = false;

  constructor(remotePort: number, remoteAddress: string) {
    super();
    this.remotePort = remotePort;
    this.remoteAddress = remoteAddress;
  }

  asSocket(): Socket {
    return this as unknown as Socket;
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

/** A queue of two places, in which two wait at once, and what became of its connections. */
class Bed {
  readonly clock = new FakeClock();
  readonly queue = new ConnectionQueue({ clock: this.clock, most: 2, mostWaiting: 2 });
  /** Ports of connections that were begun, in order. */
  readonly begun: number[] = [];
  readonly #sockets = new Map<number, FakeSocket>();

  /** A connection comes. */
  come(port: number, address = apiServer): void {
    const socket = new FakeSocket(port, address);
    this.#sockets.set(port, socket);
    this.queue.add(socket.asSocket(), () => {
      this.begun.push(port);
    });
  }

  /** It says hello. */
  greet(...ports: readonly number[]): void {
    for (const port of ports) this.socket(port).bytesRead = 500;
  }

  /** It asks. @returns how it is answered, and whether it is to end then */
  ask(port: number): { readonly answer: () => void; readonly yields: () => boolean } {
    const incoming = Object.assign(new EventEmitter(), { socket: this.socket(port) });
    const outgoing = new EventEmitter();
    const request = incoming as unknown as IncomingMessage;
    this.greet(port);
    this.queue.noteRequest(request, outgoing as unknown as ServerResponse);
    incoming.emit('end');
    return {
      answer: () => void outgoing.emit('close'),
      yields: () => this.queue.isToYield(request),
    };
  }

  socket(port: number): FakeSocket {
    const socket = this.#sockets.get(port);
    assert.ok(socket !== undefined);
    return socket;
  }

  /** Ports of connections that were ended. */
  ended(): readonly number[] {
    return [...this.#sockets].flatMap(([port, { destroyed }]) => (destroyed ? [port] : []));
  }
}

/** Two connections that are being answered. */
function busy(): Bed {
  const bed = new Bed();
  for (const port of [1, 2]) {
    bed.come(port);
    bed.ask(port);
  }
  return bed;
}

test('ConnectionQueue has a connection wait while all are being answered, and begins it when one has left', async () => {
  const bed = busy();
  bed.come(3);
  await bed.clock.advance(seconds(60));
  assert.deepEqual([bed.begun, bed.ended()], [[1, 2], []]);
  bed.socket(1).destroy();
  assert.deepEqual(bed.begun, [1, 2, 3]);
});

test('ConnectionQueue begins those who wait in the order in which they came', () => {
  const bed = busy();
  bed.come(3);
  bed.come(4);
  bed.socket(1).destroy();
  assert.deepEqual(bed.begun, [1, 2, 3]);
  bed.socket(2).destroy();
  assert.deepEqual(bed.begun, [1, 2, 3, 4]);
});

test('ConnectionQueue does not begin a connection that has left while it waited', () => {
  const bed = busy();
  bed.come(3);
  bed.come(4);
  bed.socket(3).destroy();
  bed.socket(1).destroy();
  assert.deepEqual(bed.begun, [1, 2, 4]);
});

const graces: Readonly<Record<string, readonly [(bed: Bed) => void, milliseconds: number]>> = {
  'says nothing': [() => undefined, 500],
  'says hello and no more [found X-8]': [(bed) => bed.greet(1, 2), 500],
  'was answered, and asks no more': [
    (bed) => {
      for (const port of [1, 2]) bed.ask(port).answer();
    },
    1_000,
  ],
};
for (const [what, [before, span]] of Object.entries(graces)) {
  test(`ConnectionQueue ends a connection that ${what} after ${span} ms, for one that waits`, async () => {
    const bed = new Bed();
    bed.come(1);
    bed.come(2);
    before(bed);
    bed.come(3);
    await bed.clock.advance(span - 1);
    assert.deepEqual([bed.begun, bed.ended()], [[1, 2], []]);
    await bed.clock.advance(1);
    assert.deepEqual([bed.begun, bed.ended()], [[1, 2, 3], [1]]);
  });
}

test('ConnectionQueue ends a connection that goes on agreeing on TLS after 3 s, for one that waits', async () => {
  const bed = new Bed();
  for (const port of [1, 2, 3]) bed.come(port);
  for (let at = 0; at < 2_800; at += 400) {
    for (const port of [1, 2]) bed.socket(port).bytesRead += 1;
    await bed.clock.advance(millis(400));
  }
  await bed.clock.advance(millis(199));
  assert.deepEqual([bed.begun, bed.ended()], [[1, 2], []]);
  await bed.clock.advance(millis(1));
  assert.deepEqual([bed.begun, bed.ended()], [[1, 2, 3], [1]]);
});

test('ConnectionQueue ends a connection at once of the address that has most, for one of another address', () => {
  const bed = new Bed();
  bed.come(1, stranger);
  bed.come(2, stranger);
  bed.greet(1, 2);
  bed.come(3, apiServer);
  assert.deepEqual([bed.begun, bed.ended()], [[1, 2, 3], [1]]);
  bed.come(4, stranger);
  assert.deepEqual(bed.begun, [1, 2, 3]);
});

test('ConnectionQueue serves first whose address has the fewest places', () => {
  const bed = busy();
  bed.come(3, apiServer);
  bed.come(4, stranger);
  bed.socket(1).destroy();
  assert.deepEqual(bed.begun, [1, 2, 4]);
});

test('ConnectionQueue ends the one that waits longest of the address of which most wait, where too many do', () => {
  const bed = busy();
  bed.come(3, stranger);
  bed.come(4, stranger);
  bed.come(5, apiServer);
  assert.deepEqual(bed.ended(), [3]);
});

test('ConnectionQueue has a connection yield after two seconds, while others wait', async () => {
  const bed = new Bed();
  bed.come(1);
  bed.come(2);
  const { yields } = bed.ask(1);
  bed.ask(2);
  await bed.clock.advance(seconds(2));
  assert.equal(yields(), false);
  bed.come(3);
  assert.equal(yields(), true);
  const early = busy();
  early.come(3);
  await early.clock.advance(seconds(2) - 1);
  assert.equal(early.ask(1).yields(), false);
});

test('ConnectionQueue ends all that wait with those that were silent', () => {
  const bed = new Bed();
  for (const port of [1, 2, 3, 4]) bed.come(port);
  bed.greet(1);
  bed.queue.endSilent();
  assert.ok(!bed.ended().includes(1));
  for (const port of [2, 3, 4]) assert.ok(bed.ended().includes(port), String(port));
});
