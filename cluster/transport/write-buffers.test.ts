import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { WriteBuffers } from './write-buffers.ts';

/** Takes what is written; a write is done when the test says so. */
class Writes {
  readonly chunks: Buffer[] = [];
  readonly done: (() => void)[] = [];
  readonly response = {
    write: (chunk: Buffer, done?: () => void) => {
      this.chunks.push(chunk);
      if (done !== undefined) this.done.push(done);
      return true;
    },
  } as unknown as ServerResponse;
}

const piece = (byte: number): Buffer => Buffer.alloc(50_000, byte);

test('WriteBuffers writes pieces as one, short and long ones', () => {
  for (const parts of [[Buffer.from('a'), Buffer.from('bc')], [piece(1), piece(2)], [piece(1)]]) {
    const writes = new Writes();
    assert.equal(new WriteBuffers().write(writes.response, parts), true);
    assert.deepEqual(writes.chunks, [Buffer.concat(parts)]);
  }
});

test('WriteBuffers writes what no buffer can hold', () => {
  const writes = new Writes();
  const parts = Array.from({ length: 20 }, (_, index) => piece(index));
  new WriteBuffers().write(writes.response, parts);
  assert.deepEqual(writes.chunks, [Buffer.concat(parts)]);
});

test('WriteBuffers uses a buffer again once it was written, and not before', () => {
  const writes = new Writes();
  const buffers = new WriteBuffers();
  for (let round = 0; round < 20; round += 1) {
    buffers.write(writes.response, [piece(round), piece(round)]);
  }
  assert.deepEqual(
    writes.chunks.map((chunk) => [chunk[0], chunk.at(-1)]),
    Array.from({ length: 20 }, (_, round) => [round, round]),
  );
  const [first] = writes.chunks;
  writes.done[0]?.();
  buffers.write(writes.response, [piece(99), piece(99)]);
  assert.equal(first?.[0], 99);
});
