/** What a flood of reviews holds while the API server is silent: the shipped heap is 96 MiB. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noDownscale } from '#admission/downscale/no-downscale.ts';
import { podEviction } from '#admission/eviction/pod-eviction.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import type { Webhook } from '#admission/review/review.ts';
import { sharedReads } from '#admission/review/shared-reads.ts';
import type { JsonObject } from '#base/json.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { FakeEvictionBudgets } from '#support/admission/fake-eviction-budgets.ts';
import { podView } from '#support/objects/views.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import {
  clock,
  connection,
  heap,
  posting,
  SlowServer,
  serveWebhooks,
} from './hostile-trust-stage.ts';

const MiB = 1_024 * 1_024;

/** 74 KB of labels. */
function manyLabels(seed: number): JsonObject {
  const names = Array.from({ length: 6_800 }, (_, at) =>
    `${seed.toString(36)}.${at.toString(36)}`.slice(0, 6),
  );
  return Object.fromEntries(names.map((name) => [name, '']));
}

function scaleReview(seed: number): string {
  const metadata = { name: `a${seed}`, namespace: 'test', uid: 'u', labels: manyLabels(seed) };
  const scale = (replicas: number): JsonObject => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata,
    spec: { replicas },
  });
  return JSON.stringify(
    reviewDocument({
      name: `a${seed}`,
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      subResource: 'scale',
      object: scale(1),
      oldObject: scale(3),
    }),
  );
}

function evictionReview(seed: number, labels = manyLabels(seed)): string {
  const name = `a-${seed}`;
  const metadata = { name, namespace: 'test', labels };
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata };
  return JSON.stringify(
    reviewDocument({
      name,
      kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      subResource: 'eviction',
      operation: 'CREATE',
      object: eviction,
      oldObject: eviction,
    }),
  );
}

interface Held {
  readonly bytes: number;
  /** Requests that wait at the API server. */
  readonly asked: number;
  /** Reviews that were answered all the same. */
  readonly refused: number;
}

/** The eviction webhook before an API server. */
function evictions(api: SlowServer, budgets = new FakeEvictionBudgets()): Webhook {
  return podEviction({
    budgets,
    client: sharedReads(api.client, clock),
    clock,
    log: silentLogger,
    metrics: new BudgetMetrics(createMetricsRegistry()),
    limits: { reads: new ConcurrencyLimit(100), judgements: new ConcurrencyLimit(2_000) },
  });
}

/** Budgets over all pods of {@link evictionReview} that take as long as `api`. */
function slowBudgets(api: SlowServer, pods: number): FakeEvictionBudgets {
  const budgets = new FakeEvictionBudgets();
  for (let at = 0; at < pods; at += 1) budgets.add(podView({ name: `a-${at}` }));
  budgets.script = () =>
    new Promise((_, reject) => {
      api.waiting.push(reject);
      api.onRequest();
    });
  return budgets;
}

/** Posts 4 reviews on each connection while the API server is silent; each waits there, or is answered. */
async function heldBy(
  webhookOf: (api: SlowServer) => Webhook,
  bodyOf: (seed: number) => string,
  connections = 50,
): Promise<Held> {
  const api = new SlowServer();
  const webhook = webhookOf(api);
  const server = await serveWebhooks([webhook]);
  const before = heap();
  let refused = 0;
  let progress = Promise.withResolvers<void>();
  api.onRequest = () => progress.resolve();
  const sockets = [];
  for (let at = 0; at < connections; at += 1) {
    const socket = await connection(server.port);
    socket.on('data', (chunk: Buffer) => {
      refused += chunk.toString('latin1').split('"code":429').length - 1;
      progress.resolve();
    });
    sockets.push(socket);
    for (let of = 0; of < 4; of += 1) {
      progress = Promise.withResolvers<void>();
      socket.write(posting(`${webhook.path}?timeout=30s`, bodyOf(at * 4 + of)));
      // One body at a time: all of them are more than may be read at once.
      await progress.promise;
    }
  }
  const held = { bytes: heap() - before, asked: api.waiting.length, refused };
  for (const socket of sockets) socket.destroy();
  api.end();
  await server.close();
  return held;
}

test('200 reviews of 148 KB that wait for a slow API server hold less than 48 MiB [D-58]', async () => {
  const limit = new ConcurrencyLimit(200);
  const { bytes, asked } = await heldBy(
    ({ client }) =>
      noDownscale({ client: sharedReads(client, clock), clock, log: silentLogger, limit }),
    scaleReview,
  );
  assert.equal(asked, 200);
  assert.ok(bytes < 48 * MiB, `${Math.round(bytes / MiB)} MiB are held`);
});

test('of 200 evictions 100 ask a slow API server, the others are answered 429, and all hold less than 48 MiB [D-30]', async () => {
  const { bytes, asked, refused } = await heldBy((api) => evictions(api), evictionReview);
  assert.deepEqual([asked, refused], [100, 100]);
  assert.ok(bytes < 48 * MiB, `${Math.round(bytes / MiB)} MiB are held`);
});

test('1,000 evictions that budgets judge at once wait side by side, and hold less than 48 MiB [D-30]', async () => {
  const { bytes, asked, refused } = await heldBy(
    (api) => evictions(api, slowBudgets(api, 1_000)),
    (seed) => evictionReview(seed, {}),
    250,
  );
  assert.deepEqual([asked, refused], [1_000, 0]);
  assert.ok(bytes < 48 * MiB, `${Math.round(bytes / MiB)} MiB are held`);
});
