import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { problemText } from '#base/parsed.ts';
import { admissionProblems } from './validate.ts';

function withQuery(expr: string, url: string, metadata: JsonObject = {}): JsonObject {
  return { metadata, spec: { targetRef: '', check: { query: { expr, url } } } };
}

const exprProblem = 'spec.check.query.expr must be PromQL: got "up{", and at 1:4: unexpected end';
const urlProblem =
  'spec.check.query.url must be a URL such as "http://prometheus.monitoring:9090": got "10.0.0.1:9090", and it begins with neither a scheme nor a slash';

describe('admissionProblems()', () => {
  const cases: Record<string, { object: JsonObject; want: readonly string[] }> = {
    'admits an expression and a URL': { object: withQuery('up', 'http://h:9090'), want: [] },
    'admits a URL without a scheme, as the peer does': {
      object: withQuery('up', 'prom:9000/xx'),
      want: [],
    },
    'admits a scalar, as the peer does': { object: withQuery('scalar(up)', 'http://h'), want: [] },
    'names both fields at once': {
      object: withQuery('up{', '10.0.0.1:9090'),
      want: [exprProblem, urlProblem],
    },
    'names the URL alone': { object: withQuery('up', '10.0.0.1:9090'), want: [urlProblem] },
    'admits anything that is being deleted': {
      object: withQuery('up{', '10.0.0.1:9090', { deletionTimestamp: '2026-01-31T12:00:00Z' }),
      want: [],
    },
  };
  for (const [fact, { object, want }] of Object.entries(cases)) {
    test(`admissionProblems() ${fact}`, () => {
      assert.deepEqual(admissionProblems(object).map(problemText), want);
    });
  }

  test('admissionProblems() names both fields of an object without a spec', () => {
    assert.deepEqual(
      admissionProblems({}).map(({ path }) => path),
      ['spec.check.query.expr', 'spec.check.query.url'],
    );
  });
});
