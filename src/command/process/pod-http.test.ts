import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '#config/read-config.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { ScriptedHttpServer } from '#support/contracts/scripted-http-server.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { podHttpOf } from './pod-http.ts';

test('podHttpOf() counts each call that a cluster check refuses, and writes no line for each', async () => {
  const outcome = readConfig(['-kubernetes.namespace=test']);
  assert.ok(outcome.kind === 'run');
  const headers = { 'content-type': 'application/json' };
  const body = '{"cluster_validation_error_message":"wrong","route":"prepare"}';
  const server = new ScriptedHttpServer({ '/p': { kind: 'answer', status: 511, headers, body } });
  const { host } = await server.listen();
  const log = new KeptLog();
  const registry = createMetricsRegistry();
  const metrics = createOperatorMetrics(registry);
  const podHttp = podHttpOf(outcome.config, { clock: new ManualClock(), log, metrics, env: {} });
  try {
    for (let called = 0; called < 10; called += 1) {
      await podHttp.call({ set: 'test/x', method: 'DELETE', url: `http://${host}/p` });
    }
    assert.deepEqual(log.lines, [
      'warn cluster check refused a request route=prepare message=wrong',
    ]);
    assert.match(await registry.expose(), /\{method="prepare",.*\} 10$/m);
  } finally {
    await podHttp.close();
    await server.close();
  }
});
