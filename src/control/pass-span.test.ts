import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GroupBench, KEY } from '#support/rollouts/group-bench.ts';
import { keptTracing } from '#support/telemetry/kept-tracing.ts';
import type { SeenSpan } from '#support/telemetry/otlp-spans.ts';
import { GroupReconciler } from './reconcile-group.ts';

/** The span of one pass over the group of `bench`. */
async function spanOf(bench: GroupBench): Promise<SeenSpan | undefined> {
  const { tracing, end } = keptTracing();
  const reconciler = new GroupReconciler({ ...bench.ports, tracing });
  await reconciler.reconcile(KEY, bench.stopping.signal).catch(() => undefined);
  await reconciler.idle();
  const spans = await end();
  assert.equal(spans.length, 1);
  return spans[0];
}

test('a pass is a span that says what was decided about which group, and why', async () => {
  const bench = await new GroupBench({ maxUnavailable: '2' }).proven();
  const span = await spanOf(bench);
  assert.deepEqual([span?.name, span?.kind, span?.failure], ['reconcile', 'internal', undefined]);
  assert.deepEqual(span?.attributes, {
    'k8s.namespace.name': 'test',
    rollout_group: 'ingester',
    'pass.result': 'ended',
    'pass.decisions': ['delete-pod', 'hold'],
    'pass.reasons': ['PodOutdated', 'ZoneOrder'],
    'pass.pods_deleted': 2,
  });
});

test('a pass that fails is a span that failed', async () => {
  const bench = await new GroupBench({ updateStrategy: 'RollingUpdate' }).proven();
  const span = await spanOf(bench);
  assert.match(span?.failure ?? '', /RollingUpdate/);
});

test('a pass that cannot go on is a span with its error', async () => {
  const bench = await new GroupBench().proven();
  bench.world.pods.freshness.delivered('5000');
  await bench.world.clock.advance(10_001);
  const span = await spanOf(bench);
  assert.match(span?.errors[0] ?? '', /^RevisionWentBackError: /);
});
