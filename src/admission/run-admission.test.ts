import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { millis, seconds } from '#base/units.ts';
import { SettableSource } from '#certificate/x509/certificate-source.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { readConfig } from '#config/read-config.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { FakeEvictionBudgets } from '#support/admission/fake-eviction-budgets.ts';
import { FakeTransport } from '#support/api-server/fake-transport.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { FakePodHttp } from '#support/pods/fake-pod-http.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { runAdmission } from './run-admission.ts';

test('runAdmission() serves with a certificate that changes before it listens', async () => {
  const clock = new FakeClock();
  const outcome = readConfig(['-kubernetes.namespace=test', '-server-tls.port=0']);
  assert.ok(outcome.kind === 'run');
  const transport = new FakeTransport(() => ({
    body: { metadata: { resourceVersion: '1' }, items: [] },
  }));
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  const registry = createMetricsRegistry();
  const certificate = new SettableSource(await selfSigned(systemClock().now()));
  const next = await selfSigned(systemClock().now());
  const listening = Promise.withResolvers<number>();
  const stop = new AbortController();
  const run = runAdmission(
    {
      config: outcome.config,
      clock,
      log: silentLogger,
      registry,
      httpMetrics: createHttpServerMetrics(registry),
      evictionBudgets: new FakeEvictionBudgets(),
      budgetMetrics: new BudgetMetrics(registry),
      clients: {
        noDownscale: client,
        prepareDownscale: client,
        eviction: client,
        configurations: client,
      },
      podHttp: new FakePodHttp({ fleet: new PodFleet(clock), clock }),
      certificate,
      identity: 'test',
      host: '127.0.0.1',
      onListening: listening.resolve,
    },
    stop.signal,
  );
  certificate.set(next);
  const port = await listening.promise;
  const socket = connect({ port, host: '127.0.0.1', ca: next.cert, servername: 'localhost' });
  await once(socket, 'secureConnect');
  socket.destroy();
  stop.abort();
  await clock.settle();
  await clock.advance(seconds(2));
  await run;
});
