import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAlarms } from './parse-alarms.ts';

describe('parseAlarms()', () => {
  const time = new Date('2026-01-31T12:00:00Z');
  const updated = new Date('2026-01-31T13:00:00Z');

  test('takes the time since which the state is that, or else when it was first reported', () => {
    const alarm = { AlarmName: 'a', StateValue: 'OK', StateUpdatedTimestamp: updated };
    const parsed = parseAlarms({
      MetricAlarms: [alarm, { ...alarm, StateTransitionedTimestamp: time }],
    });
    assert.ok(parsed.kind === 'valid');
    assert.deepEqual(
      parsed.value.alarms.map(({ since }) => since),
      [updated.getTime(), time.getTime()],
    );
  });

  test('leaves out what is no text and no time', () => {
    const since = new Date(Number.NaN);
    const alarm = {
      AlarmName: 'a',
      StateValue: 'OK',
      StateReason: 5,
      StateUpdatedTimestamp: since,
    };
    assert.deepEqual(parseAlarms({ CompositeAlarms: [alarm], NextToken: '' }), {
      kind: 'valid',
      value: { alarms: [{ name: 'a', state: 'OK' }] },
    });
  });

  const wrong: Readonly<Record<string, readonly [object, string]>> = {
    nothing: [{}, 'answer'],
    'a list of null': [{ MetricAlarms: [null] }, 'MetricAlarms[0]'],
    'a list that is null beside one that is none': [
      { CompositeAlarms: [], MetricAlarms: null },
      'MetricAlarms',
    ],
    'an alarm without a name': [{ CompositeAlarms: [{ StateValue: 'OK' }] }, 'CompositeAlarms[0]'],
    'a state that is a number': [
      { CompositeAlarms: [{ AlarmName: 'a', StateValue: 1 }] },
      'CompositeAlarms[0]',
    ],
    'a token that is a number': [{ MetricAlarms: [], NextToken: 1 }, 'NextToken'],
  };
  for (const [name, [output, path]] of Object.entries(wrong)) {
    test(`does not read ${name}`, () => {
      const parsed = parseAlarms(output);
      assert.ok(parsed.kind === 'invalid');
      assert.equal(parsed.problem.path, path);
    });
  }
});
