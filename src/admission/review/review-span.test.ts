import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { keptTracing } from '#support/telemetry/kept-tracing.ts';
import type { SeenSpan } from '#support/telemetry/otlp-spans.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import type { ReviewDecision } from './review.ts';
import { handlersOf, type PostedAnswer } from './review-handler.ts';

const path = '/admission/prepare-downscale';

interface Judged {
  readonly answer: PostedAnswer | undefined;
  readonly spans: readonly SeenSpan[];
}

/** A posted review, and what its webhook says to it. */
interface Posted {
  readonly judge?: () => ReviewDecision | Promise<ReviewDecision>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly body?: string;
}

async function judged(posted: Posted): Promise<Judged> {
  const { judge = () => ({ isAllowed: true }), headers, contentType, body } = posted;
  const { tracing, end } = keptTracing();
  const clock = new ManualClock();
  const options = { clock, log: silentLogger, requestTimeout: seconds(10), tracing };
  const handler = handlersOf([{ path, patience: undefined, judge }], options).get(path);
  const answer = await handler?.({
    contentType: contentType ?? 'application/json',
    body: Buffer.from(body ?? JSON.stringify(reviewDocument({ uid: 'u-1', dryRun: true }))),
    caller: {
      query: '',
      begun: clock.monotonic(),
      onLeave: () => undefined,
      ...(headers !== undefined && { headers }),
    },
  });
  return { answer, spans: await end() };
}

test('a review is a span that says what was reviewed, and what the answer was', async () => {
  const { spans } = await judged({});
  assert.deepEqual(
    spans.map(({ name, kind, failure }) => [name, kind, failure]),
    [['review /admission/prepare-downscale', 'server', undefined]],
  );
  assert.deepEqual(spans[0]?.attributes, {
    'http.route': path,
    'request.uid': 'u-1',
    'request.gvk': 'apps/v1, Kind=StatefulSet',
    'request.operation': 'UPDATE',
    'request.dry_run': true,
    'object.resource': 'statefulsets',
    'object.namespace': 'test',
    'object.name': 'ingester-zone-a',
    'http.response.status_code': 200,
    'response.allowed': true,
  });
});

test('a denial is no failure of its span, which says the code and the causes', async () => {
  const causes = [{ reason: 'DependencyFailed', message: 'secret' }];
  const { spans } = await judged({
    judge: async () => ({ isAllowed: false, message: 'later', code: 429, causes }),
  });
  const [span] = spans;
  assert.equal(span?.failure, undefined);
  assert.equal(span?.attributes['response.allowed'], false);
  assert.equal(span?.attributes['response.code'], 429);
  assert.deepEqual(span?.attributes['response.causes'], ['DependencyFailed']);
});

test('a review goes on with the trace of the API server', async () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const { spans } = await judged({ headers: { traceparent } });
  assert.deepEqual([spans[0]?.traceId, spans[0]?.parentSpanId], ['a'.repeat(32), 'b'.repeat(16)]);
});

test('a review that the API server does not trace begins a trace', async () => {
  const { spans } = await judged({ headers: {} });
  assert.equal(spans[0]?.parentSpanId, '');
});

for (const kind of ['throws', 'rejects'] as const) {
  test(`a webhook that ${kind} is denied, and its span carries the fault`, async () => {
    const fault = new TypeError('a bug');
    const { answer, spans } = await judged({
      judge: () => {
        if (kind === 'throws') throw fault;
        return Promise.reject(fault);
      },
    });
    assert.equal(answer?.status, 200);
    assert.deepEqual(spans[0]?.errors, ['TypeError: a bug']);
    assert.equal(spans[0]?.attributes['response.allowed'], false);
  });
}

const unreadable: Record<string, readonly [posted: Posted, want: RegExp]> = {
  'of a wrong content type': [{ contentType: 'text/plain' }, /^wrong content type$/],
  'that is none': [{ body: '{' }, /^Request could not be decoded: /],
};
for (const [what, [posted, want]] of Object.entries(unreadable)) {
  test(`a review ${what} is a span that failed`, async () => {
    const { answer, spans } = await judged(posted);
    assert.equal(answer?.status, 400);
    assert.match(spans[0]?.failure ?? '', want);
    assert.equal(spans[0]?.attributes['http.response.status_code'], 400);
  });
}
