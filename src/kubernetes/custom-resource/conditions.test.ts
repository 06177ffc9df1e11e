import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant } from '#base/units.ts';
import { nextConditions } from './conditions.ts';

test('nextConditions() shows marks of direction in their escapes [found X-9]', () => {
  const because = { reason: 'CheckFailed', message: 'the server answered a\u202eb' };
  const wanted = { Ready: { status: 'False', because } } as const;
  assert.deepEqual(nextConditions({}, wanted, { generation: 3, now: instant(0) }), [
    {
      type: 'Ready',
      status: 'False',
      observedGeneration: 3,
      lastTransitionTime: '1970-01-01T00:00:00Z',
      reason: 'CheckFailed',
      message: 'the server answered a\\u202eb',
    },
  ]);
});
