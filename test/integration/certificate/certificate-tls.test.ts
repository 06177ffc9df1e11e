import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { seconds } from '#base/units.ts';
import { createCertificateMetrics } from '#certificate/metrics.ts';
import { openSelfSignedCertificate } from '#certificate/self-signed/self-signed-certificate.ts';
import { createWebhookInformer, webhookTypes } from '#certificate/webhook-configuration.ts';
import type { RunningCertificate } from '#certificate/x509/certificate-source.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { DNS_NAME, NAMESPACE, SECRET } from './certificate-replica.ts';
import { bundlesIn } from './certificate-world.ts';

const clock = systemClock();

function clientOf(cluster: EmbeddedCluster, client: string): Client {
  const transport = cluster.transport({ client, user: client });
  return createClient({ transport, clock, timeout: seconds(10), userAgent: client });
}

interface Served {
  readonly server: Server;
  readonly port: number;
  readonly certificate: RunningCertificate;
  readonly ended: Promise<unknown>;
}

/** A replica that listens on 127.0.0.1 with whatever its certificate is at the moment. */
async function serve(client: Client, signal: AbortSignal): Promise<Served> {
  const log = new KeptLog({ keepsInfo: true });
  const report = ({ message }: { readonly message: string }): void => log.warn(message);
  const common = { client, clock, namespace: NAMESPACE, report };
  const configurations = {
    validating: createWebhookInformer({ ...common, kind: 'validating' }),
    mutating: createWebhookInformer({ ...common, kind: 'mutating' }),
  };
  const running = Object.values(configurations).map((informer) => informer.run(signal));
  const certificate = await openSelfSignedCertificate(
    {
      client,
      clock,
      log,
      metrics: createCertificateMetrics(createMetricsRegistry()),
      namespace: NAMESPACE,
      secretName: SECRET,
      dnsName: DNS_NAME,
      organization: 'Grafana Labs',
      // Polls and settles within a second.
      expiration: seconds(24),
      configurations,
    },
    signal,
  );
  const { source } = certificate;
  const server = createServer({ ...source.current() }, (_, response) => response.end('ok'));
  source.onChange(() => server.setSecureContext({ ...source.current() }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ended = Promise.all([certificate.run(signal), ...running]);
  return { server, port, certificate, ended };
}

/** One request over a connection of its own. @returns the fingerprint of what was served, or why it failed */
function call(
  port: number,
  ca: string,
): Promise<{ readonly leaf: string } | { readonly failure: string }> {
  return new Promise((resolve) => {
    const sent = request(
      { host: '127.0.0.1', port, servername: DNS_NAME, ca, agent: false, path: '/' },
      (response) => {
        const socket = response.socket as TLSSocket;
        const leaf = socket.getPeerCertificate().fingerprint256;
        response.resume();
        response.on('end', () => resolve({ leaf }));
      },
    );
    sent.on('error', (error) => resolve({ failure: error.message }));
    sent.end();
  });
}

test('D-28 over real TLS no new connection fails while two replicas rotate', async () => {
  const cluster = await createCluster({ clock, seed: 1 });
  const admin = clientOf(cluster, 'admin');
  const namespace = { metadata: { name: NAMESPACE } };
  await admin.create(
    resourceTypes.namespaces,
    {},
    { body: { apiVersion: 'v1', kind: 'Namespace', ...namespace } },
  );
  await admin.create(webhookTypes.validating, {}, { body: configuration });
  // What an API server trusts is what is stored.
  let bundle = '';
  cluster.eventLog.onCommit(({ resource, after }) => {
    if (resource.startsWith('validatingwebhook')) [bundle = ''] = bundlesIn(after ?? {});
  });
  const ending = new AbortController();
  const replicas = [
    await serve(clientOf(cluster, 'operator-1'), ending.signal),
    await serve(clientOf(cluster, 'operator-2'), ending.signal),
  ];
  await Promise.all(replicas.map(({ certificate }) => certificate.ready));
  const leaves = replicas.map(() => new Set<string>());
  const failures: string[] = [];
  const counts = { calls: 0 };
  const isRotated = (): boolean => leaves.every(({ size }) => size > 1);
  const givenUp = clock.monotonic() + seconds(20);
  const callers = replicas.flatMap(({ port }, index) =>
    Array.from({ length: 2 }, async () => {
      let afterwards = 50;
      while (afterwards > 0 && clock.monotonic() < givenUp) {
        const answer = await call(port, bundle);
        counts.calls += 1;
        if ('failure' in answer) failures.push(answer.failure);
        else leaves[index]?.add(answer.leaf);
        if (isRotated()) afterwards -= 1;
      }
    }),
  );
  // Deleting the Secret is how a person asks for another certificate.
  const key = { namespace: NAMESPACE, name: SECRET };
  await admin.delete(resourceTypes.secrets, key, { preconditions: {} });
  await Promise.all(callers);
  ending.abort();
  await Promise.all(replicas.map(({ ended }) => ended));
  for (const { server } of replicas) server.close();
  await cluster.close();
  assert.deepEqual(failures, []);
  assert.ok(isRotated(), `no rotation within 20 s and ${counts.calls} connections`);
  assert.ok(counts.calls > 200, `only ${counts.calls} connections`);
});

const configuration = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: {
    name: 'no-downscale-test',
    labels: {
      'grafana.com/inject-rollout-operator-ca': 'true',
      'grafana.com/namespace': NAMESPACE,
    },
  },
  webhooks: [
    {
      name: 'no-downscale-test.grafana.com',
      clientConfig: {
        service: {
          name: 'rollout-operator',
          namespace: NAMESPACE,
          path: '/admission/no-downscale',
        },
      },
      rules: [],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
};
