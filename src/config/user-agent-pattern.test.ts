import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endingInTime } from '#support/ends-in-time.ts';
import { parseUserAgentPattern } from './user-agent-pattern.ts';

function patternOf(text: string): RegExp {
  const parsed = parseUserAgentPattern(text, 'flag');
  assert.ok(parsed.kind === 'valid');
  return parsed.value;
}

test('parseUserAgentPattern() gives a pattern that answers for the longest user agent in time', () => {
  // As much as a header may hold.
  const userAgent = 'kube'.repeat(4_000);
  const pattern = patternOf('.*kube.*kube-probe.*');
  assert.equal(
    endingInTime(() => pattern.test(userAgent)),
    false,
  );
});

test('parseUserAgentPattern() gives a pattern that finds what an honest client says', () => {
  const pattern = patternOf('.*kube-probe/1\\.\\d+.*');
  assert.equal(pattern.test('kube-probe/1.36'), true);
  assert.equal(pattern.test(`${'x'.repeat(200)} kube-probe/1.36`), true);
  assert.equal(pattern.test('curl/8.0'), false);
});
