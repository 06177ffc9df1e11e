import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { type FakeAnswer, FakeTransport } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { RecordingLogger } from '#support/telemetry/recording.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { askPermissions, type Permissions } from './optional-permissions.ts';

const namespace = 'demo';

/** Answers reviews: `allowed` has the resources that the Role permits, one state a turn, the last for ever. */
function setup(...allowed: readonly (readonly string[])[]): {
  readonly ask: (proven?: Promise<void>) => Promise<Permissions>;
  readonly asked: string[];
  readonly log: RecordingLogger;
  readonly refused: () => Promise<readonly string[]>;
} {
  const asked: string[] = [];
  const turns = new Map<string, number>();
  const isBroken = allowed.flat().some((each) => each.startsWith('broken'));
  const transport = new FakeTransport((request): FakeAnswer => {
    if (request.method === 'GET') return { status: isBroken ? 500 : 403, body: {} };
    const { spec } = JSON.parse(request.body ?? '{}') as {
      spec: { resourceAttributes: Record<string, string> };
    };
    const { verb, group, resource = '' } = spec.resourceAttributes;
    asked.push(`${verb} ${group}/${resource} in ${spec.resourceAttributes['namespace']}`);
    const turn = turns.get(resource) ?? 0;
    turns.set(resource, turn + 1);
    const now = allowed[Math.min(turn, allowed.length - 1)] ?? [];
    if (now.includes(`broken ${resource}`)) return { status: 500 };
    if (now.includes(`forbidden ${resource}`)) return { status: 403, body: {} };
    return { body: { status: { allowed: now.includes(resource) } } };
  });
  const client = createClient({
    transport,
    clock: new ManualClock(),
    timeout: seconds(0),
    userAgent: 'test/1',
  });
  const log = new RecordingLogger();
  const registry = createMetricsRegistry();
  const metrics = createOperatorMetrics(registry);
  const ask = (proven = Promise.resolve()): Promise<Permissions> =>
    askPermissions({ client, log, metrics, namespace, proven }, new AbortController().signal);
  const refused = async (): Promise<readonly string[]> =>
    (await registry.expose()).split('\n').filter((line) => line.includes('permissions{'));
  return { ask, asked, log, refused };
}

const all = ['events', 'pods', 'zoneawarepoddisruptionbudgets'];

test('askPermissions() asks once for each optional verb, in the namespace', async () => {
  const { ask, asked, log, refused } = setup(all);
  assert.deepEqual(await ask(), {
    canCreateEvents: true,
    canListBudgets: true,
  });
  assert.deepEqual(asked, [
    'create /events in demo',
    'list rollout-operator.grafana.com/zoneawarepoddisruptionbudgets in demo',
  ]);
  assert.deepEqual(log.lines, []);
  assert.deepEqual(await refused(), []);
});

test('askPermissions() finds that budgets may not be listed, and says so by a warning and a gauge (D-51)', async () => {
  const { ask, log, refused } = setup(['events', 'pods']);
  assert.equal((await ask()).canListBudgets, false);
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields['verb'], fields['resource']]),
    [['warn', 'list', 'zoneawarepoddisruptionbudgets']],
  );
  assert.deepEqual(await refused(), [
    'rollout_operator_refused_permissions{verb="list",resource="zoneawarepoddisruptionbudgets"} 1',
  ]);
});

test('askPermissions() believes a denial only from a server that has shown to know the Role', async () => {
  const { ask, asked, refused } = setup([], all);
  const known = Promise.withResolvers<void>();
  const answer = ask(known.promise);
  known.resolve();
  assert.equal((await answer).canListBudgets, true);
  assert.equal(asked.length, 4);
  assert.deepEqual(await refused(), []);
});

test('askPermissions() takes what could not be found out for permitted, so that unread budgets hold', async () => {
  const { ask, refused } = setup(['events', 'pods', 'broken zoneawarepoddisruptionbudgets']);
  assert.equal((await ask()).canListBudgets, true);
  assert.deepEqual(await refused(), []);
});

test('askPermissions() takes budgets that it may neither review nor list for unreadable, and for permitted what a later review permits', async () => {
  const refused = setup(['events', 'forbidden zoneawarepoddisruptionbudgets']);
  assert.equal((await refused.ask()).canListBudgets, false);
  const known = setup(['events', 'forbidden zoneawarepoddisruptionbudgets'], all);
  assert.equal((await known.ask()).canListBudgets, true);
});
