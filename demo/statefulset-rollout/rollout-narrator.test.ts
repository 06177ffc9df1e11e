import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { RolloutNarrator } from './rollout-narrator.ts';

function stored(reason: string, phase = 'RollingOut'): JsonObject {
  return { status: { phase, reason } };
}

test('RolloutNarrator tells what is done and what is waited for, with the reason, once', () => {
  const narrator = new RolloutNarrator();
  const told = [
    {},
    stored('RolloutStarted: 50 percent of db, generation 2', 'Pending'),
    stored('PodsEvicted: db-3, db-2, the last of them'),
    stored('AwaitingPods: waiting for db-3, db-2 to be ready', 'WaitingForReady'),
    stored('AwaitingPods: waiting for db-3, db-2 to be ready'),
    stored('PDBBlocked: 0 disruptions allowed by budget db; 1 pod to go'),
    stored('RolloutTimeout: not done after 8 s; AwaitingPods: waiting for db-3', 'CallingBack'),
    stored('RolloutFailed: not done after 8 s; AwaitingPods: waiting for db-3', 'RolloutFailed'),
    stored('RollbackDetected: db:1 was there before'),
  ].map((rollout) => narrator.tell(rollout));
  assert.deepEqual(told, [
    [],
    ['begins: 50 percent of db, generation 2 (RolloutStarted)'],
    ['evicts: db-3, db-2, the last of them (PodsEvicted)'],
    ['waits for db-3, db-2 to be ready (AwaitingPods)'],
    [],
    ['waits: 0 disruptions allowed by budget db; 1 pod to go (PDBBlocked)'],
    [],
    ['failed: not done after 8 s; AwaitingPods: waiting for db-3 (RolloutFailed)'],
    ['does: db:1 was there before (RollbackDetected)'],
  ]);
});
