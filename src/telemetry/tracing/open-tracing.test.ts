import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { millis, seconds } from '#base/units.ts';
import { settled } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import { keptTracing } from '#support/telemetry/kept-tracing.ts';
import { spansIn } from '#support/telemetry/otlp-spans.ts';
import type { SpanLoss } from './lost-spans.ts';
import { openTracing, type RunningTracing } from './open-tracing.ts';
import type { PostSpans, SpanPost } from './otlp-exporter.ts';
import type { SpanStart } from './tracing.ts';
import { readTracing } from './tracing-settings.ts';

const pass: SpanStart = { name: 'reconcile', kind: 'internal' };
const request: SpanStart = { name: 'GET', kind: 'client', attributes: { 'url.path': '/x' } };
const remote = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'v=1' };

test('within() makes what begins in it a child, also after a wait', async () => {
  const { tracing, end } = keptTracing();
  const answer = await tracing.within(pass, async () => {
    await Promise.resolve();
    return tracing.within(request, async () => 'answer');
  });
  assert.equal(answer, 'answer');
  const [child, parent] = await end();
  assert.deepEqual(
    [child?.name, child?.kind, child?.attributes],
    ['GET', 'client', { 'url.path': '/x' }],
  );
  assert.equal(child?.parentSpanId, parent?.spanId);
  assert.equal(child?.traceId, parent?.traceId);
  assert.equal(parent?.parentSpanId, '');
});

test('within() keeps passes that run at once apart', async () => {
  const { tracing, end } = keptTracing();
  const both = ['a', 'b'].map((name) =>
    tracing.within({ ...pass, name }, async () => {
      await Promise.resolve();
      return tracing.within({ ...request, name: `of ${name}` }, async () => undefined);
    }),
  );
  await Promise.all(both);
  const spans = await end();
  const parents = spans.map(({ name, parentSpanId }) => [
    name,
    spans.find(({ spanId }) => spanId === parentSpanId)?.name,
  ]);
  assert.deepEqual(Object.fromEntries(parents), {
    a: undefined,
    b: undefined,
    'of a': 'a',
    'of b': 'b',
  });
});

test('within() begins a trace of its own, with a link, for what goes on after its end', async () => {
  const { tracing, end } = keptTracing();
  const { promise, resolve } = Promise.withResolvers<void>();
  let late: Promise<void> = promise;
  tracing.within(pass, () => {
    late = promise.then(() => tracing.within(request, async () => undefined));
  });
  resolve();
  await late;
  const [first, second] = await end();
  assert.deepEqual([first?.name, second?.name], ['reconcile', 'GET']);
  assert.notEqual(second?.traceId, first?.traceId);
  assert.equal(second?.parentSpanId, '');
  assert.deepEqual(second?.links, [first?.spanId]);
});

test('within() hands errors on, and its span carries them', async () => {
  const { tracing, end } = keptTracing();
  const error = new TypeError(`no answer ${'x'.repeat(2_000)}`);
  assert.throws(
    () =>
      tracing.within(pass, () => {
        throw error;
      }),
    error,
  );
  await assert.rejects(
    tracing.within(request, () => Promise.reject(error)),
    error,
  );
  const spans = await end();
  const shown = `no answer ${'x'.repeat(990)}`;
  assert.deepEqual(
    spans.map(({ failure, errors }) => ({ failure, errors })),
    [
      { failure: shown, errors: [`TypeError: ${shown}`] },
      { failure: shown, errors: [`TypeError: ${shown}`] },
    ],
  );
});

const thrown: Record<string, readonly [thrown: unknown, want: string]> = {
  'an error whose message is none': [
    Object.assign(new Error('x'), { message: undefined }),
    'undefined',
  ],
  'an object without a prototype': [Object.create(null), 'something was thrown that has no text'],
  nothing: [undefined, 'undefined'],
};
for (const [what, [cause, want]] of Object.entries(thrown)) {
  test(`within() hands on ${what} that is thrown, and ends its span`, async () => {
    const { tracing, end } = keptTracing();
    const seen: unknown[] = [];
    try {
      tracing.within(pass, () => {
        throw cause;
      });
    } catch (error) {
      seen.push(error);
    }
    assert.deepEqual(seen, [cause]);
    const [span] = await end();
    assert.equal(span?.failure, want);
  });
}

test('within() goes on with the trace of who asks, and lets whom is asked go on with it', async () => {
  const { tracing, end } = keptTracing();
  const headers = tracing.within({ ...pass, kind: 'server', caller: remote }, (span) =>
    span.headers(),
  );
  const [span] = await end();
  assert.deepEqual([span?.traceId, span?.parentSpanId], ['a'.repeat(32), 'b'.repeat(16)]);
  assert.deepEqual(headers, {
    traceparent: `00-${'a'.repeat(32)}-${span?.spanId ?? ''}-01`,
    tracestate: 'v=1',
  });
});

const strange: Record<string, Readonly<Record<string, string>>> = {
  'without a traceparent': {},
  'with a traceparent that is none': { traceparent: '00-zz-01' },
  'with a trace of zeros': { traceparent: `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01` },
};
for (const [what, caller] of Object.entries(strange)) {
  test(`within() begins a trace for a caller ${what}`, async () => {
    const { tracing, end } = keptTracing();
    tracing.within({ ...pass, caller }, () => undefined);
    const [span] = await end();
    assert.equal(span?.parentSpanId, '');
    assert.match(span?.traceId ?? '', /^(?!0{32})[0-9a-f]{32}$/);
  });
}

test('within() neither takes nor passes on a trace where OTEL_PROPAGATORS names none', async () => {
  const { tracing, end } = keptTracing({ OTEL_PROPAGATORS: 'none' });
  const headers = tracing.within({ ...pass, caller: remote }, (span) => span.headers());
  assert.deepEqual(headers, {});
  const [span] = await end();
  assert.notEqual(span?.traceId, 'a'.repeat(32));
});

const decisions: Record<string, readonly [sampler: string, caller: string, want: number]> = {
  'records where the caller does, whatever its own share is': ['parentbased_always_off', '01', 1],
  'records nothing where the caller does not': ['parentbased_always_on', '00', 0],
  'records by its own share where the caller does not count': ['always_on', '00', 1],
  'records nothing by its own share where the caller does not count': ['always_off', '01', 0],
};
for (const [fact, [sampler, flags, want]] of Object.entries(decisions)) {
  test(`within() ${fact}`, async () => {
    const { tracing, end } = keptTracing({ OTEL_TRACES_SAMPLER: sampler });
    const caller = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-${flags}` };
    const seen = tracing.within({ ...pass, caller }, (span) => [
      tracing.traceId(),
      span.headers()['traceparent']?.slice(-2),
    ]);
    assert.deepEqual(seen, want === 1 ? ['a'.repeat(32), '01'] : [undefined, '00']);
    assert.equal((await end()).length, want);
  });
}

test('within() records a share of the traces', async () => {
  const { tracing, end } = keptTracing({
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_BSP_MAX_QUEUE_SIZE: '2000',
  });
  for (let count = 0; count < 2_000; count += 1) tracing.within(pass, () => undefined);
  const { length } = await end();
  // Six standard deviations of 2,000 draws.
  assert.ok(length > 384 && length < 616, `${length} of 2000`);
});

test('traceId() is that of the span whose work it is called in, while that lasts', async () => {
  const { tracing, end } = keptTracing();
  assert.equal(tracing.traceId(), undefined);
  const { promise, resolve } = Promise.withResolvers<void>();
  let late: Promise<string | undefined> = Promise.resolve(undefined);
  const within = tracing.within(pass, () => {
    late = promise.then(() => tracing.traceId());
    return tracing.traceId();
  });
  resolve();
  assert.equal(await late, undefined);
  const [span] = await end();
  assert.equal(within, span?.traceId);
});

test('openTracing() says in each batch whose spans they are', async () => {
  const { tracing, end } = keptTracing({
    OTEL_SERVICE_NAME: 'mover',
    OTEL_RESOURCE_ATTRIBUTES: 'k8s.namespace.name=mimir',
  });
  tracing.within(pass, () => undefined);
  const [span] = await end();
  assert.equal(span?.resource['service.name'], 'mover');
  assert.equal(span?.resource['k8s.namespace.name'], 'mimir');
  assert.equal(span?.resource['telemetry.sdk.name'], 'opentelemetry');
});

/** Tracing whose batches `post` takes. */
class Sending {
  readonly clock = new ManualClock();
  readonly log = new KeptLog();
  readonly posted: SpanPost[] = [];
  readonly lost: Partial<Record<SpanLoss, number>> = {};
  readonly running: RunningTracing;

  constructor(post: PostSpans, env: Readonly<Record<string, string>> = {}) {
    const choice = readTracing({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:pw@collector:1',
      ...env,
    });
    assert.equal(choice.kind, 'on');
    const { clock, log } = this;
    this.running = openTracing(choice.settings, {
      clock,
      log,
      countLost: (why, spans) => {
        this.lost[why] = (this.lost[why] ?? 0) + spans;
      },
      post: (each) => {
        this.posted.push(each);
        return post(each);
      },
    });
  }

  /** One span, and the begin of the end. */
  async closing(): Promise<{ readonly closed: Promise<void> }> {
    this.running.tracing.within(pass, () => undefined);
    const closed = this.running.close();
    await settled();
    return { closed };
  }
}

const answered = (status: number, headers = {}) => Promise.resolve({ status, headers });
/** A collector that takes a batch and never answers. */
const hanging: PostSpans = ({ signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('given up')), { once: true });
  });

test('openTracing() posts what has ended when it is closed', async () => {
  const sending = new Sending(() => answered(200), { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' });
  await (await sending.closing()).closed;
  const [post] = sending.posted;
  assert.deepEqual(post?.headers, {
    'user-agent': 'rollout-operator',
    authorization: 'Basic dXNlcjpwdw==',
    'content-type': 'application/json',
  });
  assert.equal(post?.timeout, 10_000);
  assert.deepEqual(
    spansIn(Buffer.from(post?.body ?? '').toString()).map(({ name }) => name),
    ['reconcile'],
  );
  assert.deepEqual(sending.log.lines, []);
});

test('openTracing() compresses as it is asked to', async () => {
  const sending = new Sending(() => answered(202), {
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
  });
  sending.running.tracing.within(pass, () => undefined);
  await sending.running.close();
  const [post] = sending.posted;
  assert.equal(post?.headers['content-encoding'], 'gzip');
  assert.equal(spansIn(gunzipSync(post?.body ?? '').toString()).length, 1);
});

/** The value of field `wanted` of a protobuf message, where that is a message or a text. */
function field(message: Buffer, wanted: number): Buffer {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = message.readUInt8(at);
      at += 1;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const type = tag & 7;
    const length = type === 2 ? varint() : type === 1 ? 8 : type === 5 ? 4 : 0;
    if (type === 0) varint();
    const value = message.subarray(at, at + length);
    at += length;
    if (Math.floor(tag / 8) === wanted) return value;
  }
  throw new Error(`no field ${wanted}`);
}

test('openTracing() posts protobuf unless a variable says otherwise', async () => {
  const sending = new Sending(() => answered(200));
  await (await sending.closing()).closed;
  const [post] = sending.posted;
  assert.equal(post?.headers['content-type'], 'application/x-protobuf');
  // ExportTraceServiceRequest.resource_spans[0].scope_spans[0].spans[0].name
  const name = [1, 2, 2, 5].reduce(field, Buffer.from(post?.body ?? ''));
  assert.equal(name.toString(), 'reconcile');
});

/** Sends each span as soon as it has ended. */
const oneByOne = { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' };

test('openTracing() posts again what the collector wants later, as soon as it asks for that', async () => {
  const answers = [answered(503, { 'retry-after': '3' }), answered(429), answered(200)];
  const sending = new Sending(() => answers.shift() ?? answered(500), oneByOne);
  const { clock, running, posted, log } = sending;
  running.tracing.within(pass, () => undefined);
  const seen: number[] = [];
  for (const wait of [0, 2_999, 1, 1_999, 1]) {
    clock.advance(millis(wait));
    await settled();
    seen.push(posted.length);
  }
  assert.deepEqual(seen, [1, 1, 2, 2, 3]);
  assert.deepEqual(posted[2]?.body, posted[0]?.body);
  assert.equal(posted[2]?.timeout, 5_000);
  await running.close();
  assert.deepEqual(log.lines, []);
});

test('openTracing() tries a collector that is away again, until the time for a batch has passed', async () => {
  const sending = new Sending(() => Promise.reject(new Error('connect ECONNREFUSED')), oneByOne);
  const { clock, running, posted, log } = sending;
  running.tracing.within(pass, () => undefined);
  await settled();
  for (let second = 0; second < 10; second += 1) {
    clock.advance(seconds(1));
    await settled();
  }
  // At 0 s, 1 s, 3 s and 7 s; the next would come at 12 s.
  assert.equal(posted.length, 4);
  assert.deepEqual(log.lines, [
    'warn spans could not be sent collector=collector:1 spans=1 err=connect ECONNREFUSED',
  ]);
  await running.close();
});

test('close() gives a collector up that hangs, after 2 s, and says what was lost', async () => {
  const sending = new Sending(hanging);
  const { clock, log, posted } = sending;
  let isClosed = false;
  const { closed } = await sending.closing();
  void closed.then(() => {
    isClosed = true;
  });
  clock.advance(millis(1_999));
  await settled();
  assert.equal(isClosed, false);
  clock.advance(millis(1));
  await closed;
  assert.equal(posted[0]?.signal.aborted, true);
  assert.equal(clock.pendingTimers, 0);
  assert.deepEqual(log.lines, [
    'warn spans could not be sent collector=collector:1 spans=1 err=the program ends',
  ]);
});

test('close() waits for what is under way, however little has ended since', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const sending = new Sending(() => promise.then(() => answered(200)), oneByOne);
  sending.running.tracing.within(pass, () => undefined);
  await settled();
  const closed = sending.running.close();
  await settled();
  assert.equal(sending.posted[0]?.signal.aborted, false);
  resolve();
  await closed;
  assert.deepEqual(sending.log.lines, []);
});

test('openTracing() has no more spans under way than may wait, although batches fail', async () => {
  const env = { ...oneByOne, OTEL_BSP_MAX_QUEUE_SIZE: '4', OTEL_EXPORTER_OTLP_TIMEOUT: '1000' };
  let open = 0;
  let most = 0;
  const sending = new Sending(async ({ timeout, signal }) => {
    most = Math.max(most, (open += 1));
    await sending.clock.sleep(timeout, { signal, owner: 'collector', background: true });
    open -= 1;
    throw new Error('no answer');
  }, env);
  const { clock, running } = sending;
  for (let tick = 0; tick < 200; tick += 1) {
    running.tracing.within(pass, () => undefined);
    clock.advance(millis(100));
    await settled();
  }
  assert.ok(most > 0 && most <= 4, `${most} at once`);
  const closed = running.close();
  await settled();
  clock.advance(seconds(2));
  await closed;
});

test('openTracing() counts the spans that a full queue drops, and tells of them once a minute', async () => {
  const env = { OTEL_BSP_MAX_QUEUE_SIZE: '4', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4' };
  const sending = new Sending(hanging, env);
  const { clock, running, log, lost } = sending;
  const end = (count: number): void => {
    for (let each = 0; each < count; each += 1) running.tracing.within(pass, () => undefined);
  };
  // Four leave and never arrive, four wait, three find no place.
  end(11);
  assert.deepEqual(lost, { QueueFull: 3 });
  clock.advance(seconds(59));
  end(2);
  clock.advance(seconds(1));
  end(1);
  assert.deepEqual(lost, { QueueFull: 6 });
  const said = 'warn spans dropped, as too many wait to be sent dropped_since_start=';
  assert.deepEqual(
    log.lines.filter((line) => line.includes('dropped')),
    [`${said}1`, `${said}6 not_logged_before=4`],
  );
  const closed = running.close();
  await settled();
  clock.advance(seconds(2));
  await closed;
  assert.deepEqual(lost, { QueueFull: 6, NotSent: 8 });
});

test('openTracing() counts nothing as lost that the collector took', async () => {
  const sending = new Sending(() => answered(200));
  await (await sending.closing()).closed;
  assert.deepEqual(sending.lost, {});
});

test('openTracing() gives a batch up when the SDK does, whatever the time for one answer is', async () => {
  const env = { OTEL_EXPORTER_OTLP_TIMEOUT: '999999999', OTEL_BSP_EXPORT_TIMEOUT: '1000' };
  const sending = new Sending(() => answered(200), env);
  await (await sending.closing()).closed;
  assert.equal(sending.posted[0]?.timeout, 1_000);
});

test('openTracing() never posts again at once, however soon the collector asks for that', async () => {
  const soon = answered(429, { 'retry-after': '0.000001' });
  const sending = new Sending(() => soon, oneByOne);
  const { clock, running, posted } = sending;
  running.tracing.within(pass, () => undefined);
  await settled();
  clock.advance(millis(999));
  await settled();
  assert.equal(posted.length, 1);
  clock.advance(millis(1));
  await settled();
  assert.equal(posted.length, 2);
  const closed = running.close();
  await settled();
  clock.advance(seconds(2));
  await closed;
});

test('within() never waits for a collector that hangs', async () => {
  const sending = new Sending(hanging, oneByOne);
  const { tracing } = sending.running;
  for (let count = 0; count < 3; count += 1) {
    assert.equal(await tracing.within(pass, async () => count), count);
  }
  const closed = sending.running.close();
  await settled();
  sending.clock.advance(seconds(2));
  await closed;
});

const losses: Record<string, readonly [post: PostSpans, want: string]> = {
  'answers 400': [() => answered(400), 'the collector answered 400'],
  redirects: [() => answered(301), 'the collector answered 301'],
  'is away': [() => Promise.reject(new Error('connect ECONNREFUSED')), 'connect ECONNREFUSED'],
};
for (const [what, [post, want]] of Object.entries(losses)) {
  test(`openTracing() says that spans are lost as the collector ${what}`, async () => {
    const sending = new Sending(post, { OTEL_EXPORTER_OTLP_TIMEOUT: '500' });
    await (await sending.closing()).closed;
    assert.deepEqual(sending.log.lines, [
      `warn spans could not be sent collector=collector:1 spans=1 err=${want}`,
    ]);
  });
}
