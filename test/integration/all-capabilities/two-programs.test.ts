/** The programs of two peers in one cluster, each with a Lease of its own, under one budget. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { readPhasedRolloutConfig, sharedConfigOf } from '#config/phased-config.ts';
import { runPhasedRollout } from '#operator/phased-rollout/phased-rollout.ts';
import { FakePrometheus } from '#support/external-services/fake-prometheus.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import type { World } from '#support/world/world.ts';
import { images, NAMESPACE } from '#support/world/world-group.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createReadiness } from '#telemetry/http/readiness.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { allowBudgets, makeBudget } from '../stages/budget-stage.ts';
import {
  changeDb,
  createDb,
  createRollout,
  installRollouts,
  LackWatch,
  openGroups,
  partitionOf,
  phaseOf,
  until,
  untilDb,
} from './all-stage.ts';

/** Starts the program of PhasedRollouts beside that of groups. @returns what ends it */
function startPhased(world: World): () => Promise<void> {
  const { clock, cluster } = world;
  const flags = ['--leader-elect', '--health-probe-bind-address=0'];
  const outcome = readPhasedRolloutConfig(flags, { ENABLE_WEBHOOKS: 'false' });
  assert.ok(outcome.kind === 'run');
  const registry = createMetricsRegistry();
  const ending = new AbortController();
  const run = runPhasedRollout(
    {
      door: outcome.config,
      config: sharedConfigOf(outcome.config, NAMESPACE),
      clock,
      log: new KeptLog(),
      registry,
      metrics: createOperatorMetrics(registry),
      budgetMetrics: new BudgetMetrics(registry),
      httpMetrics: createHttpServerMetrics(registry),
      readiness: createReadiness(),
      transport: cluster.transport({ user: 'phased' }),
      identity: 'phased',
      prometheus: new FakePrometheus(clock),
    },
    ending.signal,
  );
  return async () => {
    ending.abort();
    await world.run(run);
  };
}

test('a pod that one program let go, and that a slow controller has not taken yet, keeps the zones of another whole [EXCL-1, BUDG-1]', async () => {
  const world = await openGroups();
  await installRollouts(world);
  await createDb(world);
  await allowBudgets(world);
  await makeBudget(world);
  const { clock, cluster } = world;
  await world.readyOperator();
  const stop = startPhased(world);
  await createRollout(world, 'db');
  await until(world, 'settled', () => phaseOf(world) === 'Updated' && partitionOf(world) === 3);
  await clock.advance(seconds(130));
  const lacks = new LackWatch(world);
  const controller = 'system:serviceaccount:kube-system:statefulset-controller';
  const disarm = cluster.faults.add({
    match: { user: controller, verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(8) },
  });
  await changeDb(world, 'db:2');
  await until(world, 'one may go', () => partitionOf(world) === 2);
  await world.setImage(images.new);
  await clock.advance(seconds(30));
  disarm();
  await untilDb(world, 'db:2');
  await world.untilRolled(images.new);
  assert.deepEqual([...lacks.together], []);
  await stop();
  await world.close();
});
