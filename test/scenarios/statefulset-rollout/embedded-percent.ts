import assert from 'node:assert/strict';
import { readConfig } from '#config/read-config.ts';
import { runLedTerms } from '#operator/manager/led-terms.ts';
import { reconcileStatefulsetRollouts } from '#operator/statefulset-rollout/reconcile.ts';
import { phases } from '#statefulset-rollout/progress.ts';
import { FakeReceiver } from '#support/external-services/fake-receiver.ts';
import { FakeSlack } from '#support/external-services/fake-slack.ts';
import { quietOutside } from '#support/external-services/rollout-outside.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import type { World } from '#support/world/world.ts';
import { NAMESPACE } from '#support/world/world-group.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import type { OperatorHandle } from '../env.ts';

/** Starts the program that carries out StatefulsetRollouts, without a Lease, in the time of `world`. */
export function startPercentOperator(world: World): Promise<OperatorHandle> {
  const { clock, cluster } = world;
  const outcome = readConfig([
    `-kubernetes.namespace=${NAMESPACE}`,
    '-leader-election.enabled=false',
  ]);
  assert.ok(outcome.kind === 'run');
  const registry = createMetricsRegistry();
  const transport = cluster.transport({ user: 'operator-1', client: 'operator-1' });
  const ending = new AbortController();
  const given = {
    clock,
    transport,
    config: outcome.config,
    log: new KeptLog(),
    identity: 'operator-1',
    metrics: createOperatorMetrics(registry),
    rolloutMetrics: new RolloutMetrics(registry, { clock, phases }),
    outside: quietOutside(
      new FakeReceiver(() => clock.now()),
      new FakeSlack(() => clock.monotonic()),
    ),
  };
  const run = runLedTerms(
    given,
    (term, signal) => reconcileStatefulsetRollouts(given, term, signal),
    ending.signal,
  );
  run.catch(() => undefined);
  return Promise.resolve({
    kill: () => {
      transport.revoke();
      ending.abort();
      return Promise.resolve();
    },
    stop: () => {
      ending.abort();
      return world.run(run);
    },
  });
}
