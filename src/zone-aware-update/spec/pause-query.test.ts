/** What `spec.pauseRolloutQuery` may say. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { problemText } from '#base/parsed.ts';
import { parseZoneAwareUpdate } from '../api.ts';

const whole: JsonObject = {
  url: 'https://prometheus:9090',
  expr: 'errors',
  thresholdRange: { max: 5 },
};

function problemOf(query: JsonValue): string {
  const parsed = parseZoneAwareUpdate({ spec: { statefulset: 'web', pauseRolloutQuery: query } });
  return parsed.kind === 'valid' ? '' : problemText(parsed.problem);
}

describe('parseZoneAwareUpdate()', () => {
  test('reads a query of Prometheus as PhasedRollouts have it', () => {
    const written = { ...whole, secretRef: 'token', insecureSkipVerify: true, onNoData: 'Pass' };
    const parsed = parseZoneAwareUpdate({ spec: { pauseRolloutQuery: written } });
    assert.ok(parsed.kind === 'valid');
    assert.deepEqual(parsed.value.query, {
      name: 'query',
      candidate: { url: 'https://prometheus:9090', expr: 'errors', isInsecure: true },
      rule: { bounds: { max: 5 }, onNoData: 'passes' },
      secretRef: 'token',
    });
  });

  test('looks at no query where it is to be ignored, whatever is there', () => {
    const spec = { pauseRolloutQuery: { expr: 1 }, ignoreAlarm: true };
    const parsed = parseZoneAwareUpdate({ spec });
    assert.ok(parsed.kind === 'valid');
    assert.equal(parsed.value.query, undefined);
  });

  for (const [what, query, problem] of [
    [
      'that is a text',
      'errors',
      'spec.pauseRolloutQuery must be a query with url, expr and thresholdRange: got "errors"',
    ],
    [
      'without an expression',
      { ...whole, expr: '' },
      'spec.pauseRolloutQuery.expr must be a text that is not empty: got ""',
    ],
    [
      'without a server',
      { ...whole, url: null },
      'spec.pauseRolloutQuery.url must be a text that is not empty: got nothing',
    ],
    [
      'that does not say which values are good',
      { url: 'http://p', expr: 'errors' },
      'spec.pauseRolloutQuery.thresholdRange must have a number as min, or as max: the rollout goes on while every value is within: got nothing',
    ],
    [
      'whose range is empty',
      { ...whole, thresholdRange: { min: 5, max: 1 } },
      'spec.pauseRolloutQuery.thresholdRange.min must not be above max, which is 1: got 5',
    ],
  ] as const) {
    test(`refuses a query ${what}`, () => {
      assert.equal(problemOf(query), problem);
    });
  }
});
