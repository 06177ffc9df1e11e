/** Who reconciles PhasedRollouts: the Lease of the sts-phased-rollout-operator. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { millis } from '#base/units.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { readPhasedRolloutConfig, sharedConfigOf } from '#config/phased-config.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { parseLease } from '#kubernetes/leader-election/parse-lease.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { LedTerm, ReconcileTerm } from '#operator/manager/led-terms.ts';
import {
  type PhasedRolloutOptions,
  runPhasedRollout,
} from '#operator/phased-rollout/phased-rollout.ts';
import { silentPrometheus } from '#support/external-services/fake-prometheus.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createReadiness } from '#telemetry/http/readiness.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';

const namespace = 'ops';
const key = { namespace, name: '304add93.sts.plus' };

/** A term that has begun, and the end of which a test waits for. */
interface Led {
  readonly term: LedTerm;
  readonly isOver: Promise<void>;
}

describe('runPhasedRollout()', () => {
  const clock = systemClock();
  let cluster: EmbeddedCluster;
  let admin: Client;

  before(async () => {
    cluster = await createCluster({ clock, seed: 1 });
    const transport = cluster.transport();
    admin = createClient({ clock, timeout: millis(0), userAgent: 'test', transport });
    await admin.create(resourceTypes.namespaces, {}, { body: { metadata: { name: namespace } } });
  });

  after(async () => {
    await cluster.close();
  });

  function options(args: readonly string[], identity: string): PhasedRolloutOptions {
    const flags = ['--health-probe-bind-address=0', ...args];
    const outcome = readPhasedRolloutConfig(flags, { ENABLE_WEBHOOKS: 'false' });
    assert.ok(outcome.kind === 'run');
    const registry = createMetricsRegistry();
    return {
      door: outcome.config,
      config: sharedConfigOf(outcome.config, namespace),
      clock,
      log: silentLogger,
      registry,
      metrics: createOperatorMetrics(registry),
      budgetMetrics: new BudgetMetrics(registry),
      httpMetrics: createHttpServerMetrics(registry),
      readiness: createReadiness(),
      transport: cluster.transport(),
      identity,
      prometheus: silentPrometheus,
    };
  }

  /** What reconciles until it is asked to end, all its requests answered; and its first term. */
  function reconciling(): { reconcile: ReconcileTerm; led: Promise<Led> } {
    const { promise: led, resolve } = Promise.withResolvers<Led>();
    const reconcile: ReconcileTerm = async (term, signal) => {
      const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => end(), { once: true });
      resolve({ term, isOver });
      await isOver;
      return true;
    };
    return { reconcile, led };
  }

  test('reconciles under the Lease of the peer, and gives it up when it ends', async () => {
    const ending = new AbortController();
    const { reconcile, led } = reconciling();
    const run = runPhasedRollout(
      { ...options(['--leader-elect'], 'one'), reconcile },
      ending.signal,
    );
    const { term } = await led;
    assert.equal(term.leading.kind, 'leading');
    const held = await admin.get(resourceTypes.leases, key);
    assert.equal(textAt(held, 'spec', 'holderIdentity'), 'one');
    ending.abort();
    await run;
    const given = await admin.get(resourceTypes.leases, key);
    assert.equal(textAt(given, 'spec', 'holderIdentity'), '');
  });

  test('lets the next one lead once the first has ended, and not before', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const [one, two] = [reconciling(), reconciling()];
    const elected = ['--leader-elect'];
    const { reconcile } = one;
    const running = runPhasedRollout({ ...options(elected, 'one'), reconcile }, first.signal);
    await one.led;
    const successor = { ...options(elected, 'two'), reconcile: two.reconcile };
    const next = runPhasedRollout(successor, second.signal);
    const order: string[] = [];
    const led = two.led.then(({ term }) => {
      order.push('two leads');
      return term;
    });
    first.abort();
    await running.then(() => order.push('one has ended'));
    const { leading } = await led;
    assert.deepEqual(order, ['one has ended', 'two leads']);
    assert.equal(leading.predecessor.kind, 'ended');
    second.abort();
    await next;
  });

  test('names a request that may take a pod in its Lease before that leaves [found S-6]', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const [one, two] = [reconciling(), reconciling()];
    const elected = ['--leader-elect'];
    for (const [{ reconcile, led }, ending] of [
      [one, first],
      [two, second],
    ] as const) {
      const running = runPhasedRollout(
        { ...options(elected, `of ${ending === first ? 'one' : 'two'}`), reconcile },
        ending.signal,
      );
      const { term } = await led;
      if (ending === first) {
        ending.abort();
        await running;
        continue;
      }
      let isNamed: Promise<KubernetesObject> | undefined;
      const beforeSend = (): void => {
        isNamed = admin.get(resourceTypes.leases, key);
      };
      const pod = { namespace, name: 'db-0' };
      const preconditions = { uid: 'its-uid' };
      await assert.rejects(
        term.client.delete(resourceTypes.pods, pod, { preconditions, beforeSend }),
        /not found/,
      );
      assert.ok(isNamed !== undefined);
      assert.deepEqual(parseLease(await isNamed).underWay, ['Pod/ops/db-0/its-uid']);
      ending.abort();
      await running;
    }
  });

  test('leads without a Lease where --leader-elect is not given', async () => {
    const ending = new AbortController();
    const { reconcile, led } = reconciling();
    const run = runPhasedRollout({ ...options([], 'alone'), reconcile }, ending.signal);
    const { term } = await led;
    assert.ok(term.leading.kind === 'unavailable');
    assert.match(term.leading.because, /switched off by the absence of --leader-elect$/);
    ending.abort();
    await run;
  });
});
