import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeAnswer, FakeTransport } from '#support/api-server/fake-transport.ts';
import { keptTracing } from '#support/telemetry/kept-tracing.ts';
import type { SeenSpan } from '#support/telemetry/otlp-spans.ts';
import { pathLabel } from '#telemetry/metrics/api-path.ts';
import { type Transport, TransportError, type TransportRequest } from '../transport/transport.ts';
import { withRequestSpans } from './request-spans.ts';

/** What `use` asks of an API server that answers `answer`: the spans, and the requests as they arrive there. */
async function traced(
  answer: FakeAnswer,
  use: (transport: Transport) => Promise<unknown>,
): Promise<{
  readonly spans: readonly SeenSpan[];
  readonly requests: readonly TransportRequest[];
}> {
  const { tracing, end } = keptTracing();
  const network = new FakeTransport(() => answer);
  await use(withRequestSpans(network, { tracing, pathOf: pathLabel }));
  return { spans: await end(), requests: network.requests };
}

const path = '/api/v1/namespaces/mimir/pods/ingester-zone-a-0';

test('withRequestSpans() names what is asked for without names, and tells path and status', async () => {
  const { spans } = await traced({ status: 200 }, (transport) =>
    transport.request({ method: 'DELETE', path: `${path}?dryRun=All` }),
  );
  assert.deepEqual(
    spans.map(({ name, kind, attributes, failure }) => ({ name, kind, attributes, failure })),
    [
      {
        name: 'DELETE core/v1/pods object',
        kind: 'client',
        attributes: {
          'http.request.method': 'DELETE',
          'url.path': path,
          'http.response.status_code': 200,
        },
        failure: undefined,
      },
    ],
  );
});

test('withRequestSpans() passes the trace on, beside the other headers', async () => {
  const { spans, requests } = await traced({}, (transport) =>
    transport.request({ method: 'GET', path, headers: { accept: 'application/json' } }),
  );
  const [span] = spans;
  assert.deepEqual(requests[0]?.headers, {
    accept: 'application/json',
    traceparent: `00-${span?.traceId ?? ''}-${span?.spanId ?? ''}-01`,
  });
});

test('withRequestSpans() fails the span of an answer that is an error', async () => {
  const { spans } = await traced({ status: 409 }, (transport) =>
    transport.request({ method: 'PUT', path }),
  );
  assert.equal(spans[0]?.failure, 'the API server answered 409');
  assert.equal(spans[0]?.attributes['http.response.status_code'], 409);
});

test('withRequestSpans() hands on why there is no answer, and its span carries that', async () => {
  const error = new TransportError('reset', 'connection');
  const { spans } = await traced(error, (transport) =>
    assert.rejects(transport.request({ method: 'GET', path }), error),
  );
  assert.deepEqual(spans[0]?.errors, ['TransportError: reset']);
});

test('withRequestSpans() lets beforeSend hold a request back', async () => {
  const stale = new Error('stale');
  const beforeSend = (): never => {
    throw stale;
  };
  const { spans, requests } = await traced({}, (transport) =>
    assert.rejects(transport.request({ method: 'DELETE', path, beforeSend }), stale),
  );
  assert.deepEqual(requests, []);
  assert.equal(spans[0]?.failure, 'stale');
});

test('withRequestSpans() ends the span of a watch with the headers', async () => {
  const { spans } = await traced({ body: 'event' }, async (transport) => {
    const { chunks } = await transport.stream({ method: 'GET', path: '/api/v1/pods?watch=true' });
    void chunks;
  });
  assert.deepEqual(
    spans.map(({ name }) => name),
    ['GET core/v1/pods collection'],
  );
});

test('withRequestSpans() closes the network', async () => {
  const { tracing } = keptTracing();
  const network = new FakeTransport(() => ({}));
  await withRequestSpans(network, { tracing, pathOf: pathLabel }).close();
  assert.equal(network.isClosed, true);
});
