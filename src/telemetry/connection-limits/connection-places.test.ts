import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { ConnectionPlaces } from './connection-places.ts';

/** A connection as far as its places go. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress = '10.0.0.1';
  readonly remotePort: number | undefined;
  isEnded = false;

  constructor(remotePort: number | undefined) {
    super();
    this.remotePort = remotePort;
  }

  asSocket(): Socket {
    return this as unknown as Socket;
  }

  destroy(): void {
    this.isEnded = true;
  }
}

interface Held {
  readonly places: ConnectionPlaces;
  readonly sockets: readonly FakeSocket[];
}

/** Two places, and connections of the ports 1 and 2 in them. */
function full(): Held {
  const places = new ConnectionPlaces({ clock: new FakeClock(), most: 2 });
  const sockets = [new FakeSocket(1), new FakeSocket(2)];
  for (const socket of sockets) places.add(socket.asSocket());
  return { places, sockets };
}

/** Begins a request on the connection of `port`. */
function request({ places }: Held, port: number): { arrive(): void; close(): void } {
  const socket = new FakeSocket(port);
  const incoming = Object.assign(new EventEmitter(), { socket });
  const outgoing = new EventEmitter();
  places.noteRequest(incoming as unknown as IncomingMessage, outgoing as unknown as ServerResponse);
  return {
    arrive: () => void incoming.emit('end'),
    close: () => void outgoing.emit('close'),
  };
}

/** Lets a connection come. @returns which of it and of those before are ended */
function come({ places, sockets }: Held): readonly boolean[] {
  const newcomer = new FakeSocket(3);
  places.add(newcomer.asSocket());
  return [...sockets, newcomer].map(({ isEnded }) => isEnded);
}

const cases: Readonly<Record<string, readonly [(held: Held) => void, readonly boolean[]]>> = {
  'the connection that is open longest': [() => undefined, [true, false, false]],
  'the one that did not ask since': [(held) => void request(held, 1), [false, true, false]],
  'the one that was not answered since': [
    (held) => {
      const first = request(held, 1);
      request(held, 2);
      first.close();
    },
    [false, true, false],
  ],
  'none whose request has arrived': [(held) => request(held, 1).arrive(), [false, true, false]],
  'the newcomer where all are being answered': [
    (held) => {
      request(held, 1).arrive();
      request(held, 2).arrive();
    },
    [false, false, true],
  ],
  'one whose answer is sent, though its body ends later': [
    (held) => {
      const [first, second] = [request(held, 1), request(held, 2)];
      second.arrive();
      first.close();
      first.arrive();
    },
    [true, false, false],
  ],
  'none while a place is free': [
    ({ sockets }) => void sockets[1]?.emit('close'),
    [false, false, false],
  ],
};
for (const [what, [before, want]] of Object.entries(cases)) {
  test(`ConnectionPlaces ends ${what} when one more comes`, () => {
    const held = full();
    before(held);
    assert.deepEqual(come(held), want);
  });
}

test('ConnectionPlaces ends a connection whose peer is gone already', () => {
  const socket = new FakeSocket(undefined);
  new ConnectionPlaces({ clock: new FakeClock(), most: 2 }).add(socket.asSocket());
  assert.ok(socket.isEnded);
});
