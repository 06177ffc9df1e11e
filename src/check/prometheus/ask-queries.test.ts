import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { askQueries, type GateQuery, questionId } from './ask-queries.ts';
import type { Prometheus, PrometheusQuestion } from './prometheus.ts';
import type { QueryReading } from './reading.ts';

function value(text: string): QueryReading {
  return { kind: 'vector', samples: [{ value: Number(text), text }], warnings: [] };
}

/** Servers that answer each expression as `readings` say, and nothing otherwise. */
function answering(readings: Readonly<Record<string, QueryReading>>): Prometheus {
  const nothing: QueryReading = { kind: 'no-data', warnings: [] };
  return {
    read: ({ expr }, { sent }) => {
      sent?.();
      return Promise.resolve(readings[expr] ?? nothing);
    },
    close: () => Promise.resolve(),
  };
}

function question(expr: string): PrometheusQuestion {
  return { url: 'http://h', expr };
}

const errors: GateQuery<PrometheusQuestion> = {
  name: 'errors',
  candidate: question('canary'),
  baseline: question('stable'),
  rule: { baseline: { mostRatio: 2 } },
};
const traffic: GateQuery<PrometheusQuestion> = {
  name: 'traffic',
  candidate: question('traffic'),
  rule: {},
};

async function said(readings: Readonly<Record<string, QueryReading>>): Promise<string> {
  const { signal } = new AbortController();
  const finding = await askQueries(answering(readings), [errors, traffic], { signal });
  return `${finding.verdict}: ${finding.because.message} (${finding.value})`;
}

describe('askQueries()', () => {
  const cases: Record<string, { readings: Readonly<Record<string, QueryReading>>; want: string }> =
    {
      'passes when every query does, beside its baseline': {
        readings: { canary: value('3'), stable: value('2'), traffic: value('9') },
        want: 'passes: errors: 3 is near enough to the baseline 2 (errors: 3; traffic: 9)',
      },
      'fails when one is too far from its baseline': {
        readings: { canary: value('5'), stable: value('2'), traffic: value('9') },
        want: 'fails: errors: 5 is above 4, where the baseline is 2 (errors: 5; traffic: 9)',
      },
      'fails when one finds nothing': {
        readings: { canary: value('3'), stable: value('2') },
        want: 'fails: traffic: the query found nothing (errors: 3)',
      },
      'is unknown without an answer for the baseline': {
        readings: { canary: value('3'), traffic: value('9') },
        want: 'unknown: errors: the baseline query gives no value (errors: 3; traffic: 9)',
      },
    };
  for (const [fact, { readings, want }] of Object.entries(cases)) {
    test(`askQueries() ${fact}`, async () => assert.equal(await said(readings), want));
  }
});

describe('questionId()', () => {
  const id = questionId([errors, traffic]);

  test('questionId() is the same in every process', () => {
    assert.equal(id, '1cfd0539633465632be9f77ecc8a54d6');
  });

  test('questionId() does not depend on the order of members, nor on defaults and credentials', () => {
    const { candidate, rule, name, baseline } = errors;
    const other = { authorization: 'Bearer abc', isInsecure: false };
    assert.ok(baseline !== undefined);
    const same = { rule, baseline, candidate: { ...other, ...candidate }, name };
    assert.equal(questionId([same, traffic]), id);
  });

  const others: Record<string, readonly GateQuery[]> = {
    'another expression': [{ ...errors, candidate: question('x') }, traffic],
    'another URL': [{ ...errors, candidate: { url: 'http://i', expr: 'canary' } }, traffic],
    'another trust': [
      { ...errors, candidate: { ...question('canary'), isInsecure: true } },
      traffic,
    ],
    'other authorities': [
      { ...errors, candidate: { ...question('canary'), authorities: 'x' } },
      traffic,
    ],
    'a header [found R-13]': [
      { ...errors, candidate: { ...question('canary'), headers: [{ name: 'x', value: 'a' }] } },
      traffic,
    ],
    'another value of a header': [
      { ...errors, candidate: { ...question('canary'), headers: [{ name: 'x', value: 'b' }] } },
      traffic,
    ],
    'a header from a Secret': [
      { ...errors, candidate: { ...question('canary'), headers: [{ name: 'x', secretKey: 'b' }] } },
      traffic,
    ],
    'another baseline': [{ ...errors, baseline: question('x') }, traffic],
    'another rule': [{ ...errors, rule: { baseline: { mostRatio: 3 } } }, traffic],
    'an infinite bound': [errors, { ...traffic, rule: { bounds: { max: Infinity } } }],
    'a bound of NaN': [errors, { ...traffic, rule: { bounds: { max: Number.NaN } } }],
    'another name': [errors, { ...traffic, name: 'x' }],
    'another order': [traffic, errors],
    'one query less': [errors],
  };
  test('questionId() tells apart whatever is asked elsewhere, or judged in another way', () => {
    const ids = Object.values(others).map(questionId);
    assert.equal(new Set([id, ...ids]).size, ids.length + 1);
  });
});
