import assert from 'node:assert/strict';
import { test } from 'node:test';
import { humanAge, humanDuration } from './human-age.ts';

const durations: Readonly<Record<string, readonly [seconds: number, text: string]>> = {
  'more than a second in the future is invalid': [-2, '<invalid>'],
  'a second in the future reads as now': [-1, '0s'],
  'up to two minutes are seconds': [119, '119s'],
  'from two minutes on there are minutes': [120, '2m'],
  'up to ten minutes seconds are shown': [599, '9m59s'],
  'from ten minutes on they are not': [601, '10m'],
  'up to three hours there are minutes only': [10_799, '179m'],
  'up to eight hours minutes are shown': [12_060, '3h21m'],
  'whole hours stand alone': [10_800, '3h'],
  'up to two days there are hours': [172_799, '47h'],
  'up to eight days hours are shown': [183_600, '2d3h'],
  'from eight days on there are days': [694_800, '8d'],
  'up to two years there are days only': [63_071_999, '729d'],
  'from two years on days are shown next to years': [63_158_400, '2y1d'],
  'from eight years on there are years only': [252_374_400, '8y'],
};

for (const [name, [seconds, text]] of Object.entries(durations)) {
  test(`humanDuration() ${name}`, () => {
    assert.equal(humanDuration(seconds), text);
  });
}

test('humanAge() counts from an API timestamp, and is unknown without one', () => {
  const now = Date.parse('2026-01-01T00:05:30Z');
  assert.equal(humanAge('2026-01-01T00:00:00Z', now), '5m30s');
  assert.equal(humanAge('', now), '<unknown>');
});
