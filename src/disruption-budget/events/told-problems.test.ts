import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { RecordingEvents, RecordingLogger } from '#support/telemetry/recording.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import type { BudgetFault } from './plan-problems.ts';
import { ToldProblems } from './told-problems.ts';

const budget = {
  namespace: 'test',
  name: 'ingester',
  uid: 'budget-uid',
  generation: 1,
  spec: undefined,
  problem: undefined,
  matchLabels: undefined,
};

function fault(message: string): BudgetFault {
  return { budget, why: { reason: 'BudgetNeverMet', message } };
}

class Bed {
  readonly clock = new FakeClock();
  readonly log = new RecordingLogger();
  readonly events = new RecordingEvents();
  readonly registry = createMetricsRegistry();
  faults: readonly BudgetFault[] = [];
  readonly told = new ToldProblems({
    clock: this.clock,
    log: this.log,
    events: this.events,
    metrics: new BudgetMetrics(this.registry),
    faults: () => this.faults,
  });

  /** What Events say since this was last asked for. */
  said(): readonly string[] {
    return this.events.notes.splice(0).map(({ about, message }) => `${about.name}: ${message}`);
  }

  async gauge(): Promise<readonly string[]> {
    const text = await this.registry.expose();
    return text.split('\n').filter((line) => line.startsWith('rollout_operator_disruption_budget'));
  }
}

test('what is wrong with a budget is reported a second after a change, once, and shown while it is', async () => {
  const bed = new Bed();
  bed.faults = [fault('it selects one zone')];
  bed.told.wake();
  bed.told.wake();
  await bed.clock.advance(seconds(1));
  assert.deepEqual(bed.said(), ['ingester: it selects one zone']);
  assert.equal(bed.log.lines.length, 1);
  assert.deepEqual(await bed.gauge(), [
    'rollout_operator_disruption_budget_problem{namespace="test",budget="ingester",problem="never-met"} 1',
  ]);
  await bed.clock.advance(minutes(5));
  assert.deepEqual(bed.said(), []);
});

test('what lasts is reported again after 10 minutes, and at once when it changes', async () => {
  const bed = new Bed();
  bed.faults = [fault('it selects one zone')];
  bed.told.wake();
  await bed.clock.advance(minutes(11));
  assert.equal(bed.said().length, 2);
  bed.faults = [fault('it selects pods alone')];
  bed.told.wake();
  await bed.clock.advance(seconds(1));
  assert.deepEqual(bed.said(), ['ingester: it selects pods alone']);
});

test('what has ended is not shown any more though no watch says so, and is reported when it comes back', async () => {
  const bed = new Bed();
  bed.faults = [fault('it selects one zone')];
  bed.told.wake();
  await bed.clock.advance(seconds(1));
  bed.faults = [];
  await bed.clock.advance(seconds(30));
  assert.deepEqual(await bed.gauge(), []);
  bed.said();
  bed.faults = [fault('it selects one zone')];
  bed.told.wake();
  await bed.clock.advance(seconds(1));
  assert.equal(bed.said().length, 1);
});

test('what goes wrong without any watch event is reported within 30 s', async () => {
  const bed = new Bed();
  bed.told.wake();
  await bed.clock.advance(minutes(1));
  assert.deepEqual(bed.said(), []);
  bed.faults = [fault('its ledger was edited')];
  await bed.clock.advance(seconds(30));
  assert.deepEqual(bed.said(), ['ingester: its ledger was edited']);
  bed.told.close();
});

test('who does not lead any more tells and shows nothing', async () => {
  const bed = new Bed();
  bed.faults = [fault('it selects one zone')];
  bed.told.wake();
  await bed.clock.advance(seconds(1));
  bed.told.close();
  bed.said();
  assert.deepEqual(await bed.gauge(), []);
  bed.told.wake();
  await bed.clock.advance(minutes(20));
  assert.deepEqual(bed.said(), []);
});
