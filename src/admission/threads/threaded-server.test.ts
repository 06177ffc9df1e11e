import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { connect } from 'node:tls';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import type { KeyPair } from '#certificate/certificate-source.ts';
import { selfSigned } from '#embedded-cluster/self-signed.ts';
import { createHttpServerMetrics } from '#telemetry/http-server-metrics.ts';
import { createLogger, unbuffered } from '#telemetry/line-logger.ts';
import { createMetricsRegistry, type MetricsRegistry } from '#telemetry/metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { reviewDocument } from '#testing/admission-requests.ts';
import { noClusterValidation } from '#testing/no-cluster-validation.ts';
import { WebhookClient } from '#testing/webhook-client.ts';
import type { AdmissionServer, AdmissionServerOptions } from '../admission-server.ts';
import { endpointsOf } from '../endpoint.ts';
import { noDownscaleFront, podEvictionFront } from '../fronts.ts';
import type { Verdict, Webhook } from '../review.ts';
import { startThreadedServer } from './threaded-server.ts';

const clock = systemClock();
const path = noDownscaleFront.path;
const asked = podEvictionFront.path;
const review = JSON.stringify(reviewDocument());
/** So many that both threads get some, but for one run in 2^63. */
const connections = 64;

const told: Verdict = { isAllowed: true, message: 'by the first thread' };
const evictions: Webhook = { ...podEvictionFront, patience: undefined, judge: () => told };
const sights: Webhook = {
  ...noDownscaleFront,
  patience: undefined,
  judge: () => assert.fail('an update that leaves the replicas is told at sight'),
};

describe('startThreadedServer()', () => {
  let certificate: KeyPair;
  let registry: MetricsRegistry;
  let server: AdmissionServer;
  const own: string[] = [];
  const helped: string[] = [];

  const opened: AdmissionServer[] = [];

  async function open(port = 0, more: Opening = {}): Promise<AdmissionServer> {
    const { webhook = evictions, ...rest } = more;
    registry = createMetricsRegistry();
    const format = { format: 'logfmt', level: 'debug' } as const;
    const log = createLogger({ ...format, clock, sink: unbuffered((line) => void own.push(line)) });
    const requestTimeout = seconds(5);
    const given = {
      port,
      host: '127.0.0.1',
      certificate,
      clock,
      log,
      metrics: createHttpServerMetrics(registry),
      clusterValidation: noClusterValidation,
      endpoints: endpointsOf([sights, webhook], { clock, log, requestTimeout }),
      requestTimeout,
      drain: seconds(0),
      ...rest,
    };
    const write = (line: string): void => void helped.push(line);
    const started = await startThreadedServer(given, { count: 1, write, log: format });
    opened.push(started);
    return started;
  }

  /** A connection to the helper: what the first thread answers, its log shows before the answer is read. */
  async function clientOfHelper(of: AdmissionServer): Promise<WebhookClient> {
    for (;;) {
      const client = new WebhookClient(of.port, certificate.cert);
      const lines = own.length;
      await client.post(path, review);
      if (own.length === lines) return client;
      await client.close();
    }
  }

  /** Posts to `to` over as many connections as reach every thread. @returns the answers, each once */
  async function postToAll(to: string): Promise<ReadonlySet<string>> {
    const client = new WebhookClient(server.port, certificate.cert, { connections: 0 });
    const posts = Array.from({ length: connections }, () => client.post(to, review));
    const answers = await Promise.all(posts);
    await client.close();
    return new Set(answers.map(({ status, text }) => `${status} ${text}`));
  }

  before(async () => {
    certificate = await selfSigned(clock.now());
    server = await open();
  });

  after(async () => {
    await Promise.all(opened.map((each) => each.close()));
  });

  test('answers at sight in each thread, all of which the log and the metrics show', async () => {
    const answers = await postToAll(path);
    assert.deepEqual([...answers], [`200 ${JSON.stringify(answer({ allowed: true }))}`]);
    await server.close();
    const answered = (lines: readonly string[]): number =>
      lines.filter((line) => line.includes('msg="admission review answered"')).length;
    assert.equal(answered(own) + answered(helped), connections);
    assert.notEqual(answered(own), 0);
    assert.notEqual(answered(helped), 0);
    const text = await registry.expose();
    const labels = 'method="POST",route="admission_no_downscale"';
    const { count, inflight } = {
      count: `rollout_operator_request_duration_seconds_count{${labels},status_code="200",ws="false"} ${connections}\n`,
      inflight: `rollout_operator_inflight_requests{${labels}} 0\n`,
    };
    assert.ok(text.includes(count) && text.includes(inflight), text);
    server = await open();
  });

  test('asks the first thread for what is not told at sight', async () => {
    const status = { metadata: {}, message: 'by the first thread' };
    const answers = await postToAll(asked);
    assert.deepEqual([...answers], [`200 ${JSON.stringify(answer({ allowed: true, status }))}`]);
  });

  test('waits for work in the background of a review that a helper asked for while it closed', async () => {
    const judging = Promise.withResolvers<void>();
    const judged = Promise.withResolvers<Verdict>();
    const isAsked = Promise.withResolvers<void>();
    const isAskedAgain = Promise.withResolvers<void>();
    const asks = [isAsked, isAskedAgain];
    const background: Promise<void>[] = [];
    let isWorkDone = false;
    const webhook: Webhook = {
      ...evictions,
      judge: async () => {
        judging.resolve();
        const verdict = await judged.promise;
        const done = isAskedAgain.promise.then(() => void (isWorkDone = true));
        background.push(done);
        return verdict;
      },
    };
    const closing = await open(0, {
      webhook,
      background: () => {
        asks.shift()?.resolve();
        return Promise.all(background);
      },
    });
    const client = await clientOfHelper(closing);
    const answered = client.post(asked, review);
    await judging.promise;
    const closed = closing.close().then(() => isWorkDone);
    // The first thread has no connection, and sees nothing in the background yet.
    await isAsked.promise;
    judged.resolve(told);
    assert.equal((await answered).status, 200);
    await client.close();
    assert.equal(await closed, true);
  });

  test('gives connections of all threads a new certificate', async () => {
    certificate = await selfSigned(clock.now());
    await server.setCertificate(certificate);
    const served = Array.from({ length: connections }, async () => {
      const socket = connect({
        port: server.port,
        host: '127.0.0.1',
        ca: certificate.cert,
        servername: 'localhost',
      });
      await once(socket, 'secureConnect');
      socket.destroy();
    });
    await Promise.all(served);
  });

  test('refuses a key of another certificate', async () => {
    const other = await selfSigned(clock.now());
    await assert.rejects(
      server.setCertificate({ cert: certificate.cert, key: other.key }),
      /^Error: Cannot use the certificate of the webhook server: /,
    );
  });

  test('does not share the port with another program', async () => {
    const foreign = createServer().listen(0, '127.0.0.1');
    await once(foreign, 'listening');
    const address = foreign.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const message = `Cannot serve webhooks on port ${port}: the port is in use by another program`;
    await assert.rejects(open(port), { message });
    foreign.close();
  });

  test('does not share the port with another operator', async () => {
    const message = `Cannot serve webhooks on port ${server.port}: the port is in use by another program`;
    await assert.rejects(open(server.port), { message });
  });
});

/** What a test opens in place of the usual. */
interface Opening extends Partial<Pick<AdmissionServerOptions, 'background'>> {
  readonly webhook?: Webhook;
}

function answer(response: JsonObject): JsonObject {
  const kind = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' };
  return { ...kind, response: { uid: 'abc', ...response } };
}
