import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { mostOfConnection, RequestsOfConnection } from './requests-of-connection.ts';

/** Requests of one connection. */
class FakeConnection {
  readonly #incoming = { socket: {} } as unknown as IncomingMessage;
  readonly #underWay: RequestsOfConnection;
  readonly #answers: EventEmitter[] = [];

  constructor(underWay: RequestsOfConnection) {
    this.#underWay = underWay;
  }

  get isRefused(): boolean {
    return this.#underWay.isRefused(this.#incoming);
  }

  /** @returns whether the request may be served */
  ask(): boolean {
    const outgoing = new EventEmitter();
    this.#answers.push(outgoing);
    return this.#underWay.enter(this.#incoming, outgoing as unknown as ServerResponse);
  }

  /** Answers all that is under way. */
  answer(): void {
    for (const outgoing of this.#answers.splice(0)) outgoing.emit('close');
  }

  askUntilFull(): void {
    for (let count = 0; count < mostOfConnection; count += 1) assert.equal(this.ask(), true);
  }
}

test('RequestsOfConnection lets as many requests in as are answered', () => {
  const connection = new FakeConnection(new RequestsOfConnection());
  connection.askUntilFull();
  connection.answer();
  connection.askUntilFull();
  assert.equal(connection.isRefused, false);
});

test('RequestsOfConnection refuses a connection for good after one request too many', () => {
  const underWay = new RequestsOfConnection();
  const connection = new FakeConnection(underWay);
  connection.askUntilFull();
  assert.equal(connection.ask(), false);
  connection.answer();
  assert.deepEqual([connection.isRefused, connection.ask()], [true, false]);
  assert.equal(new FakeConnection(underWay).ask(), true);
});
