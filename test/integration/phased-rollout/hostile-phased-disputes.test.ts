/** PhasedRollouts whose marks and status somebody else undoes each time, as fast as the API server answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { PhasedStage } from './phased-stage.ts';

const namespace = 'demo';

async function settled(): Promise<PhasedStage> {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.create();
  await stage.settled();
  return stage;
}

/** What a user undoes. */
interface Dispute {
  readonly isWritten: (stage: PhasedStage) => boolean;
  readonly undo: (stage: PhasedStage) => Promise<unknown>;
}

/** Somebody undoes at once what the program writes, for about as many seconds as `rounds`. @returns how often the program wrote meanwhile */
async function disputed(
  stage: PhasedStage,
  { isWritten, undo }: Dispute,
  rounds = 600,
): Promise<number> {
  const pause = millis(5);
  const before = stage.writes().length;
  for (let round = 0; round < rounds; round += 1) {
    // Quick answers for a while, then one a second: what is slowed down is slow by then.
    for (let quick = 0; quick < (round < 10 ? 100 : 1); quick += 1) {
      if (isWritten(stage)) await undo(stage);
      await stage.env.clock.advance(pause);
    }
    await stage.env.clock.advance(seconds(1));
  }
  return stage.writes().length - before;
}

async function patchRollout(
  stage: PhasedStage,
  document: JsonObject,
  subresource?: 'status',
): Promise<void> {
  const body = { kind: 'merge', document } as const;
  const write = { body, ...(subresource !== undefined && { subresource }) };
  await stage.env.client.patch(resourceTypes.phasedRollouts, { namespace, name: 'pr1' }, write);
}

const undone: Readonly<Record<string, Dispute>> = {
  'the annotation of the set': {
    isWritten: (stage) => stage.owner() !== '',
    undo: (stage) =>
      stage.env.patchSet({ metadata: { annotations: { 'sts.plus/phasedRollout': null } } }),
  },
  'the finalizer': {
    isWritten: (stage) => JSON.stringify(stage.rollout()).includes('sts.plus/finalizer'),
    undo: (stage) => patchRollout(stage, { metadata: { finalizers: null } }),
  },
  'the status': {
    isWritten: (stage) => stage.phase() !== 'ErrorSTSNotFound',
    undo: (stage) => patchRollout(stage, { status: { phase: 'ErrorSTSNotFound' } }, 'status'),
  },
};
for (const [what, dispute] of Object.entries(undone)) {
  test(`who undoes ${what} each time is answered ever more rarely, and it is told`, async () => {
    const stage = await settled();
    await stage.change('db:2');
    await stage.until('it is under way', () => stage.phase() === 'Rolling');
    stage.isLifted = true;
    const sent = await disputed(stage, dispute);
    assert.ok(sent <= 40, `${sent} writes in ten minutes`);
    assert.match(stage.messages('WriteContested').join(), /another client undoes it/);
    await stage.completed('db:2');
    await stage.close();
  });
}

test('the gate stands for a new template while a user undoes the status each time', async () => {
  const stage = await settled();
  await stage.change('db:2');
  await stage.until('one may go', () => stage.partition() === 2);
  const dispute: Dispute = {
    isWritten: () => stage.phase() !== 'Updated',
    undo: () =>
      patchRollout(stage, { status: { phase: 'Updated', rollingPodStatus: null } }, 'status'),
  };
  await disputed(stage, dispute, 30);
  await stage.change('db:3');
  await stage.env.clock.advance(seconds(3));
  assert.equal(stage.partition(), 3);
  stage.isLifted = true;
  await stage.completed('db:3');
  await stage.close();
});
