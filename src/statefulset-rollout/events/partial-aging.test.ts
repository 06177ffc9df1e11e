import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { after, type Instant, instant, type Millis, seconds } from '#base/units.ts';
import type { EventNote } from '#kubernetes/events/event-recorder.ts';
import { parseRollout, type RolloutView } from '../parse-resource.ts';
import { PartialAging, partialSince } from './partial-aging.ts';

const T0 = instant(1_767_225_600_000);
const hour = seconds(3_600);

interface Stored {
  readonly percent?: number;
  readonly phase?: string;
  readonly updatedReplicas?: number;
  readonly finishedAt?: string;
}

/** Four pods, two of them new, of a rollout that ended at T0. */
function rollout(stored: Stored = {}): RolloutView {
  const { percent = 50, phase = 'RolloutDone', updatedReplicas = 2 } = stored;
  const { finishedAt = '2026-01-01T00:00:00Z' } = stored;
  const statefulset: JsonObject = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db' },
    spec: { selector: {}, template: {} },
  };
  return parseRollout({
    metadata: { namespace: 'demo', name: 'db', uid: 'u' },
    spec: { percent, statefulset },
    status: { phase, replicas: 4, rollout: { updatedReplicas, finishedAt } },
  });
}

class Aging {
  now: Instant = T0;
  readonly told: EventNote[] = [];
  readonly #aging: PartialAging;

  constructor(limit: Millis) {
    const events = {
      record: (note: EventNote) => void this.told.push(note),
      flush: () => Promise.resolve(),
    };
    this.#aging = new PartialAging({ clock: { now: () => this.now }, events, limit });
  }

  /** Looks so long after T0. @returns in how many hours it wants to look again */
  look(hours: number, of: RolloutView = rollout()): number | undefined {
    this.now = after(T0, seconds(hours * 3_600));
    const requeue = this.#aging.look(of);
    return requeue.kind === 'at' ? (requeue.at - this.now) / hour : undefined;
  }

  forget(): void {
    this.#aging.forget('u');
  }
}

describe('partialSince()', () => {
  const cases: Readonly<Record<string, readonly [Stored, Instant | undefined]>> = {
    'is the end of a rollout that left old pods': [{}, T0],
    'is the end of one that failed half-way, too': [{ phase: 'RolloutFailed' }, T0],
    'is that of one at 0 percent': [{ percent: 0, updatedReplicas: 0 }, T0],
    'is nothing at 100 percent': [{ percent: 100 }, undefined],
    'is nothing while it goes on': [{ phase: 'WaitingForReady' }, undefined],
    'is nothing where all pods are new': [{ updatedReplicas: 4 }, undefined],
  };
  for (const [fact, [stored, want]] of Object.entries(cases)) {
    test(fact, () => assert.equal(partialSince(rollout(stored)), want));
  }
});

describe('PartialAging', () => {
  test('tells when the rollout is as old as the limit, and a day later again [B-89]', () => {
    const aging = new Aging(seconds(86_400));
    assert.equal(aging.look(1), 23);
    assert.equal(aging.told.length, 0);
    assert.equal(aging.look(24), 24);
    assert.equal(aging.look(30), 18);
    assert.equal(aging.told.length, 1);
    assert.equal(aging.look(48), 24);
    assert.deepEqual(
      aging.told.map(({ type, reason, message }) => `${type} ${reason} ${message.slice(0, 16)}`),
      [
        'Warning PartialRolloutAging partial for 24 h',
        'Warning PartialRolloutAging partial for 48 h',
      ],
    );
  });

  test('begins again with each rollout, and after it was forgotten', () => {
    const aging = new Aging(hour);
    aging.look(2);
    assert.equal(aging.look(2, rollout({ finishedAt: '2026-01-01T01:30:00Z' })), 0.5);
    assert.equal(aging.look(2, rollout({ percent: 100 })), undefined);
    aging.look(2);
    aging.forget();
    aging.look(2);
    assert.equal(aging.told.length, 3);
  });

  test('tells nothing with the limit 0', () => {
    const aging = new Aging(seconds(0));
    assert.equal(aging.look(1_000), undefined);
    assert.equal(aging.told.length, 0);
  });
});
