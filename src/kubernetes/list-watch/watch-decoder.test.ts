import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { lineOf } from '#support/api-server/scripted-client.ts';
import { maxWatchLine, WatchDecodeError, WatchDecoder, type WatchEvent } from './watch-decoder.ts';

const pod = { metadata: { name: 'a', uid: 'u1', resourceVersion: '5' }, note: 'grüße 🚀' };

function decode(chunks: readonly Uint8Array[]): readonly WatchEvent[] {
  const decoder = new WatchDecoder();
  const events = chunks.flatMap((chunk) => [...decoder.push(chunk)]);
  decoder.end();
  return events;
}

function bytes(text: string): Buffer {
  return Buffer.from(text);
}

test('push() gives one event a line', () => {
  const events = decode([bytes(lineOf('ADDED', pod) + lineOf('DELETED', pod))]);
  assert.deepEqual(events, [
    { kind: 'change', type: 'ADDED', object: pod },
    { kind: 'change', type: 'DELETED', object: pod },
  ]);
});

test('push() reads a bookmark and the mark of the end of the initial events (LW-9)', () => {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  const plain = lineOf('BOOKMARK', { metadata: { resourceVersion: '12' } });
  const mark = lineOf('BOOKMARK', { metadata: { resourceVersion: '13', annotations } });
  assert.deepEqual(decode([bytes(plain + mark)]), [
    { kind: 'bookmark', revision: '12', isInitialEventsEnd: false },
    { kind: 'bookmark', revision: '13', isInitialEventsEnd: true },
  ]);
});

test('push() reads the status of an ERROR event', () => {
  const status = { code: 429, message: 'slow down', details: { retryAfterSeconds: 7 } };
  assert.deepEqual(decode([bytes(lineOf('ERROR', status) + lineOf('ERROR', {}))]), [
    { kind: 'error', status: 429, retryAfter: 7_000, message: 'slow down' },
    { kind: 'error', status: 500, retryAfter: undefined, message: 'no message' },
  ]);
});

test('push() gives the same events wherever the bytes are cut, also inside a UTF-8 sequence', () => {
  const whole = bytes(lineOf('ADDED', pod) + lineOf('MODIFIED', pod) + lineOf('DELETED', pod));
  const want = decode([whole]);
  const cuts = fc.array(fc.nat({ max: whole.length }), { maxLength: 20, size: 'max' });
  fc.assert(
    fc.property(cuts, (positions) => {
      const edges = [0, ...positions.sort((a, b) => a - b), whole.length];
      const chunks = edges.slice(1).map((end, at) => whole.subarray(edges[at], end));
      assert.deepEqual(decode(chunks), want);
    }),
  );
});

test('push() keeps its own copy of half a line, as the transport may reuse its buffer', () => {
  const whole = bytes(lineOf('ADDED', pod));
  const decoder = new WatchDecoder();
  const first = Buffer.from(whole.subarray(0, 20));
  assert.deepEqual([...decoder.push(first)], []);
  first.fill(0);
  assert.equal([...decoder.push(whole.subarray(20))].length, 1);
});

const refused: Record<string, { line: string | Buffer; message: RegExp }> = {
  'text that is not JSON': { line: '{"type":"ADD\n', message: /must be JSON: it begins/ },
  'bytes that are not UTF-8': { line: Buffer.from([0xc3, 0x28, 0x0a]), message: /must be UTF-8/ },
  'JSON that is not an object': { line: '[1]\n', message: /JSON object with "type" and "object"/ },
  'an event without an object': { line: '{"type":"ADDED"}\n', message: /"type" and "object"/ },
  'an unknown type': { line: lineOf('MOVED', pod), message: /of type "MOVED" as it must be ADDED/ },
  'an object without metadata': { line: lineOf('ADDED', {}), message: /got null/ },
  'an object without a uid': {
    line: lineOf('ADDED', { metadata: { name: 'a', resourceVersion: '1' } }),
    message: /must have name, uid and a decimal resourceVersion/,
  },
  'a revision that is no number': {
    line: lineOf('ADDED', { metadata: { name: 'a', uid: 'u', resourceVersion: 'x' } }),
    message: /decimal resourceVersion/,
  },
  'a bookmark without a revision': {
    line: lineOf('BOOKMARK', { metadata: {} }),
    message: /metadata\.resourceVersion must be decimal: got undefined/,
  },
};
for (const [what, { line, message }] of Object.entries(refused)) {
  test(`push() refuses ${what}`, () => {
    assert.throws(
      () => decode([typeof line === 'string' ? bytes(line) : line]),
      (error) => error instanceof WatchDecodeError && message.test(error.message),
    );
  });
}

test('push() gives the events before a line that is refused', () => {
  const decoder = new WatchDecoder();
  const events = decoder.push(bytes(`${lineOf('ADDED', pod)}garbage\n`));
  assert.equal(events.next().done, false);
  assert.throws(() => events.next(), WatchDecodeError);
});

test('push() refuses a line longer than 16 MiB before it has ended', () => {
  const decoder = new WatchDecoder();
  const part = Buffer.alloc(maxWatchLine / 2, 0x20);
  assert.deepEqual([...decoder.push(part), ...decoder.push(part)], []);
  assert.throws(() => [...decoder.push(bytes(' '))], WatchDecodeError);
});

test('end() refuses half a line', () => {
  assert.throws(() => decode([bytes(lineOf('ADDED', pod).slice(0, -1))]), {
    name: 'WatchDecodeError',
    message: /ended inside a line/,
  });
});
