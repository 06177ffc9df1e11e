import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import { type DownscaleOutcome, summarizeDownscale } from './downscale-summary.ts';

const kept: DownscaleOutcome = {
  took: millis(19_490),
  zones: 2,
  from: 6,
  to: 5,
  delay: millis(4_000),
  minimumTime: millis(6_000),
  proof: {
    departures: [
      { pod: 'a-5', waited: millis(4_190) },
      { pod: 'b-5', waited: millis(11_000) },
    ],
    asked: new Map([
      ['a-5', 3],
      ['b-5', 2],
    ]),
    refusals: new Map([['a-5', 1]]),
    slowest: { pod: 'b-5', took: millis(1_510) },
    zones: ['zone-a', 'zone-b'],
    closest: millis(6_020),
  },
  stillPrepared: [],
};

const time = 'the down-scale took 19.49 s: zone-a, then zone-b went from 6 to 5 pods each';
const asked =
  '2 pods were asked to prepare, in 5 calls; a-5 said not yet once; b-5 took 1.51 s to answer';
const delays = 'no pod went before its delay of 4s: the soonest, a-5, 4.19 s after it had prepared';
const zones = 'no two zones shrank within 6s: the closest were 6.02 s apart';
const stay = 'of the 10 pods that stay, none is prepared to go';

test('summarizeDownscale() says what was kept', () => {
  assert.deepEqual(summarizeDownscale(kept), {
    isKept: true,
    lines: [time, asked, delays, zones, stay],
  });
});

const { proof } = kept;
const broken: Record<string, { outcome: DownscaleOutcome; line: string }> = {
  'a pod that went too soon': {
    outcome: {
      ...kept,
      proof: {
        ...proof,
        departures: [
          { pod: 'a-5', waited: millis(3_999) },
          { pod: 'b-5', waited: undefined },
        ],
      },
    },
    line: 'broken promise: pods went before their delay of 4s: a-5 after 4.00 s, b-5 unprepared',
  },
  'a pod that was not asked': {
    outcome: { ...kept, proof: { ...proof, asked: new Map([['a-5', 1]]) } },
    line: 'broken promise: b-5 went without being asked',
  },
  'too few pods that went': {
    outcome: { ...kept, from: 7 },
    line: 'broken promise: 2 pods went instead of 4',
  },
  'two zones too close together': {
    outcome: { ...kept, proof: { ...proof, closest: millis(5_990) } },
    line: 'broken promise: two zones shrank within 5.99 s, less than 6s',
  },
  'a pod that stays and is prepared': {
    outcome: { ...kept, stillPrepared: ['a-0'] },
    line: 'broken promise: pods that stay are still prepared to go: a-0',
  },
};

for (const [fact, { outcome, line }] of Object.entries(broken)) {
  test(`summarizeDownscale() says so for ${fact}`, () => {
    const summary = summarizeDownscale(outcome);
    assert.equal(summary.isKept, false);
    assert.deepEqual(
      summary.lines.filter((each) => each.startsWith('broken promise')),
      [line],
    );
  });
}
