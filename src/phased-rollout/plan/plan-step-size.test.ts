/** Steps of several pods, and plans that are only reported. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PhasedPlay } from '#support/rollouts/phased-play.ts';

function rollingBy(stepSize: number, replicas = 6): PhasedPlay {
  const play = PhasedPlay.rolling(replicas);
  play.spec = { ...play.spec, stepSize };
  return play;
}

function passStep(play: PhasedPlay): void {
  play.next('passes');
  play.next('passes');
}

describe('planPhasedRollout() with steps of several pods', () => {
  test('lets them go one after the other, each once all pods are available, and then checks', () => {
    const play = rollingBy(3);
    passStep(play);
    assert.deepEqual(play.put(5, 'B', 'not-ready').settle(), []);
    assert.deepEqual(play.put(5, 'B').settle(), ['partition 5 to 4']);
    assert.deepEqual(play.put(4, 'B').settle(), ['partition 4 to 3']);
    assert.deepEqual(play.put(3, 'B').settle(), []);
    assert.equal(play.status.step?.status, 'WaitForInitialDelay');
    passStep(play);
    assert.deepEqual(play.partitions, [5, 4, 3, 2]);
  });

  test('ends with what is left', () => {
    const play = rollingBy(4, 3);
    passStep(play);
    for (const ordinal of [2, 1, 0]) play.put(ordinal, 'B').settle();
    assert.deepEqual(play.partitions, [2, 1, 0]);
  });

  test('goes on in the middle of a step after a restart', () => {
    const play = rollingBy(3);
    passStep(play);
    play.restart();
    assert.deepEqual(play.put(5, 'B').settle(), ['partition 5 to 4']);
  });

  test('checks before the next pod where the step became smaller, or none', () => {
    for (const stepSize of [2, undefined]) {
      const play = rollingBy(4);
      passStep(play);
      play.put(5, 'B').settle();
      const { stepSize: _, ...spec } = play.spec;
      play.spec = { ...spec, ...(stepSize !== undefined && { stepSize }) };
      play.put(4, 'B').settle();
      assert.equal(play.status.step?.status, 'WaitForInitialDelay');
    }
  });

  test('checks another revision before any pod of it goes', () => {
    const play = rollingBy(3);
    passStep(play);
    play.put(5, 'B').settle();
    assert.deepEqual(play.change('C').settle(), ['partition 4 to 6']);
    assert.equal(play.status.step?.checkedPartition, undefined);
    passStep(play);
    assert.deepEqual(play.put(5, 'C').settle(), ['partition 5 to 4']);
  });

  for (const checkedPartition of [5, 4, 0, 6 + 3]) {
    test(`checks before the next pod where a user wrote that ${checkedPartition} is the partition checked last`, () => {
      const play = rollingBy(3);
      passStep(play);
      const { step } = play.status;
      assert.ok(step !== undefined);
      play.status = { ...play.status, step: { ...step, checkedPartition } };
      play.put(5, 'B').settle();
      assert.equal(play.status.step?.status, 'WaitForInitialDelay');
    });
  }

  test('lets no more pods go without checks than a step has, however the set is scaled', () => {
    const play = rollingBy(3);
    passStep(play);
    play.put(5, 'B').settle();
    if (play.set !== undefined) play.set.replicas = 5;
    play.pods.delete(5);
    play.put(4, 'B').settle();
    play.put(3, 'B').settle();
    assert.equal(play.set?.partition, 3);
    assert.equal(play.status.step?.status, 'WaitForInitialDelay');
  });

  test('checks before the next pod where another client moved the partition in the middle of a step', () => {
    const play = rollingBy(5);
    passStep(play);
    assert.deepEqual(play.put(5, 'B').settle(), ['partition 5 to 4']);
    if (play.set !== undefined) play.set.partition = 2;
    for (const ordinal of [4, 3, 2]) play.put(ordinal, 'B');
    assert.deepEqual(play.settle(), ['tell GateBypassed']);
    assert.equal(play.status.step?.status, 'WaitForInitialDelay');
  });

  test('says which pod of its step goes', () => {
    const play = rollingBy(3);
    passStep(play);
    play.put(5, 'B');
    const messages: string[] = [];
    for (let look = 0; look < 4; look += 1) {
      messages.push(...play.plan().decisions.map(({ because }) => because.message));
      play.look();
    }
    assert.match(messages.join(), /web-4 may run B, number 2 of the 3 pods of its step/);
  });
});

describe('planPhasedRollout() in a dry run', () => {
  test('says what would be done to a set without an owner, and does nothing', () => {
    const play = new PhasedPlay();
    play.owner = undefined;
    play.spec = { ...play.spec, isDryRun: true };
    assert.deepEqual(play.settle(), []);
    const [hold] = play.plan().decisions;
    assert.equal(hold?.because.reason, 'DryRun');
    assert.match(hold.because.message, /the partition of web would go from 0 to 3/);
    assert.equal(play.owner, undefined);
    assert.deepEqual(play.partitions, []);
  });

  test('asks the checks of a rollout, and keeps the partition where it is', () => {
    const play = PhasedPlay.rolling();
    play.spec = { ...play.spec, isDryRun: true };
    passStep(play);
    assert.deepEqual(play.look(), ['hold DryRun']);
    assert.equal(play.set?.partition, 3);
    const { isDryRun: _, ...spec } = play.spec;
    play.spec = spec;
    assert.deepEqual(play.settle(), ['partition 3 to 2']);
  });

  test('lets a set go all the same when it is deleted', () => {
    const play = PhasedPlay.steady();
    play.spec = { ...play.spec, isDryRun: true };
    play.resource.isDeleting = true;
    assert.deepEqual(play.settle(), ['release web, drop rolling-update', 'remove-finalizer']);
  });

  test('keeps a set that it owned before its target was changed', () => {
    const play = PhasedPlay.steady();
    play.spec = { ...play.spec, isDryRun: true };
    const { target } = play;
    assert.ok(target !== undefined);
    play.former = [{ ...target, set: { ...target.set, name: 'old' } }];
    assert.deepEqual(play.look(), ['hold DryRun']);
    assert.equal(play.former.length, 1);
  });
});
