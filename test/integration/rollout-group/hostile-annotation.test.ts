import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { millis, minutes, monotonic } from '#base/units.ts';
import { because } from '#control/decision/refs.ts';
import { PlanReporter } from '#control/decision/report-plan.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { parseMaxUnavailable } from '#rollout-group/max-unavailable.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { World } from '#support/world/world.ts';
import { NAMESPACE, setName } from '#support/world/world-group.ts';
import { logSince } from '../stages/hostile-stage.ts';

/** The memory in use, in MiB, without what nobody refers to. */
function usedMemory(): number {
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

test('five minutes of an unreadable annotation of 200 KiB that changes each second take no more than 64 MiB', () => {
  const state = { at: 0 };
  const reporter = new PlanReporter({
    clock: { monotonic: () => monotonic(state.at) },
    log: silentLogger,
    events: { record: () => undefined, flush: () => Promise.resolve() },
  });
  const set = { namespace: 'demo', name: 'ingester-zone-a', uid: 'u' };
  const before = usedMemory();
  for (let second = 0; second < 300; second += 1) {
    state.at += millis(1_000);
    const raw = `${second}${'x'.repeat(200 * 1_024)}`;
    const parsed = parseMaxUnavailable(raw, 'metadata.annotations["rollout-max-unavailable"]');
    const message = parsed.kind === 'invalid' ? parsed.problem.message : '';
    const why = because('InvalidMaxUnavailable', message);
    reporter.report('demo/ingester', [{ kind: 'warn', set, because: why }]);
  }
  const grownBy = usedMemory() - before;
  reporter.report('demo/ingester', []);
  assert.ok(grownBy <= 64, `its memory grew by ${Math.round(grownBy)} MiB`);
});

test('an annotation whose unreadable value changes five times a second makes no more than 60 log lines a minute', async () => {
  const world = await World.create({ replicas: 3, maxUnavailable: '1', zones: ['a', 'b'] });
  await world.readyOperator();
  await world.clock.advance(minutes(1));
  const state = { isOver: false, turn: 0 };
  const touch = (): void => {
    if (state.isOver) return;
    state.turn += 1;
    const annotations = { 'rollout-max-unavailable': `x${state.turn}` };
    const body = { kind: 'merge', document: { metadata: { annotations } } } as const;
    const key = { namespace: NAMESPACE, name: setName('a') };
    void world.admin.patch(resourceTypes.statefulSets, key, { body });
    world.clock.timer(millis(200), touch);
  };
  touch();
  await world.clock.advance(minutes(1));
  const from = world.clock.now();
  await world.clock.advance(minutes(1));
  const { length } = logSince(world, from);
  state.isOver = true;
  await world.close();
  assert.ok(length <= 60, `${length} lines in a minute`);
});
