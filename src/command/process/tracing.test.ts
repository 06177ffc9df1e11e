import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { test } from 'node:test';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { tracingOf } from './tracing.ts';

/** Ends one span where `collector` answers. @param target what follows the port in the endpoint of traces */
async function traced(
  target: string,
  collector: RequestListener,
  env: Readonly<Record<string, string>> = {},
): Promise<{
  readonly targets: readonly string[];
  readonly told: string;
  readonly lost: readonly string[];
}> {
  const targets: string[] = [];
  const server = createServer((incoming, outgoing) => {
    targets.push(incoming.url ?? '');
    incoming.resume().on('end', () => collector(incoming, outgoing));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const endpoint = `http://127.0.0.1:${address.port}${target}`;
  const log = new KeptLog();
  const registry = createMetricsRegistry();
  const running = await tracingOf({
    env: {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint,
      // Below the first wait: nothing is tried again.
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      ...env,
    },
    clock: new ManualClock(),
    log,
    registry,
  });
  running?.tracing.within({ name: 'reconcile', kind: 'internal' }, () => undefined);
  await running?.close();
  server.closeAllConnections();
  server.close();
  const told = log.lines.join('\n').replaceAll(`${address.port}`, 'PORT');
  const lost = (await registry.expose()).match(/^rollout_operator_lost_spans_total.*$/gm) ?? [];
  return { targets, told, lost };
}

const endpoints: Record<string, string> = {
  '': '/',
  '/': '/',
  '?key=a': '/?key=a',
  '/v1/traces': '/v1/traces',
  '/otlp/?key=a': '/otlp/?key=a',
};
for (const [target, want] of Object.entries(endpoints)) {
  test(`tracingOf() posts to "${want}" where the endpoint of traces ends with "${target}"`, async () => {
    const { targets, told } = await traced(target, (_, outgoing) => outgoing.end());
    assert.deepEqual(targets, [want]);
    assert.doesNotMatch(told, /could not be sent/);
  });
}

test('tracingOf() tells of a collector that breaks off without the query, which may hold a key', async () => {
  const { told } = await traced('/v1/traces?api-key=secret', (_, outgoing) => outgoing.destroy());
  assert.match(
    told,
    /could not be sent .*Cannot POST \/v1\/traces at http:\/\/127\.0\.0\.1:PORT: /,
  );
  assert.doesNotMatch(told, /secret/);
});

test('tracingOf() shows how many spans were lost, and none before', async () => {
  const lost = (reason: string, spans: number): string =>
    `rollout_operator_lost_spans_total{reason="${reason}"} ${spans}`;
  const taken = await traced('/v1/traces', (_, outgoing) => outgoing.end());
  assert.deepEqual(taken.lost, [lost('QueueFull', 0), lost('NotSent', 0)]);
  const broken = await traced('/v1/traces', (_, outgoing) => outgoing.destroy());
  assert.deepEqual(broken.lost, [lost('QueueFull', 0), lost('NotSent', 1)]);
});

test('tracingOf() keeps no answer of a collector that is longer than 1 MiB', async () => {
  const { told } = await traced('/v1/traces', (_, outgoing) => {
    outgoing.end(Buffer.alloc(1_048_577));
  });
  assert.match(told, /could not be sent .*the answer is longer than 1048576 bytes/);
});
