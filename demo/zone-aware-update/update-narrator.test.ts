import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { UpdateNarrator } from './update-narrator.ts';

function stored(reason: string, message: string, updateStep = 0): JsonObject {
  return { status: { updateStep, conditions: [{ type: 'Progressing', reason, message }] } };
}

test('UpdateNarrator tells each step, and why the next one waits, once', () => {
  const narrator = new UpdateNarrator();
  const told = [
    {},
    stored('Updated', 'Every pod of db runs r1'),
    stored('Updated', 'Every pod of db runs r1'),
    stored('AwaitingAlarm', 'The state of Pause is being asked'),
    stored('PodOutdated', 'Step 1 takes 1 pod of zone a', 1),
    stored('AwaitingPods', '1 pod is away: db-2', 1),
    stored('AwaitingPods', '1 pod is away: db-2', 1),
    stored('AlarmRings', 'alarm "Pause" is in state ALARM', 1),
    stored('Updated', 'Every pod of db runs r2'),
  ].map((update) => narrator.tell(update));
  assert.deepEqual(told, [
    [],
    ['Every pod of db runs r1'],
    [],
    [],
    ['Step 1 takes 1 pod of zone a'],
    ['waits: 1 pod is away: db-2 (AwaitingPods)'],
    [],
    ['waits: alarm "Pause" is in state ALARM (AlarmRings)'],
    ['Every pod of db runs r2'],
  ]);
});
