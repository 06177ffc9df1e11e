import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { ScriptedHttpServer } from '#support/contracts/scripted-http-server.ts';
import type { Script } from '#support/contracts/transport-under-test.ts';
import { keptTracing } from '#support/telemetry/kept-tracing.ts';
import type { SeenSpan } from '#support/telemetry/otlp-spans.ts';
import { createPodHttp } from './network-pod-http.ts';
import type { PodAnswer } from './pod-http.ts';

interface TracedCall {
  readonly answer: PodAnswer;
  readonly spans: readonly SeenSpan[];
  readonly traceparents: readonly (string | undefined)[];
  readonly port: string;
}

/** A call of a pod that does as `script` says, by a pass. */
async function called(script: Script, path = '/prepare?secret=1'): Promise<TracedCall> {
  const server = new ScriptedHttpServer(script);
  const url = await server.listen();
  const { tracing, end } = keptTracing();
  const podHttp = createPodHttp({
    clock: new ManualClock(),
    cluster: 'test',
    timeout: seconds(5),
    env: {},
    tracing,
  });
  const call = { set: 'mimir/ingester', method: 'POST', url: new URL(path, url).href } as const;
  const answer = await tracing.within({ name: 'reconcile', kind: 'internal' }, () =>
    podHttp.call(call),
  );
  const traceparents = server.received.map(({ headers }) => headers['traceparent']);
  await podHttp.close();
  await server.close();
  return { answer, spans: await end(), traceparents, port: url.port };
}

test('a call of a pod is a span that tells whom was asked, without query', async () => {
  const { spans } = await called({ '/prepare': { kind: 'answer', status: 200, body: '' } });
  const [call, pass] = spans;
  assert.deepEqual([call?.name, call?.kind, call?.failure], ['call-pod POST', 'client', undefined]);
  assert.deepEqual(call?.attributes, {
    'http.request.method': 'POST',
    'k8s.namespace.name': 'mimir',
    'k8s.statefulset.name': 'ingester',
    'server.address': '127.0.0.1',
    'url.path': '/prepare',
    'http.response.status_code': 200,
  });
  assert.equal(call?.parentSpanId, pass?.spanId);
});

test('the trace of a call of a pod goes on there', async () => {
  const { spans, traceparents } = await called({
    '/prepare': { kind: 'answer', status: 200, body: '' },
  });
  const { traceId = '', spanId = '' } = spans[0] ?? {};
  assert.deepEqual(traceparents, [`00-${traceId}-${spanId}-01`]);
});

test('a call that the pod refuses is a span that failed', async () => {
  const { spans, answer } = await called({
    '/prepare': { kind: 'answer', status: 500, body: 'no' },
  });
  assert.equal(answer.kind, 'answered');
  assert.equal(spans[0]?.failure, 'the pod answered 500');
});

test('each request of a call that is redirected is a span of its own', async () => {
  const headers = { location: '/prepare' };
  const { spans, traceparents } = await called(
    {
      '/old': { kind: 'answer', status: 307, body: '', headers },
      '/prepare': { kind: 'answer', status: 200, body: '' },
    },
    '/old',
  );
  assert.deepEqual(
    spans.map(({ attributes }) => attributes['http.response.status_code']),
    [307, 200, undefined],
  );
  assert.equal(new Set(traceparents).size, 2);
});

test('a call without an answer is a span that says which kind of failure it was', async () => {
  const { spans, answer } = await called({}, 'http://127.0.0.1:1/prepare');
  assert.equal(answer.kind, 'refused');
  assert.equal(spans[0]?.attributes['error.type'], 'refused');
  assert.match(spans[0]?.failure ?? '', /ECONNREFUSED/);
});
