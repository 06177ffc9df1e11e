/** Whole rollouts, pod by pod. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { valid } from '#base/parsed.ts';
import { UpdatePlay } from '#support/rollouts/update-play.ts';

const figure = {
  'zone-1': [28, 27, 22, 19, 17, 15, 10, 8, 6, 1],
  'zone-2': [29, 26, 23, 20, 16, 14, 11, 7, 5, 2],
  'zone-3': [25, 24, 21, 18, 13, 12, 9, 4, 3, 0],
};

const third = {
  a: [0, 3, 6, 9, 12, 15, 18, 21, 24, 27],
  b: [1, 4, 7, 10, 13, 16, 19, 22, 25, 28],
  c: [2, 5, 8, 11, 14, 17, 20, 23, 26, 29],
};

function playOf(
  zones: Readonly<Record<string, readonly number[]>>,
  most: { readonly count?: number; readonly percent?: number },
  factor: number,
): UpdatePlay {
  const play = new UpdatePlay(zones);
  const { count, percent = 0 } = most;
  const maxUnavailable =
    count === undefined
      ? valid({ kind: 'percent', percent } as const)
      : valid({ kind: 'count', count } as const);
  play.spec = { ...play.spec, maxUnavailable, exponentialFactor: valid(factor) };
  return play;
}

/** The status after each step. */
function storedAfterEach(play: UpdatePlay): readonly string[] {
  const all: string[] = [];
  for (let steps = -1; steps < play.steps.length; ) {
    steps = play.steps.length;
    play.look();
    if (play.steps.length > steps) all.push(play.stored);
  }
  return all;
}

describe('a ZoneAwareUpdate', () => {
  test('[zau 36] of the first figure of the peer grows to four pods a step', () => {
    const play = playOf(figure, { count: 4 }, 2);
    assert.deepEqual(storedAfterEach(play), [
      '1 / 1 / zone-110 zone-210 zone-310',
      '2 / 2 / zone-19 zone-210 zone-310',
      '3 / 4 / zone-17 zone-210 zone-310',
      '4 / 3 / zone-13 zone-210 zone-310',
      '5 / 4 / zone-10 zone-210 zone-310',
      '6 / 4 / zone-10 zone-26 zone-310',
      '7 / 2 / zone-10 zone-22 zone-310',
      '8 / 4 / zone-10 zone-20 zone-310',
      '9 / 4 / zone-10 zone-20 zone-36',
      '10 / 2 / zone-10 zone-20 zone-32',
    ]);
    assert.deepEqual(play.steps, [
      '28',
      '27 22',
      '19 17 15 10',
      '8 6 1',
      '29 26 23 20',
      '16 14 11 7',
      '5 2',
      '25 24 21 18',
      '13 12 9 4',
      '3 0',
    ]);
    assert.equal(play.stored, '0 / 0 / zone-10 zone-20 zone-30');
    assert.equal(play.promotions, 1);
  });

  test('[zau 36] of the second figure takes four pods from the first step on', () => {
    const play = playOf(figure, { count: 4 }, 0);
    assert.deepEqual(play.run(), [
      '28 27 22 19',
      '17 15 10 8',
      '6 1',
      '29 26 23 20',
      '16 14 11 7',
      '5 2',
      '25 24 21 18',
      '13 12 9 4',
      '3 0',
    ]);
  });

  test('[zau 37] of a third of thirty pods takes the second and third zone as a whole', () => {
    const play = playOf(third, { percent: 33 }, 2);
    assert.deepEqual(storedAfterEach(play), [
      '1 / 1 / a10 b10 c10',
      '2 / 2 / a9 b10 c10',
      '3 / 4 / a7 b10 c10',
      '4 / 3 / a3 b10 c10',
      '5 / 10 / a0 b10 c10',
      '6 / 10 / a0 b0 c10',
    ]);
    assert.deepEqual(playOf(third, { percent: 33 }, 0).run().length, 3);
    const nine = playOf(third, { percent: 30 }, 2);
    assert.deepEqual(nine.run()[5], '1');
  });

  test('[zau 38] waits for pods that fail in the middle, and takes stuck ones of the zone first', () => {
    const play = new UpdatePlay();
    play.look();
    play.look();
    assert.equal(play.stored, '2 / 2 / a2 b3 c3');
    play.put(0, { state: 'crashing' }).put(5, { state: 'crashing' });
    assert.deepEqual(play.look(), ['hold AwaitingPods']);
    play.put(0, { state: 'ready' }).put(5, { state: 'ready' });
    assert.deepEqual(play.look(), ['delete web-7', 'delete web-4']);
    assert.equal(play.stored, '3 / 2 / a0 b3 c3');
    play.put(1, { state: 'crashing' });
    assert.deepEqual(play.look(), ['delete web-1']);
    assert.equal(play.stored, '4 / 1 / a0 b1 c3');
    assert.deepEqual(play.run().slice(-2), ['8 5', '2']);
    assert.equal(play.stored, '0 / 0 / a0 b0 c0');
  });

  test('[zau 19] that is taken back in the second zone begins with what is stuck there', () => {
    const play = playOf(third, { percent: 33 }, 2);
    for (let step = 0; step < 5; step += 1) play.look();
    for (const ordinal of [28, 25, 22]) play.put(ordinal, { state: 'crashing' });
    play.update = 'rev-1';
    play.steps.length = 0;
    assert.deepEqual(play.run(), [
      '28',
      '25 22',
      '27 24 21 18',
      '15 12 9 6 3 0',
      '19 16 13 10 7 4 1',
    ]);
    assert.equal(play.promotions, 0);
  });

  test('[zau 20] that is taken back in the first zone takes 1, 2, 1 and 3 pods', () => {
    const play = playOf(third, { percent: 33 }, 2);
    for (let step = 0; step < 3; step += 1) play.look();
    for (const ordinal of [18, 15, 12, 9]) play.put(ordinal, { state: 'crashing' });
    play.update = 'rev-1';
    play.steps.length = 0;
    assert.deepEqual(play.run(), ['18', '15 12', '9', '27 24 21']);
  });

  test('that meets a third revision begins again, and takes all', () => {
    const play = new UpdatePlay();
    for (let step = 0; step < 3; step += 1) play.look();
    play.update = 'rev-3';
    play.steps.length = 0;
    assert.deepEqual(play.run(), ['6', '3 0', '7 4', '1', '8 5', '2']);
  });
});
