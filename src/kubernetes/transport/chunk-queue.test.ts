import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { failure } from '#support/contracts/transport-contract.ts';
import { ChunkQueue } from './chunk-queue.ts';
import { TransportError } from './transport.ts';

function setup(): { readonly queue: ChunkQueue; readonly asked: string[] } {
  const asked: string[] = [];
  const queue = new ChunkQueue({
    pause: () => void asked.push('pause'),
    resume: () => void asked.push('resume'),
    cancel: () => void asked.push('cancel'),
  });
  return { queue, asked };
}

const KIB = new Uint8Array(1_024);

test('ChunkQueue does not pause up to 64 KiB', () => {
  const { queue, asked } = setup();
  for (let n = 0; n < 64; n++) queue.push(KIB);
  assert.deepEqual(asked, []);
});

test('ChunkQueue pauses once above 64 KiB and resumes when all is read', async () => {
  const { queue, asked } = setup();
  for (let n = 0; n < 66; n++) queue.push(KIB);
  assert.deepEqual(asked, ['pause']);
  const chunks = queue[Symbol.asyncIterator]();
  for (let n = 0; n < 66; n++) await chunks.next();
  assert.deepEqual(asked, ['pause']);
  const next = chunks.next();
  assert.deepEqual(asked, ['pause', 'resume']);
  queue.push(KIB);
  assert.equal((await next).done, false);
});

test('ChunkQueue delivers what is held before a failure', async () => {
  const { queue } = setup();
  queue.push(KIB);
  queue.fail(new TransportError('reset', 'connection'));
  const chunks = queue[Symbol.asyncIterator]();
  assert.equal((await chunks.next()).done, false);
  await assert.rejects(chunks.next(), failure('connection'));
});

test('ChunkQueue keeps a clean end clean when the connection breaks afterwards', async () => {
  const { queue } = setup();
  queue.end();
  queue.fail(new TransportError('reset', 'connection'));
  assert.equal((await queue[Symbol.asyncIterator]().next()).done, true);
});

test('ChunkQueue cancels the source when it is given up unread', async () => {
  const { queue, asked } = setup();
  await queue[Symbol.asyncIterator]().return?.();
  assert.deepEqual(asked, ['cancel']);
});

test('ChunkQueue yields all bytes in order, however they arrive', async () => {
  const arrivals = fc.array(fc.uint8Array({ minLength: 1, maxLength: 9 }));
  await fc.assert(
    fc.asyncProperty(arrivals, fc.nat(9), async (chunks, ahead) => {
      const { queue } = setup();
      const early = chunks.slice(0, ahead);
      for (const chunk of early) queue.push(chunk);
      const seen: number[] = [];
      const reading = (async () => {
        for await (const chunk of queue) seen.push(...chunk);
      })();
      for (const chunk of chunks.slice(ahead)) {
        queue.push(chunk);
        await Promise.resolve();
      }
      queue.end();
      await reading;
      assert.deepEqual(
        seen,
        chunks.flatMap((chunk) => [...chunk]),
      );
    }),
  );
});
