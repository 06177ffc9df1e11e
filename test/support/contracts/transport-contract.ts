import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { seconds } from '#base/units.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import type { Script, TransportUnderTest } from './transport-under-test.ts';

const script: Script = {
  '/hello': { kind: 'answer', status: 200, headers: { 'x-test': 'yes' }, body: '{"a":"ü"}' },
  '/echo': { kind: 'answer', status: 201, body: '' },
  '/missing': { kind: 'answer', status: 404, body: '{"kind":"Status"}' },
  '/large': { kind: 'answer', status: 200, body: 'x'.repeat(3_000_000) },
  '/words': { kind: 'stream', chunks: ['one\n', 'two\n', 'three\n'], ending: 'end' },
  '/quiet': { kind: 'stream', chunks: ['one\n'], ending: 'hang' },
  '/broken': { kind: 'stream', chunks: ['one\n'], ending: 'reset' },
  '/flood': { kind: 'flood', bytes: 256 * 1_048_576 },
  '/hang': { kind: 'hang' },
  '/reset': { kind: 'reset' },
  '/short': { kind: 'short', announced: 100, body: '{"a":' },
};

/** Holds for every adapter of {@link Transport} (D-43); call it once from the adapter's test file. */
export function transportContract(
  name: string,
  make: (script: Script) => Promise<TransportUnderTest>,
): void {
  suite(`Transport contract: ${name}`, () => {
    let subject: TransportUnderTest;
    before(async () => {
      subject = await make(script);
    });
    after(async () => {
      await subject.close();
    });
    wholeAnswers(() => subject);
    streams(() => subject);
    sending(() => subject);
    closing(() => make(script));
  });
}

type Get = () => TransportUnderTest;

function wholeAnswers(subject: Get): void {
  test('request() returns status, headers and body of an answer', async () => {
    const answer = await subject().transport.request({ method: 'GET', path: '/hello?x=1' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['x-test'], 'yes');
    assert.equal(text(answer.body), '{"a":"ü"}');
  });
  test('request() returns an answer of any status', async () => {
    const answer = await subject().transport.request({ method: 'GET', path: '/missing' });
    assert.equal(answer.status, 404);
  });
  test('request() returns an empty body where there is none', async () => {
    const answer = await subject().transport.request({ method: 'POST', path: '/echo', body: '{}' });
    assert.equal(answer.body.byteLength, 0);
  });
  test('request() returns the whole of a large body', async () => {
    const answer = await subject().transport.request({ method: 'GET', path: '/large' });
    assert.equal(answer.body.byteLength, 3_000_000);
  });
  test('request() hands method, path, headers and body to the server', async () => {
    const headers = { 'content-type': 'application/json', 'x-cluster': 'demo' };
    await subject().transport.request({ method: 'PATCH', path: '/echo?a=b', headers, body: '"ü"' });
    const last = subject().received.at(-1);
    assert.equal(last?.method, 'PATCH');
    assert.equal(last.path, '/echo?a=b');
    assert.equal(last.headers['x-cluster'], 'demo');
    assert.equal(last.headers['content-type'], 'application/json');
    assert.equal(last.body, '"ü"');
  });
  test('request() fails with "connection" when the connection breaks before the headers', async () => {
    const call = subject().transport.request({ method: 'GET', path: '/reset' });
    await assert.rejects(call, failure('connection'));
  });
  test('request() fails with "connection" when the body is shorter than announced', async () => {
    const call = subject().transport.request({ method: 'GET', path: '/short' });
    await assert.rejects(call, failure('connection'));
  });
  test('request() answers many parallel calls over few connections', async () => {
    const { transport, connections } = subject();
    const calls = Array.from({ length: 500 }, () =>
      transport.request({ method: 'GET', path: '/hello' }),
    );
    const answers = await Promise.all(calls);
    assert.ok(answers.every((answer) => answer.status === 200));
    assert.ok((connections() ?? 0) <= 64, `${connections()} connections`);
  });
}

function streams(subject: Get): void {
  test('stream() yields what arrives and ends cleanly', async () => {
    const stream = await subject().transport.stream({ method: 'GET', path: '/words' });
    assert.equal(stream.status, 200);
    assert.equal(await read(stream.chunks), 'one\ntwo\nthree\n');
  });
  test('stream() resolves before the body has ended', async () => {
    const leave = new AbortController();
    const stream = await subject().transport.stream({
      method: 'GET',
      path: '/quiet',
      signal: leave.signal,
    });
    const chunks = stream.chunks[Symbol.asyncIterator]();
    const first = await chunks.next();
    assert.equal(first.done === true ? '' : text(first.value), 'one\n');
    const second = assert.rejects(chunks.next(), failure('aborted'));
    leave.abort();
    await second;
  });
  test('stream() has no deadline once the headers are there', async () => {
    const leave = new AbortController();
    const { signal } = leave;
    const { transport, advance } = subject();
    const timeout = seconds(5);
    const stream = await transport.stream({ method: 'GET', path: '/quiet', signal, timeout });
    const chunks = stream.chunks[Symbol.asyncIterator]();
    await chunks.next();
    advance(seconds(60));
    const next = assert.rejects(chunks.next(), failure('aborted'));
    leave.abort();
    await next;
  });
  test('stream() fails with "connection" after what arrived when the connection breaks', async () => {
    const stream = await subject().transport.stream({ method: 'GET', path: '/broken' });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const chunk of stream.chunks) seen.push(text(chunk));
    })();
    await assert.rejects(reading, failure('connection'));
    assert.equal(seen.join(''), 'one\n');
  });
  test('stream() closes at the server when the reader leaves the loop', async () => {
    const { transport, left } = subject();
    const stream = await transport.stream({ method: 'GET', path: '/quiet' });
    const gone = left('/quiet');
    for await (const chunk of stream.chunks) {
      assert.equal(text(chunk), 'one\n');
      break;
    }
    await gone;
  });
  test('stream() slows the server down while nobody reads', async () => {
    const { transport, written } = subject();
    const stream = await transport.stream({ method: 'GET', path: '/flood' });
    const chunks = stream.chunks[Symbol.asyncIterator]();
    await chunks.next();
    for (let n = 0; n < 20; n++) await transport.request({ method: 'GET', path: '/large' });
    assert.ok(written('/flood') < 64 * 1_048_576, `${written('/flood')} bytes were accepted`);
    await chunks.return?.();
  });
  test('stream() fails with "connection" when the connection breaks before the headers', async () => {
    const call = subject().transport.stream({ method: 'GET', path: '/reset' });
    await assert.rejects(call, failure('connection'));
  });
}

function sending(subject: Get): void {
  for (const call of ['request', 'stream'] as const) {
    test(`${call}() sends nothing for a signal that has aborted`, async () => {
      const { transport, received } = subject();
      const count = received.length;
      const sent = transport[call]({ method: 'GET', path: '/hello', signal: AbortSignal.abort() });
      await assert.rejects(sent, failure('not-sent'));
      assert.equal(received.length, count);
    });
    test(`${call}() fails with "aborted" and closes when the signal aborts under way`, async () => {
      const { transport, arrived, left } = subject();
      const leave = new AbortController();
      const here = arrived('/hang');
      const gone = left('/hang');
      const sent = transport[call]({ method: 'GET', path: '/hang', signal: leave.signal });
      const outcome = assert.rejects(sent, failure('aborted'));
      await here;
      leave.abort(new Error('stop'));
      await Promise.all([outcome, gone]);
    });
    test(`${call}() fails with "timeout" when the deadline passes under way`, async () => {
      const { transport, arrived, advance } = subject();
      const here = arrived('/hang');
      const sent = transport[call]({ method: 'GET', path: '/hang', timeout: seconds(5) });
      const outcome = assert.rejects(sent, failure('timeout'));
      await here;
      advance(seconds(5));
      await outcome;
    });
    test(`${call}() throws what beforeSend throws and sends nothing`, async () => {
      const { transport, received } = subject();
      const count = received.length;
      const stale = new Error('the view is too old');
      const beforeSend = (): void => {
        throw stale;
      };
      const sent = transport[call]({ method: 'DELETE', path: '/hello', beforeSend });
      await assert.rejects(sent, (error) => error === stale);
      await transport.request({ method: 'GET', path: '/hello' });
      assert.equal(received.length, count + 1);
    });
    test(`${call}() calls beforeSend once, before the server sees the request`, async () => {
      const { transport, received } = subject();
      const count = received.length;
      const seen: number[] = [];
      const beforeSend = (): void => void seen.push(received.length);
      const answer = await transport[call]({ method: 'GET', path: '/hello', beforeSend });
      if ('chunks' in answer) await read(answer.chunks);
      assert.deepEqual(seen, [count]);
    });
  }
  test('request() fails with "timeout" when the deadline passes while the body arrives', async () => {
    const { transport, arrived, advance } = subject();
    const here = arrived('/quiet');
    const sent = transport.request({ method: 'GET', path: '/quiet', timeout: seconds(5) });
    const outcome = assert.rejects(sent, failure('timeout'));
    await here;
    // Its first bytes are here by then.
    await transport.request({ method: 'GET', path: '/hello' });
    advance(seconds(5));
    await outcome;
  });
}

function closing(make: () => Promise<TransportUnderTest>): void {
  test('close() fails what is under way', async () => {
    const subject = await make();
    const here = subject.arrived('/hang');
    const hanging = assert.rejects(
      subject.transport.request({ method: 'GET', path: '/hang' }),
      TransportError,
    );
    const quiet = await subject.transport.stream({ method: 'GET', path: '/quiet' });
    const reading = assert.rejects(read(quiet.chunks), TransportError);
    await here;
    await subject.transport.close();
    await Promise.all([hanging, reading]);
    await subject.close();
  });
  test('close() refuses what comes after it as not sent', async () => {
    const subject = await make();
    await subject.transport.close();
    const call = subject.transport.request({ method: 'GET', path: '/hello' });
    await assert.rejects(call, failure('not-sent'));
    await subject.close();
  });
}

/** Reports whether an error is a {@link TransportError} of this failure; for `assert.rejects`. */
export function failure(expected: TransportError['failure']): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof TransportError, String(error));
    assert.equal(error.failure, expected, error.message);
    return true;
  };
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

async function read(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all).toString();
}
