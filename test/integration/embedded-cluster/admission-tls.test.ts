/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the assertion */
/** Webhooks over real sockets: what is verified, and what is said where that fails (AD-12, D-31). */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:https';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { type Answer, CONFIG_MAPS, sendOver } from './protocol-env.ts';

const HOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

describe('a webhook over TLS', () => {
  const clock = systemClock();
  let cluster: EmbeddedCluster;
  let server: Server;
  let caBundle: string;
  let port: number;
  const hosts: string[] = [];

  const send = (method: 'POST' | 'DELETE', path: string, body?: JsonObject): Promise<Answer> =>
    sendOver(cluster.transport(), { method, path, body });

  before(async () => {
    cluster = await createCluster({ clock, seed: 1 });
    await send('POST', '/api/v1/namespaces', { metadata: { name: 'demo' } });
    await send('POST', '/api/v1/namespaces/demo/services', {
      metadata: { name: 'hooks' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    });
    await send('POST', '/api/v1/namespaces/demo/services', {
      metadata: { name: 'inside' },
      spec: { ports: [{ port: 443 }] },
    });
    const identity = await selfSigned(clock.now(), ['hooks.demo.svc']);
    caBundle = Buffer.from(identity.cert).toString('base64');
    server = createServer(identity, (request, response) => {
      hosts.push(request.headers.host ?? '');
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { request: asked, ...type } = JSON.parse(Buffer.concat(chunks).toString());
        response.end(JSON.stringify({ ...type, response: { uid: asked.uid, allowed: true } }));
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve());
    });
    const address = server.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });

  after(async () => {
    await cluster.close();
    server.closeAllConnections();
    server.close();
  });

  /** The answer to a create that a webhook with `clientConfig` is asked about. */
  async function asked(clientConfig: JsonObject): Promise<Answer> {
    const rules = [
      { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
    ];
    const more = { sideEffects: 'None', admissionReviewVersions: ['v1'], rules };
    const webhooks = [{ name: 'tls.test.example', clientConfig, ...more }];
    const { status } = await send('POST', HOOKS, { metadata: { name: 'tls' }, webhooks });
    assert.equal(status, 201);
    try {
      return await send('POST', `${CONFIG_MAPS}?dryRun=All`, { metadata: { name: 'a' } });
    } finally {
      await send('DELETE', `${HOOKS}/tls`);
    }
  }

  const service = (name: string): JsonObject => ({ namespace: 'demo', name, port, path: '/x' });

  test('[cluster 46] is reached by URL where its certificate is trusted', async () => {
    const { status } = await asked({ url: `https://127.0.0.1:${port}/x`, caBundle });
    assert.deepEqual([status, hosts.splice(0)], [201, [`127.0.0.1:${port}`]]);
  });

  test('[cluster 46] is reached through a Service that is an external name, and must name the Service', async () => {
    const { status } = await asked({ service: service('hooks'), caBundle });
    assert.deepEqual([status, hosts.splice(0)], [201, [`hooks.demo.svc:${port}`]]);
  });

  const refusals: Record<string, { readonly config: () => JsonObject; readonly want: RegExp }> = {
    'a certificate that no CA vouches for': {
      config: () => ({ url: `https://localhost:${port}/x` }),
      want: /: tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
    },
    'a port where no client listens': {
      config: () => ({ url: 'https://127.0.0.1:1/x', caBundle }),
      want: /: dial tcp 127\.0\.0\.1:1: connect: connection refused$/,
    },
    'a Service inside the cluster, which has no network': {
      config: () => ({ service: { ...service('inside'), port: 443 }, caBundle }),
      want: /: the embedded cluster has no network behind Service demo\/inside of type ClusterIP: make it an ExternalName$/,
    },
  };
  for (const [fact, { config, want }] of Object.entries(refusals)) {
    test(`[cluster 46] refuses for ${fact}`, async () => {
      const { status, body } = await asked(config());
      assert.equal(status, 500);
      assert.match(
        body.message,
        /^Internal error occurred: failed calling webhook "tls\.test\.example": failed to call webhook: Post "https:/,
      );
      assert.match(body.message, want);
    });
  }

  test('[cluster 46] refuses for a certificate of another Service', async () => {
    await send('POST', '/api/v1/namespaces/demo/services', {
      metadata: { name: 'other' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    });
    const { body } = await asked({ service: service('other'), caBundle });
    assert.equal(
      body.message,
      `Internal error occurred: failed calling webhook "tls.test.example": failed to call webhook: Post "https://other.demo.svc:${port}/x?timeout=10s": tls: failed to verify certificate: x509: certificate is valid for localhost, hooks.demo.svc, not other.demo.svc`,
    );
  });
});
