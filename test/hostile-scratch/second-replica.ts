/** Another replica of the operator, as far as it answers evictions: composed as src/operator-budgets.ts does. */
import { type Millis, millis } from '#base/units.ts';
import type { EvictionVerdict } from '#disruption-budget/eviction-budgets.ts';
import { readConfig } from '#config/read-config.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { openBudgets } from '#operator-budgets.ts';
import { cachesSynced, createCaches, runCaches } from '#operator-caches.ts';
import { BudgetMetrics } from '#telemetry/budget-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { createOperatorMetrics } from '#telemetry/operator-metrics.ts';
import { silentLogger } from '#testing/silent-logger.ts';
import { SkewedClock } from '#testing/skewed-clock.ts';
import type { World } from '#testing/world.ts';
import { NAMESPACE } from '#testing/world-group.ts';
import { OPERATOR_USER } from '#testing/world-operator.ts';
import type { DisruptionBudgets } from '#disruption-budget/disruption-budgets.ts';

export interface Replica {
  readonly client: string;
  readonly clock: SkewedClock;
  readonly authority: DisruptionBudgets;
  /** What it answers to an eviction of the pod as its cache has it, as one text. */
  evict(pod: string): Promise<string>;
  verdict(pod: string): Promise<EvictionVerdict | { readonly kind: 'no-pod' }>;
  stop(): Promise<void>;
}

export async function replica(world: World, client = 'replica-2', skew: Millis = millis(0)): Promise<Replica> {
  const outcome = readConfig([`-kubernetes.namespace=${NAMESPACE}`]);
  if (outcome.kind === 'exit') throw new Error(outcome.stderr);
  const { config } = outcome;
  const clock = new SkewedClock(world.clock);
  clock.step(skew);
  const transport = world.cluster.transport({
    user: { name: OPERATOR_USER, groups: ['system:authenticated'] },
    client,
  });
  const kube = createClient({ transport, clock, timeout: millis(30_000), userAgent: 'replica' });
  const registry = createMetricsRegistry();
  const caches = createCaches(kube, {
    config,
    clock,
    log: silentLogger,
    metrics: createOperatorMetrics(registry),
  });
  const running = openBudgets({
    namespace: NAMESPACE,
    client: kube,
    caches,
    clock,
    log: silentLogger,
    metrics: new BudgetMetrics(registry),
  });
  const ending = new AbortController();
  const run = runCaches(caches, new AbortController().signal, ending.signal);
  for (const one of run) one.catch(() => undefined);
  await world.run(cachesSynced(caches, clock, ending.signal));
  const { authority } = running;
  const verdict = async (name: string): ReturnType<Replica['verdict']> => {
    const pod = authority.evictions.pod(NAMESPACE, name);
    if (pod === undefined) return { kind: 'no-pod' };
    const late = AbortSignal.any([ending.signal]);
    return authority.evictions.judgeEviction(pod, { isDryRun: false }, late);
  };
  return {
    client,
    clock,
    authority,
    verdict,
    evict: async (name) => text(await verdict(name)),
    stop: async () => {
      ending.abort();
      authority.close();
      await Promise.allSettled(run);
    },
  };
}

function text(verdict: EvictionVerdict | { readonly kind: 'no-pod' }): string {
  switch (verdict.kind) {
    case 'allowed':
      return 'allowed';
    case 'denied': {
      const { denial } = verdict;
      if (denial.kind !== 'disturbed') return `denied: ${denial.kind}`;
      const all = denial.obstacles.map(({ pod, why, until }) => `${pod} ${why}${until === undefined ? '' : ' until'}`);
      return `denied: ${all.join(', ')}`;
    }
    case 'unclear':
      return `unclear: ${verdict.why}`;
    default:
      return verdict.kind;
  }
}
