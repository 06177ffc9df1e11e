import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Clock, Timer } from '#base/clock.ts';
import { instant, monotonic } from '#base/units.ts';
import { createLogger, unbuffered } from '../log/line-logger.ts';
import { createOperatorMetrics } from '../metrics/operator-metrics.ts';
import type { MetricsRegistry } from '../metrics.ts';
import { createMetricsRegistry } from '../metrics.ts';
import type { ClusterValidation } from './cluster-validation.ts';
import type { HttpServer, HttpServerOptions } from './http-server.ts';
import { startHttpServer } from './http-server.ts';
import { createHttpServerMetrics } from './http-server-metrics.ts';

/** A clock that stands still; timers fire when the test calls {@link ManualClock.fireAll}. */
class ManualClock implements Clock {
  readonly pending = new Map<Timer, () => void>();
  now(): ReturnType<Clock['now']> {
    return instant(0);
  }
  monotonic(): ReturnType<Clock['monotonic']> {
    return monotonic(0);
  }
  timer(_delay: unknown, fire: () => void): Timer {
    const timer = { cancel: () => void this.pending.delete(timer) };
    this.pending.set(timer, fire);
    return timer;
  }
  fireAll(): void {
    const due = [...this.pending.values()];
    this.pending.clear();
    for (const fire of due) fire();
  }
  sleep(): Promise<void> {
    return Promise.resolve();
  }
  yield(): Promise<void> {
    return Promise.resolve();
  }
}

const off: ClusterValidation = {
  isEnabled: false,
  isSoft: false,
  cluster: 'x',
  excludedPaths: ['admission/no-downscale', 'admission/prepare-downscale'],
  excludedUserAgents: [],
};

interface Served {
  readonly server: HttpServer;
  readonly registry: MetricsRegistry;
  readonly clock: ManualClock;
  readonly lines: readonly string[];
}

async function serve(
  context: TestContext,
  options: Partial<HttpServerOptions> = {},
): Promise<Served> {
  const registry = createMetricsRegistry();
  const clock = new ManualClock();
  const lines: string[] = [];
  const sink = (line: string): void => void lines.push(line);
  const server = await startHttpServer({
    clock,
    registry,
    logger: createLogger({ format: 'logfmt', level: 'debug', clock, sink: unbuffered(sink) }),
    metrics: createHttpServerMetrics(registry),
    clusterValidation: off,
    isReady: () => true,
    host: '127.0.0.1',
    port: 0,
    ...options,
  });
  context.after(() => server.close());
  return { server, registry, clock, lines };
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

/** Sends the path as it is, which `fetch` would clean. */
function get({ server }: Pick<Served, 'server'>, path: string, call: Call = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const read = async (response: IncomingMessage): Promise<void> => {
      const { statusCode: status, headers } = response;
      const isGzip = headers['content-encoding'] === 'gzip';
      const bytes = await buffer(response);
      resolve({ status, headers, body: (isGzip ? gunzipSync(bytes) : bytes).toString() });
    };
    const sent = request(
      { host: '127.0.0.1', port: server.port, path, agent: false, ...call },
      (response) => void read(response),
    );
    sent.once('error', reject);
    sent.end();
  });
}

test('[scenario 79] startHttpServer() answers /ready with 500 before the caches sync and 200 after', async (context) => {
  let isReady = false;
  const served = await serve(context, { isReady: () => isReady });
  const before = await get(served, '/ready');
  isReady = true;
  const after = await get(served, '/ready');
  assert.deepEqual([before.status, before.body, after.status, after.body], [500, '', 200, '']);
});

test('[scenario 79] startHttpServer() answers /metrics with 200 before it is ready', async (context) => {
  const served = await serve(context, { isReady: () => false });
  const answer = await get(served, '/metrics');
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
});

test('startHttpServer() answers /live with 200 as long as it answers, ready or not', async (context) => {
  const served = await serve(context, { isReady: () => false });
  const answer = await get(served, '/live');
  assert.deepEqual([answer.status, answer.body], [200, '']);
});

test('[scenario 79] startHttpServer() answers an unknown path with 404', async (context) => {
  assert.equal((await get(await serve(context), '/unknown')).status, 404);
});

for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD']) {
  test(`startHttpServer() answers ${method} /ready with 200 and no body (ME-31)`, async (context) => {
    const answer = await get(await serve(context), '/ready', { method });
    assert.deepEqual([answer.status, answer.body], [200, '']);
  });
}

test('startHttpServer() exposes what was counted (ME-32)', async (context) => {
  const served = await serve(context);
  createOperatorMetrics(served.registry).beginGroupReconcile('g');
  const { body } = await get(served, '/metrics');
  assert.match(body, /^rollout_operator_group_reconciles_total\{rollout_group="g"\} 1$/m);
});

test('startHttpServer() exposes nothing of the process that its registry has not (ME-9)', async (context) => {
  const served = await serve(context);
  await get(served, '/ready');
  const { body } = await get(served, '/metrics');
  assert.doesNotMatch(body, /^(?:# (?:HELP|TYPE) )?(?:nodejs|process|go)_/m);
});

const encodings: Record<string, 'gzip' | undefined> = {
  gzip: 'gzip',
  'deflate, GZIP;q=0.5, br': 'gzip',
  'gzip;q=0': undefined,
  'gzip;q=0.0, br': undefined,
  identity: undefined,
  '': undefined,
};
for (const [accepted, encoding] of Object.entries(encodings)) {
  test(`startHttpServer() answers Accept-Encoding "${accepted}" with ${encoding ?? 'plain text'} (ME-32)`, async (context) => {
    const served = await serve(context);
    createOperatorMetrics(served.registry).countRateLimited('/apis/apps');
    const answer = await get(served, '/metrics', { headers: { 'accept-encoding': accepted } });
    assert.equal(answer.headers['content-encoding'], encoding);
    assert.match(answer.body, /api_group="apps"/);
  });
}

test('startHttpServer() answers 500 with a sentence when the metrics cannot be gathered (ME-32)', async (context) => {
  const registry = {
    contentType: 'text/plain',
    expose: () => Promise.reject(new Error('two series are equal')),
  };
  const served = await serve(context, { registry });
  const answer = await get(served, '/metrics');
  assert.deepEqual(
    [answer.status, answer.body],
    [500, 'Cannot answer the request: two series are equal\n'],
  );
  assert.deepEqual(served.lines, [
    'level=error ts=1970-01-01T00:00:00Z msg="request failed" path=/metrics err="two series are equal"',
  ]);
});

for (const path of [
  '/debug/pprof',
  '/debug/pprof/heap',
  '/ready/',
  '/metrics/',
  '/',
  '/readyz',
  '/READY',
]) {
  test(`startHttpServer() answers ${path} with 404 (ME-33, ME-34)`, async (context) => {
    assert.equal((await get(await serve(context), path)).status, 404);
  });
}

const redirects: Record<string, string> = {
  '//ready': '/ready',
  '//ready?a=b': '/ready?a=b',
  '/./ready': '/ready',
  '/a/../ready': '/ready',
  '/../../ready': '/ready',
  '/ready//': '/ready/',
  '//evil.example/a': '/evil.example/a',
};
for (const [path, location] of Object.entries(redirects)) {
  test(`startHttpServer() redirects ${path} to ${location} (ME-34)`, async (context) => {
    const answer = await get(await serve(context), path);
    assert.deepEqual([answer.status, answer.headers.location, answer.body], [301, location, '']);
  });
}

test('startHttpServer() answers a path with a backslash with 400', async (context) => {
  assert.equal((await get(await serve(context), '//\\evil.example')).status, 400);
});

test('startHttpServer() answers a request of HTTP/1.0 without a Host', async (context) => {
  const { server } = await serve(context);
  const socket = connect(server.port, '127.0.0.1');
  socket.end('GET /ready HTTP/1.0\r\n\r\n');
  assert.match(await text(socket), /^HTTP\/1\.1 200 OK\r\n/);
});

test('startHttpServer() observes each request by route (ME-20…ME-23)', async (context) => {
  const served = await serve(context);
  await get(served, '/ready');
  await get(served, '/nothing/here', { method: 'POST' });
  await get(served, '/debug/pprof/heap');
  const { body } = await get(served, '/metrics');
  const wanted = [
    'rollout_operator_request_duration_seconds_count{method="GET",route="ready",status_code="200",ws="false"} 1',
    'rollout_operator_request_duration_seconds_count{method="POST",route="other",status_code="404",ws="false"} 1',
    'rollout_operator_request_duration_seconds_count{method="GET",route="debug_pprof",status_code="404",ws="false"} 1',
    'rollout_operator_request_message_bytes_sum{method="GET",route="ready"} 0',
    'rollout_operator_response_message_bytes_sum{method="POST",route="other"} 19',
    'rollout_operator_inflight_requests{method="GET",route="ready"} 0',
    'rollout_operator_inflight_requests{method="GET",route="metrics"} 1',
  ];
  const lines = body.split('\n');
  assert.deepEqual(
    wanted.filter((line) => !lines.includes(line)),
    [],
  );
});

const strict: ClusterValidation = { ...off, isEnabled: true, excludedUserAgents: [/^curl\//] };

test('startHttpServer() answers a request for another cluster with 511 (ME-40)', async (context) => {
  const served = await serve(context, { clusterValidation: strict });
  const answer = await get(served, '/other', { headers: { 'x-cluster': 'y' } });
  assert.equal(answer.status, 511);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(answer.body), {
    cluster_validation_error_message:
      'The request must carry the header X-Cluster: x, but it has "y"',
    route: 'other',
  });
});

test('startHttpServer() logs and counts a request for another cluster (ME-24, ME-40)', async (context) => {
  const served = await serve(context, { clusterValidation: strict });
  await get(served, '/other', { headers: { 'x-cluster': 'y', 'user-agent': 'tester' } });
  assert.deepEqual(served.lines, [
    'level=warn ts=1970-01-01T00:00:00Z msg="request with a wrong cluster validation label" ' +
      'path=/other method=GET user_agent=tester cluster_validation_label=x ' +
      'request_cluster_validation_label=y soft=false',
  ]);
  const { body } = await get(served, '/metrics');
  assert.ok(
    body.includes(
      'rollout_operator_server_invalid_cluster_validation_label_requests_total{protocol="http",method="other",' +
        'cluster_validation_label="x",request_cluster_validation_label="y"} 1',
    ),
  );
});

test('startHttpServer() only reports a request for another cluster in soft mode (ME-40)', async (context) => {
  const served = await serve(context, { clusterValidation: { ...strict, isSoft: true } });
  const answer = await get(served, '/other');
  assert.equal(answer.status, 404);
  assert.match(served.lines[0] ?? '', /request_cluster_validation_label= soft=true$/);
});

test('startHttpServer() rejects with one sentence when the port is in use (FL-12)', async (context) => {
  const { server } = await serve(context);
  await assert.rejects(serve(context, { port: server.port }), {
    message: `Cannot serve HTTP on port ${server.port}: the port is in use by another program`,
  });
});

test('startHttpServer() rejects with one sentence for a port that does not exist (FL-12)', async (context) => {
  await assert.rejects(serve(context, { port: 70_000 }), {
    message: /^Cannot serve HTTP on port 70000: /,
  });
});

/** A server that is asked for its metrics and does not answer before `release` is called. */
async function serveSlowly(
  context: TestContext,
): Promise<Served & { asked: Promise<void>; release: () => void }> {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string>();
  const expose = (): Promise<string> => {
    asked.resolve();
    return answer.promise;
  };
  const served = await serve(context, { registry: { contentType: 'text/plain', expose } });
  context.after(() => answer.resolve(''));
  return { ...served, asked: asked.promise, release: () => answer.resolve('late') };
}

test('HttpServer.close() waits for the requests under way', async (context) => {
  const served = await serveSlowly(context);
  const order: string[] = [];
  const answered = get(served, '/metrics');
  await served.asked;
  const closed = served.server.close().then(() => void order.push('closed'));
  order.push('released');
  served.release();
  const [answer] = await Promise.all([answered, closed]);
  assert.deepEqual([answer.body, order], ['late', ['released', 'closed']]);
});

test('HttpServer.close() does not wait for a connection that is kept open without a request', async (context) => {
  const served = await serve(context);
  const agent = new Agent({ keepAlive: true });
  context.after(() => agent.destroy());
  await get(served, '/ready', { agent });
  await served.server.close();
});

test('HttpServer.close() does not wait for a connection that never sent a request', async (context) => {
  const served = await serve(context);
  const socket = connect(served.server.port, '127.0.0.1');
  context.after(() => socket.destroy());
  await once(socket, 'connect');
  await get(served, '/ready'); // by now the server has accepted the first connection, too
  await served.server.close();
});

test('HttpServer.close() ends kept connections once their request is answered', async (context) => {
  const served = await serveSlowly(context);
  const agent = new Agent({ keepAlive: true });
  context.after(() => agent.destroy());
  const answered = get(served, '/metrics', { agent });
  await served.asked;
  const closed = served.server.close();
  served.release();
  await Promise.all([answered, closed]);
});

test('HttpServer.close() cuts requests that outlast the write timeout', async (context) => {
  const served = await serveSlowly(context);
  const answered = get(served, '/metrics');
  await served.asked;
  const closed = served.server.close();
  served.clock.fireAll();
  await assert.rejects(answered, { code: 'ECONNRESET' });
  await closed;
});

test('HttpServer.close() can be called again', async (context) => {
  const { server } = await serve(context);
  await Promise.all([server.close(), server.close()]);
});

test('HttpServer.close() refuses new connections', async (context) => {
  const served = await serve(context);
  const { port } = served.server;
  await served.server.close();
  await assert.rejects(get({ server: { ...served.server, port } }, '/ready'), {
    code: 'ECONNREFUSED',
  });
});

test('startHttpServer() cuts an answer that takes longer than the write timeout (ME-30)', async (context) => {
  const served = await serveSlowly(context);
  const answered = get(served, '/metrics');
  await served.asked;
  served.clock.fireAll();
  await assert.rejects(answered, { code: 'ECONNRESET' });
});

test('startHttpServer() leaves no timer behind an answer', async (context) => {
  const served = await serve(context);
  await get(served, '/ready');
  await served.server.close();
  assert.equal(served.clock.pending.size, 0);
});

const asking = 'GET /metrics HTTP/1.1\r\nHost: x\r\n';

test('startHttpServer() answers 8 requests of one connection at once, and turns away the next', async (context) => {
  const served = await serveSlowly(context);
  const socket = connect(served.server.port, '127.0.0.1');
  socket.write(`${asking}\r\n`.repeat(20));
  await served.asked;
  served.release();
  const answers = await text(socket);
  assert.equal(answers.split('HTTP/1.1 200 ').length - 1, 8);
  assert.match(
    answers,
    /HTTP\/1\.1 429 [^]*\r\n\r\nMore than 8 requests of this connection are under way\n$/,
  );
});

test('startHttpServer() gives all who ask for metrics at once the same exposition', async (context) => {
  let expositions = 0;
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<string>();
  const expose = (): Promise<string> => {
    expositions += 1;
    begun.resolve();
    return release.promise;
  };
  const served = await serve(context, { registry: { contentType: 'text/plain', expose } });
  const socket = connect(served.server.port, '127.0.0.1');
  const zipped = 'Accept-Encoding: gzip\r\n';
  socket.write(`${asking}\r\n${asking}${zipped}\r\n${asking}Connection: close\r\n\r\n`);
  await begun.promise;
  release.resolve('metric 1\n');
  const answers = await text(socket);
  assert.equal(answers.split('HTTP/1.1 200 ').length - 1, 3);
  assert.equal(answers.split('metric 1\n').length - 1, 2);
  assert.equal(expositions, 1);
  await get(served, '/metrics');
  assert.equal(expositions, 2);
  await get(served, '/metrics', { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(expositions, 3);
});
