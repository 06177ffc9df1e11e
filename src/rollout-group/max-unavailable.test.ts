import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitOf, parseMaxUnavailable } from './max-unavailable.ts';

const PATH = 'metadata.annotations["rollout-max-unavailable"]';

/** The limit that `raw` gives a set of `replicas`; 1 where it cannot be read. */
function limit(raw: string, replicas: number): number | 'invalid' {
  const parsed = parseMaxUnavailable(raw, PATH);
  return parsed.kind === 'valid' ? limitOf(parsed.value, replicas) : 'invalid';
}

const readable: readonly (readonly [raw: string, replicas: number, limit: number])[] = [
  [' 3 ', 3, 3],
  ['+3', 3, 3],
  ['010', 3, 10],
  ['1000000', 3, 1_000_000],
  ['2147483647', 3, 2_147_483_647],
  ['30%', 10, 3],
  ['25%', 10, 2],
  ['50%', 3, 1],
  ['30%', 1, 1],
  ['1%', 3, 1],
  ['100%', 4, 4],
  ['+50%', 4, 2],
  [' 50% ', 4, 2],
];

for (const [raw, replicas, want] of readable) {
  test(`parseMaxUnavailable() [scenario 14] reads ${JSON.stringify(raw)} of ${replicas} replicas as ${want}`, () => {
    assert.equal(limit(raw, replicas), want);
  });
}

const unreadable = [
  'xxx',
  '0',
  '-1',
  '25 %',
  '%',
  '0%',
  '101%',
  '300%',
  '',
  '2.5%',
  '1.5',
  '2147483648',
  '99999999999999999999',
  '0x3',
  '1e1',
  '３',
];

for (const raw of unreadable) {
  test(`parseMaxUnavailable() [scenario 13] refuses ${JSON.stringify(raw)}`, () => {
    assert.equal(limit(raw, 10), 'invalid');
  });
}

test('parseMaxUnavailable() says where the value stands, what is right and what was seen', () => {
  assert.deepEqual(parseMaxUnavailable('300%', PATH), {
    kind: 'invalid',
    problem: {
      path: PATH,
      message:
        'must be an integer from 1 to 2147483647, or a percentage from "1%" to "100%": got "300%"',
    },
  });
});
