import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import type { KeyPair } from '#certificate/x509/certificate-source.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { reviewDocument, setObject } from '#support/admission/admission-requests.ts';
import { noClusterValidation } from '#support/admission/no-cluster-validation.ts';
import { WebhookClient } from '#support/admission/webhook-client.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { noDownscale } from '../downscale/no-downscale.ts';
import { ConcurrencyLimit } from '../review/concurrency-limit.ts';
import type { ReviewDecision, Webhook } from '../review/review.ts';
import { handlersOf } from '../review/review-handler.ts';
import { type AdmissionServer, startAdmissionServer } from './admission-server.ts';

const clock = systemClock();
const registry = createMetricsRegistry();
const metrics = createHttpServerMetrics(registry);

/** Answers what the test says, as soon as the deadline allows. */
function saying(path: string, decision: ReviewDecision): Webhook {
  return { path, patience: undefined, judge: () => decision };
}

const stuck: Webhook = {
  path: '/admission/stuck',
  patience: undefined,
  judge: (_request, context) => {
    const { signal } = context.deadline();
    return new Promise((resolve) => {
      const end = (): void => resolve({ isAllowed: false, message: 'gave up', code: 429 });
      signal.addEventListener('abort', end, { once: true });
    });
  },
};

/** Says when it asks others about a review, and answers all when it is told to. */
class AskingWebhook implements Webhook {
  readonly path = '/admission/asks';
  readonly patience = undefined;
  readonly #answered = Promise.withResolvers<void>();
  #asked = Promise.withResolvers<void>();

  /** Resolves when the next review has come this far. */
  async next(): Promise<void> {
    this.#asked = Promise.withResolvers();
    return this.#asked.promise;
  }

  readonly judge: Webhook['judge'] = async () => {
    this.#asked.resolve();
    await this.#answered.promise;
    return { isAllowed: false, message: 'asked', code: 429 };
  };

  answer(): void {
    this.#answered.resolve();
  }
}

const broken: Webhook = {
  path: '/admission/broken',
  patience: undefined,
  judge: () => Promise.reject(new Error('a bug')),
};

const webhooks: readonly Webhook[] = [
  noDownscale({
    client: new Proxy({}, {}) as never,
    clock,
    log: silentLogger,
    limit: new ConcurrencyLimit(1),
  }),
  saying('/admission/warned', { isAllowed: true, warnings: ['careful'] }),
  saying('/admission/told', { isAllowed: true, message: 'all prepared' }),
  saying('/admission/coded', {
    isAllowed: false,
    message: 'later',
    code: 429,
    causes: [{ reason: 'DependencyFailed', message: 'no answer' }],
  }),
  stuck,
  broken,
];

const requestTimeout = seconds(1);

let certificate: KeyPair;
let server: AdmissionServer;
let client: WebhookClient;

async function open(
  options: Partial<Parameters<typeof startAdmissionServer>[0]> = {},
): Promise<AdmissionServer> {
  return startAdmissionServer({
    port: 0,
    host: '127.0.0.1',
    certificate,
    clock,
    log: silentLogger,
    metrics,
    clusterValidation: noClusterValidation,
    handlers: handlersOf(webhooks, { clock, log: silentLogger, requestTimeout }),
    requestTimeout,
    drain: millis(0),
    ...options,
  });
}

before(async () => {
  certificate = await selfSigned(clock.now());
  server = await open();
  client = new WebhookClient(server.port, certificate.cert);
});

after(async () => {
  await client.close();
  await server.close();
});

function review(members: JsonObject = {}, apiVersion?: string): JsonObject {
  const set = (replicas: number): JsonObject =>
    setObject({ replicas, labels: { 'grafana.com/no-downscale': 'true' } });
  return reviewDocument({ object: set(1), oldObject: set(2), ...members }, apiVersion);
}

const path = '/admission/no-downscale';
/** A review of 1 MiB. */
const body1MiB = JSON.stringify(review({ padding: 'x'.repeat(1_024 * 1_024) }));
const post = (body: string, headers?: Readonly<Record<string, string>>, to = path) =>
  client.post(to, body, headers);

const refusedTexts: Record<string, readonly [body: string, want: RegExp]> = {
  'an empty body [admission 3]': ['', /^Request could not be decoded: /],
  'half an object [admission 4]': ['{', /^Request could not be decoded: /],
  'a Deployment [admission 5]': [
    '{"apiVersion":"apps/v1","kind":"Deployment"}',
    /^Unsupported group version kind: apps\/v1, Kind=Deployment\n$/,
  ],
  'a Pod': [
    '{"apiVersion":"v1","kind":"Pod"}',
    /^Unsupported group version kind: \/v1, Kind=Pod\n$/,
  ],
  'an unknown version of the review [admission 6]': [
    JSON.stringify(review({}, 'admission.k8s.io/v2')),
    /^Request could not be decoded: no kind "AdmissionReview" is registered for version "admission.k8s.io\/v2"\n$/,
  ],
  'an object without kind': [
    '{"apiVersion":"v1"}',
    /^Request could not be decoded: Object 'Kind' is missing\n$/,
  ],
  'a review without request [admission 10]': [
    '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
    /^Request could not be decoded: request is missing\n$/,
  ],
  'a review whose request is none': [
    '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":[]}',
    /^Request could not be decoded: request must be an object\n$/,
  ],
  'a member of the wrong type': [
    JSON.stringify(review({ dryRun: 'yes' })),
    /^Request could not be decoded: request\.dryRun must be true or false\n$/,
  ],
  'protobuf (D-29)': ['k8s\0\n\x10', /^Request could not be decoded: protobuf is not supported\n$/],
  'what nests too deep (D-29)': [
    `{"a":${'['.repeat(1_000)}${']'.repeat(1_000)}}`,
    /^Request could not be decoded: it nests deeper than 1000 levels\n$/,
  ],
  'YAML, which nothing sends (D-58) [admission 13]': [
    'apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\n',
    /^Request could not be decoded: it is not a JSON object\n$/,
  ],
  'a name of 7 MiB (D-58)': [
    JSON.stringify(review({ name: 'x'.repeat(7 * 1_024 * 1_024) })),
    /^Request could not be decoded: it has a member request that has a member name that has more than 253 characters\n$/,
  ],
};
for (const [what, [body, want]] of Object.entries(refusedTexts)) {
  test(`handlersOf() answers 400 to ${what}`, async () => {
    const { status, text } = await post(body);
    assert.equal(status, 400);
    assert.match(text, want);
  });
}

test('handlersOf() reads a review whose label is longer than the API server stores', async () => {
  const metadata = { name: 'x', labels: { 'grafana.com/no-downscale': 'x'.repeat(300) } };
  const odd = review({ object: { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata } });
  assert.equal((await post(JSON.stringify(odd))).status, 200);
});

test('handlersOf() serves on after a review without request [admission 10]', async () => {
  assert.equal(
    (await post('{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}')).status,
    400,
  );
  assert.equal((await post(JSON.stringify(review()))).status, 200);
});

test('handlersOf() refuses a foreign content type [admission 1]', async () => {
  const { status, text } = await post(JSON.stringify(review()), { 'content-type': 'text/plain' });
  assert.deepEqual([status, text], [400, 'wrong content type\n']);
});

test('handlersOf() refuses a request without content type', async () => {
  assert.equal((await post(JSON.stringify(review()), {})).status, 400);
});

test('admissionListener() takes a target in absolute form', async () => {
  const { port } = server;
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    ca: certificate.cert,
    servername: 'localhost',
  });
  const lines = [
    'Host: localhost',
    'Content-Type: text/plain',
    'Content-Length: 0',
    'Connection: close',
  ];
  socket.end(`POST https://localhost${path}?timeout=1s HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  assert.match(await text(socket), /^HTTP\/1\.1 400 [^]*\r\n\r\nwrong content type\n$/);
});

test('handlersOf() takes parameters after the content type [admission 2]', async () => {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  assert.equal((await post(JSON.stringify(review()), headers)).status, 200);
});

for (const type of ['Application/JSON', 'APPLICATION/JSON ; charset=utf-8']) {
  test(`handlersOf() takes the content type ${type}, as case does not matter there`, async () => {
    const headers = { 'content-type': type };
    assert.equal((await post(JSON.stringify(review()), headers)).status, 200);
  });
}

const denial =
  "downscale of statefulsets/ingester-zone-a in test from 2 to 1 replicas is not allowed because it has the label 'grafana.com/no-downscale=true'";

test('handlersOf() answers a denial with 200 and the uid [admission 8, 9, 14]', async () => {
  const { status, headers, text } = await post(JSON.stringify(review()));
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(
    text,
    `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"abc","allowed":false,"status":{"metadata":{},"message":"${denial}"}}}`,
  );
});

test('handlersOf() answers in the version that it was asked in [admission 7] [zau 92]', async () => {
  const { text } = await post(JSON.stringify(review({}, 'admission.k8s.io/v1beta1')));
  assert.equal(
    text,
    `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{"uid":"abc","allowed":false,"status":{"metadata":{},"message":"${denial}"}}}`,
  );
});

const shapes: Record<string, readonly [path: string, response: string]> = {
  'a plain allowance': ['/admission/no-downscale', '{"uid":"abc","allowed":true}'],
  'an allowance with a warning': [
    '/admission/warned',
    '{"uid":"abc","allowed":true,"warnings":["careful"]}',
  ],
  'an allowance with a message': [
    '/admission/told',
    '{"uid":"abc","allowed":true,"status":{"metadata":{},"message":"all prepared"}}',
  ],
  'a denial with a code and a cause': [
    '/admission/coded',
    '{"uid":"abc","allowed":false,"status":{"metadata":{},"message":"later","details":{"causes":[{"reason":"DependencyFailed","message":"no answer"}]},"code":429}}',
  ],
  'a fault of a webhook (HOOK-1)': [
    '/admission/broken',
    '{"uid":"abc","allowed":false,"status":{"metadata":{},"message":"the admission webhook failed","details":{"causes":[{"reason":"InternalError","message":"a bug"}]},"code":429}}',
  ],
};
for (const [what, [to, want]] of Object.entries(shapes)) {
  test(`reviewAnswer() has the shape of ${what}`, async () => {
    const same = setObject({ replicas: 2 });
    const body = JSON.stringify(review({ object: same, oldObject: same }));
    const { text } = await post(body, undefined, to);
    assert.equal(
      text,
      `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":${want}}`,
    );
  });
}

test('reviewAnswer() escapes the uid', async () => {
  const { text } = await post(JSON.stringify(review({ uid: '"\n</' })));
  assert.equal(JSON.parse(text).response.uid, '"\n</');
});

test('startAdmissionServer() knows exact paths only [admission 11]', async () => {
  assert.equal((await post('', undefined, `${path}/`)).status, 404);
  assert.equal((await post('', undefined, '/elsewhere')).status, 404);
});

test('startAdmissionServer() redirects to the cleaned path', async () => {
  const { status, headers } = await post('', undefined, '//admission/x/../no-downscale');
  assert.deepEqual([status, headers['location']], [301, '/admission/no-downscale']);
});

/** A review of {@link stuck} that stands still with its clock. */
function stuckReview(query: string): {
  readonly clock: FakeClock;
  readonly isAnswered: () => boolean;
} {
  const still = new FakeClock();
  const options = { clock: still, log: silentLogger, requestTimeout: seconds(1) };
  const handler = handlersOf([stuck], options).get(stuck.path);
  let isAnswered = false;
  const answer = handler?.({
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify(review())),
    caller: { query, begun: still.monotonic(), onLeave: () => undefined },
  });
  void Promise.resolve(answer).then(() => {
    isAnswered = true;
  });
  return { clock: still, isAnswered: () => isAnswered };
}

test('handlersOf() answers a stuck review at 90 % of the timeout [admission 12]', async () => {
  const { clock: still, isAnswered } = stuckReview('');
  await still.advance(899);
  assert.equal(isAnswered(), false);
  await still.advance(1);
  assert.equal(isAnswered(), true);
});

test('handlersOf() keeps to half of the time that the API server waits (D-27)', async () => {
  const { clock: still, isAnswered } = stuckReview('timeout=1s');
  await still.advance(499);
  assert.equal(isAnswered(), false);
  await still.advance(1);
  assert.equal(isAnswered(), true);
});

test('startAdmissionServer() does not read a body over the limit (D-29)', async () => {
  const alone = new WebhookClient(server.port, certificate.cert);
  try {
    const { status } = await alone.post(path, Buffer.alloc(8 * 1_024 * 1_024 + 1, 'a'));
    assert.equal(status, 413);
  } finally {
    await alone.close();
  }
});

test('startAdmissionServer() counts requests by route [admission 104]', async () => {
  const sentBefore = await sentBytes();
  const answer = await post(JSON.stringify(review()));
  // Over the same connection, so that the answer before it has been counted.
  await post('', undefined, '/unknown/path');
  await post('', undefined, '/unknown/path');
  const text = await registry.expose();
  assert.equal((await sentBytes()) - sentBefore, Buffer.byteLength(answer.text));
  assert.match(
    text,
    /rollout_operator_request_duration_seconds_count\{method="POST",route="other",status_code="404",ws="false"\} [1-9]/,
  );
  assert.match(
    text,
    /rollout_operator_request_duration_seconds_count\{method="POST",route="admission_no_downscale",status_code="200",ws="false"\} [1-9]/,
  );
  assert.match(
    text,
    /rollout_operator_request_message_bytes_count\{method="POST",route="admission_no_downscale"\} [1-9]/,
  );
});

/** Bytes of answers of the webhook so far, as the metric has them. */
async function sentBytes(): Promise<number> {
  const sum =
    /rollout_operator_response_message_bytes_sum\{method="POST",route="admission_no_downscale"\} (\d+)/;
  return Number(sum.exec(await registry.expose())?.[1] ?? 0);
}

test('startAdmissionServer() turns away a wrong cluster where the path is not exempt [admission 99]', async () => {
  const clusterValidation = {
    ...noClusterValidation,
    isEnabled: true,
    excludedPaths: ['admission/no-downscale'],
  };
  const strict = await open({ clusterValidation });
  const other = new WebhookClient(strict.port, certificate.cert);
  const body = JSON.stringify(review());
  const headers = { 'content-type': 'application/json' };
  assert.equal((await other.post(path, body)).status, 200);
  const refused = await other.post('/admission/warned', body);
  assert.equal(refused.status, 511);
  assert.equal(JSON.parse(refused.text).route, 'admission_warned');
  assert.equal(
    (await other.post('/admission/warned', body, { ...headers, 'x-cluster': 'test' })).status,
    200,
  );
  await other.close();
  await strict.close();
});

test('startAdmissionServer() serves a wrong cluster in soft mode, and counts it [admission 100]', async () => {
  const soft = await open({
    clusterValidation: { ...noClusterValidation, isEnabled: true, isSoft: true },
  });
  const other = new WebhookClient(soft.port, certificate.cert);
  const headers = { 'content-type': 'application/json', 'x-cluster': 'elsewhere' };
  assert.equal((await other.post(path, JSON.stringify(review()), headers)).status, 200);
  await other.close();
  await soft.close();
  assert.match(
    await registry.expose(),
    /rollout_operator_server_invalid_cluster_validation_label_requests_total\{protocol="http",method="admission_no_downscale",cluster_validation_label="test",request_cluster_validation_label="elsewhere"\} 1/,
  );
});

function dial(port: number, ca: string): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ port, host: '127.0.0.1', ca, servername: 'localhost' });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}

test('startAdmissionServer() ends the connection of a request that it fails at, and serves on', async () => {
  const failing = await open({
    clusterValidation: {
      ...noClusterValidation,
      isEnabled: true,
      excludedPaths: ['admission/told'],
    },
    metrics: {
      ...metrics,
      countMisdirected: () => {
        throw new Error('a bug');
      },
    },
  });
  const caller = new WebhookClient(failing.port, certificate.cert);
  try {
    await assert.rejects(caller.post(path, JSON.stringify(review())));
    assert.equal((await caller.post('/admission/told', JSON.stringify(review()))).status, 200);
  } finally {
    await caller.close();
    await failing.close();
  }
});

test('setCertificate() serves new connections with it, and keeps open ones', async () => {
  const swapping = await open();
  const old = new WebhookClient(swapping.port, certificate.cert);
  const body = JSON.stringify(review());
  assert.equal((await old.post(path, body)).status, 200);
  const next = await selfSigned(clock.now());
  await swapping.setCertificate(next);
  assert.equal((await old.post(path, body)).status, 200);
  const fresh = new WebhookClient(swapping.port, next.cert);
  assert.equal((await fresh.post(path, body)).status, 200);
  await assert.rejects(dial(swapping.port, certificate.cert));
  await Promise.all([old.close(), fresh.close()]);
  await swapping.close();
});

test('setCertificate() refuses a key of another certificate, and goes on with its own', async () => {
  const other = await selfSigned(clock.now());
  const wrong = { cert: certificate.cert, key: other.key };
  await assert.rejects(
    server.setCertificate(wrong),
    /^Error: Cannot use the certificate of the webhook server: /,
  );
  (await dial(server.port, certificate.cert)).destroy();
});

test('startAdmissionServer() names the port that is taken', async () => {
  await assert.rejects(open({ port: server.port }), {
    message: `Cannot serve webhooks on port ${server.port}: the port is in use by another program`,
  });
});

test('close() answers what is under way, and takes new requests while it drains', async () => {
  const ending = await open({ drain: millis(300) });
  const busy = new WebhookClient(ending.port, certificate.cert, { connections: 2 });
  const body = JSON.stringify(review());
  const underWay = busy.post('/admission/stuck', body);
  await busy.post(path, body);
  const closed = ending.close();
  const late = new WebhookClient(ending.port, certificate.cert);
  const answer = await late.post(path, body);
  assert.deepEqual([answer.status, answer.headers['connection']], [200, 'close']);
  assert.equal((await underWay).status, 200);
  await closed;
  await assert.rejects(dial(ending.port, certificate.cert));
  await Promise.all([busy.close(), late.close()]);
});

test('admissionListener() answers 8 requests of one connection at once, and turns away the next', async () => {
  const { port } = server;
  const socket = await dial(port, certificate.cert);
  const body = JSON.stringify(review());
  const lines = [
    `POST ${stuck.path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  const asked = `${lines.join('\r\n')}\r\n\r\n${body}`;
  const last = `${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`;
  socket.write(`${asked.repeat(19)}${last}`);
  const answers = await text(socket);
  assert.equal(answers.split('HTTP/1.1 200 ').length - 1, 8);
  assert.match(
    answers,
    /HTTP\/1\.1 429 [^]*Request could not be read: more than 8 requests of this connection are under way\n$/,
  );
});

test('admissionListener() holds no body while its webhook asks others', async (context) => {
  const asks = new AskingWebhook();
  // No request is to end by time here, however busy the machine is.
  const patient = seconds(60);
  const handlers = handlersOf([asks], { clock, log: silentLogger, requestTimeout: patient });
  const bodyRoom = 2 * body1MiB.length;
  const asking = await open({ handlers, bodyRoom, requestTimeout: patient });
  const callers = new WebhookClient(asking.port, certificate.cert, { connections: 6 });
  context.after(async () => {
    await callers.close();
    await asking.close();
  });
  const answers: ReturnType<WebhookClient['post']>[] = [];
  for (let at = 0; at < 6; at += 1) {
    // The room is for bodies that arrive, so the next one comes when the one before is asked about.
    const isAsked = asks.next();
    const answer = callers.post(asks.path, body1MiB);
    answers.push(answer);
    await Promise.race([isAsked, answer]);
  }
  asks.answer();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200]);
});

test('startAdmissionServer() ends a connection whose request does not arrive', async () => {
  const socket = await dial(server.port, certificate.cert);
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
  );
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.resume();
  await ended;
});
