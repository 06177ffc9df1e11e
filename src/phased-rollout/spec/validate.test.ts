import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonArray, JsonObject } from '#base/json.ts';
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

  const additional: Record<string, { queries: JsonArray; want: readonly string[] }> = {
    'admits another query at the same server': {
      queries: [{ name: 'latency', expr: 'latency < 1' }],
      want: [],
    },
    'names what is wrong with each': {
      queries: [
        { name: 'latency', expr: 'up{' },
        { name: 'errors', expr: 'up', url: '10.0.0.1:9090' },
      ],
      want: [
        exprProblem.replace('query.expr', 'additionalQueries[0].expr'),
        urlProblem.replace('query.url', 'additionalQueries[1].url'),
      ],
    },
    'refuses a query without a name': {
      queries: [{ expr: 'up' }],
      want: ['spec.check.additionalQueries[0].name must be a text that is not empty: got nothing'],
    },
  };
  for (const [fact, { queries, want }] of Object.entries(additional)) {
    test(`admissionProblems() ${fact}`, () => {
      const query = { expr: 'up', url: 'http://h' };
      const object = { spec: { targetRef: '', check: { query, additionalQueries: queries } } };
      assert.deepEqual(admissionProblems(object).map(problemText), want);
    });
  }

  test('admissionProblems() refuses what is wrong with a field that the peer does not know', () => {
    const query = { expr: 'up', url: 'http://h', thresholdRange: { min: 2, max: 1 } };
    const object = { spec: { targetRef: '', stepSize: 0, check: { query, failureBudget: {} } } };
    assert.deepEqual(
      admissionProblems(object).map(({ path }) => path),
      ['spec.check.query.thresholdRange.min', 'spec.check.failureBudget', 'spec.stepSize'],
    );
  });

  test('admissionProblems() names both fields of an object without a spec', () => {
    assert.deepEqual(
      admissionProblems({}).map(({ path }) => path),
      ['spec.check.query.expr', 'spec.check.query.url'],
    );
  });
});
