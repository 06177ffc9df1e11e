import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { CheckVerdict, Finding } from '../answer.ts';
import { jointFinding, judgeReading, type Rule } from './plan-reading.ts';
import type { QueryReading, Sample } from './reading.ts';

function sample(text: string): Sample {
  const value = { '+Inf': Infinity, '-Inf': -Infinity }[text] ?? Number(text);
  return { value, text };
}

function vector(...texts: readonly string[]): QueryReading {
  return { kind: 'vector', samples: texts.map(sample), warnings: [] };
}

const scalar: QueryReading = { kind: 'scalar', sample: sample('4'), warnings: [] };
const matrix: QueryReading = { kind: 'matrix', series: 2, warnings: [] };
const text: QueryReading = { kind: 'string', warnings: [] };
const nothing: QueryReading = { kind: 'no-data', warnings: [] };
const error: QueryReading = {
  kind: 'error',
  reason: 'Refused',
  message: 'the server answered 500',
};
const warned: QueryReading = {
  ...vector('4'),
  warnings: ['"part of it is missing"'],
} as QueryReading;

interface Case {
  readonly rule?: Rule;
  readonly candidate: QueryReading;
  readonly baseline?: QueryReading;
  /** Verdict and message. */
  readonly want: string;
}

const upTo5: Rule = { bounds: { max: 5 } };

const cases: Record<string, Case> = {
  'passes any data without bounds': {
    candidate: vector('4'),
    want: 'passes: the query found 1 series',
  },
  'passes 0, NaN and infinity without bounds [phased 41]': {
    candidate: vector('0', 'NaN', '+Inf', '-Inf', '1'),
    want: 'passes: the query found 5 series',
  },
  'passes series over time without bounds': {
    candidate: matrix,
    want: 'passes: the query found 2 series',
  },
  'fails no data [phased 41]': { candidate: nothing, want: 'fails: the query found nothing' },
  'fails no data with bounds': {
    rule: upTo5,
    candidate: nothing,
    want: 'fails: the query found nothing',
  },
  'waits for data when the rule says so': {
    rule: { onNoData: 'unknown' },
    candidate: nothing,
    want: 'unknown: the query found nothing',
  },
  'passes no data only when the rule says so': {
    rule: { onNoData: 'passes' },
    candidate: nothing,
    want: 'passes: the query found nothing',
  },
  'takes a list without an element for no data': {
    candidate: vector(),
    want: 'fails: the query found nothing',
  },
  'cannot judge an error': { candidate: error, want: 'unknown: the server answered 500' },
  'cannot judge a scalar without bounds [phased 6, 41]': {
    candidate: scalar,
    want: 'unknown: the query gives a scalar, which needs bounds',
  },
  'judges a scalar by bounds': {
    rule: upTo5,
    candidate: scalar,
    want: 'passes: 4 is within its bounds',
  },
  'cannot judge a text, with bounds or without [phased 41]': {
    candidate: text,
    want: 'unknown: the query gives a string',
  },
  'cannot judge series over time by bounds': {
    rule: upTo5,
    candidate: matrix,
    want: 'unknown: the query gives series over time, which have no one value',
  },
  'passes the bound itself': {
    rule: { bounds: { min: 4, max: 4 } },
    candidate: vector('4'),
    want: 'passes: 4 is within its bounds',
  },
  'fails a value above its bound': {
    rule: upTo5,
    candidate: vector('5.5'),
    want: 'fails: 5.5 is above 5',
  },
  'fails a value below its bound': {
    rule: { bounds: { min: 1 } },
    candidate: vector('-Inf'),
    want: 'fails: -Inf is below 1',
  },
  'fails infinity above a bound': {
    rule: upTo5,
    candidate: vector('+Inf'),
    want: 'fails: +Inf is above 5',
  },
  'fails every value when a bound is no number': {
    rule: { bounds: { max: Number.NaN } },
    candidate: vector('1'),
    want: 'fails: 1 is above NaN',
  },
  'cannot judge NaN by bounds': {
    rule: upTo5,
    candidate: vector('NaN'),
    want: 'unknown: NaN is no number',
  },
  'fails NaN when the rule says so': {
    rule: { ...upTo5, onNotANumber: 'fails' },
    candidate: vector('NaN'),
    want: 'fails: NaN is no number',
  },
  'fails when one of several values is outside': {
    rule: upTo5,
    candidate: vector('1', 'NaN', '6'),
    want: 'fails: 6 is above 5',
  },
  'passes when all of several values are within': {
    rule: upTo5,
    candidate: vector('1', '2'),
    want: 'passes: 1 is within its bounds',
  },
  'passes when any of several values is to be within': {
    rule: { ...upTo5, several: 'any' },
    candidate: vector('6', '2'),
    want: 'passes: 2 is within its bounds',
  },
  'fails when none of several values is within': {
    rule: { ...upTo5, several: 'any' },
    candidate: vector('6', '7'),
    want: 'fails: 6 is above 5',
  },
  'cannot judge several values when one was to come': {
    rule: { ...upTo5, several: 'unknown' },
    candidate: vector('1', '2'),
    want: 'unknown: the query gives 2 values where one was expected',
  },
  'passes what the server warns of': {
    candidate: warned,
    want: 'passes: the query found 1 series',
  },
  'does not believe what the server warns of when the rule says so': {
    rule: { onWarnings: 'unknown' },
    candidate: warned,
    want: 'unknown: the server warns: "part of it is missing"',
  },
  'does not believe failures either, when the server warns and the rule says so': {
    rule: { onWarnings: 'unknown', bounds: { max: 1 } },
    candidate: warned,
    want: 'unknown: the server warns: "part of it is missing"',
  },
  'passes a candidate near its baseline': {
    rule: { baseline: { mostRatio: 1.5 } },
    candidate: vector('3'),
    baseline: vector('2'),
    want: 'passes: 3 is near enough to the baseline 2',
  },
  'fails a candidate far above its baseline': {
    rule: { baseline: { mostRatio: 1.5 } },
    candidate: vector('3.1'),
    baseline: vector('2'),
    want: 'fails: 3.1 is above 3, where the baseline is 2',
  },
  'fails a candidate far below its baseline': {
    rule: { baseline: { leastRatio: 0.5 } },
    candidate: vector('0.9'),
    baseline: vector('2'),
    want: 'fails: 0.9 is below 1, where the baseline is 2',
  },
  'compares by ratio with a negative baseline': {
    rule: { baseline: { mostRatio: 1.5 } },
    candidate: vector('-4'),
    baseline: vector('-2'),
    want: 'fails: -4 is below -3, where the baseline is -2',
  },
  'compares by ratio with a baseline of nothing': {
    rule: { baseline: { mostRatio: 2 } },
    candidate: vector('0.1'),
    baseline: vector('0'),
    want: 'fails: 0.1 is above 0, where the baseline is 0',
  },
  'compares by difference': {
    rule: { baseline: { leastDifference: -1, mostDifference: 1 } },
    candidate: vector('3.5'),
    baseline: scalar,
    want: 'passes: 3.5 is near enough to the baseline 4',
  },
  'fails by difference': {
    rule: { baseline: { mostDifference: 1 } },
    candidate: vector('5.5'),
    baseline: scalar,
    want: 'fails: 5.5 is above 5, where the baseline is 4',
  },
  'fails a bound of its own beside a good baseline': {
    rule: { baseline: { mostRatio: 2 }, bounds: { max: 5 } },
    candidate: vector('6'),
    baseline: vector('6'),
    want: 'fails: 6 is above 5',
  },
  'cannot compare with infinity by no ratio': {
    rule: { baseline: { mostRatio: 0 } },
    candidate: vector('1'),
    baseline: vector('+Inf'),
    want: 'unknown: 1 cannot be compared with Infinity',
  },
  'cannot compare without a baseline': {
    rule: { baseline: { mostRatio: 2 } },
    candidate: vector('1'),
    want: 'unknown: there is no baseline query to compare with',
  },
  'cannot compare with a baseline that found nothing, whatever the rule says of no data': {
    rule: { baseline: { mostRatio: 2 }, onNoData: 'passes' },
    candidate: vector('1'),
    baseline: nothing,
    want: 'unknown: the baseline query gives no value',
  },
  'cannot compare with an error': {
    rule: { baseline: { mostRatio: 2 } },
    candidate: vector('1'),
    baseline: error,
    want: 'unknown: the baseline query has no answer: the server answered 500',
  },
  'cannot compare with several values': {
    rule: { baseline: { mostRatio: 2 } },
    candidate: vector('1'),
    baseline: vector('1', '2'),
    want: 'unknown: the baseline query gives 2 values, not one',
  },
  'cannot compare with NaN': {
    rule: { baseline: { mostRatio: 2 } },
    candidate: vector('1'),
    baseline: vector('NaN'),
    want: 'unknown: the baseline is not a number: NaN',
  },
};

function said({ verdict, because }: Finding): string {
  return `${verdict}: ${because.message}`;
}

describe('judgeReading()', () => {
  for (const [fact, { rule = {}, candidate, baseline, want }] of Object.entries(cases)) {
    test(`judgeReading() ${fact}`, () => {
      const readings = baseline === undefined ? { candidate } : { candidate, baseline };
      assert.equal(said(judgeReading(readings, rule)), want);
    });
  }

  test('judgeReading() tells the values that it has seen, and of many how many more there are', () => {
    const value = (...texts: readonly string[]): string | undefined =>
      judgeReading({ candidate: vector(...texts) }, {}).value;
    assert.equal(value('4', 'NaN'), '4, NaN');
    assert.equal(value('1', '2', '3', '4', '5', '6', '7'), '1, 2, 3, 4, 5 and 2 more');
    assert.equal(judgeReading({ candidate: nothing }, {}).value, undefined);
  });

  test('judgeReading() keeps what the servers warned of, whatever it finds [phased 42]', () => {
    const beside = { ...scalar, warnings: ['"old"'] } as QueryReading;
    const { warnings } = judgeReading({ candidate: warned, baseline: beside }, {});
    assert.deepEqual(warnings, ['"part of it is missing"', '"old"']);
  });

  test('judgeReading() looks once at what stands 700,000 times in an answer', () => {
    let looks = 0;
    const same: Sample = {
      text: 'a histogram',
      get value() {
        looks += 1;
        return Number.NaN;
      },
    };
    const samples = Array.from({ length: 700_000 }, () => same);
    const candidate: QueryReading = { kind: 'vector', samples, warnings: [] };
    assert.equal(judgeReading({ candidate }, upTo5).verdict, 'unknown');
    assert.ok(looks < 10, `${looks} looks`);
  });

  test('judgeReading() passes nothing by bounds but values within them', () => {
    const values = fc.array(fc.oneof(fc.double(), fc.constantFrom(Number.NaN, 5, -5, Infinity)), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(values, (numbers) => {
        const samples = numbers.map((value) => ({ value, text: String(value) }));
        const candidate: QueryReading = { kind: 'vector', samples, warnings: [] };
        const { verdict } = judgeReading({ candidate }, { bounds: { min: -5, max: 5 } });
        const areWithin = numbers.every((value) => Math.abs(value) <= 5);
        assert.equal(verdict === 'passes', areWithin);
      }),
      { numRuns: 300 },
    );
  });
});

describe('jointFinding()', () => {
  const finding = (verdict: CheckVerdict, value?: string): Finding => ({
    verdict,
    warnings: [],
    because: { reason: 'AsWanted', message: verdict },
    ...(value !== undefined && { value }),
  });
  const joint = (...verdicts: readonly CheckVerdict[]): string =>
    said(
      jointFinding(verdicts.map((each, at) => ({ name: `q${at + 1}`, finding: finding(each) }))),
    );

  test('jointFinding() passes when all of several queries pass', () => {
    assert.equal(joint('passes', 'passes'), 'passes: q1: passes');
  });
  test('jointFinding() fails when one of several queries fails, also beside an unknown one', () => {
    assert.equal(joint('passes', 'unknown', 'fails'), 'fails: q3: fails');
  });
  test('jointFinding() is unknown when one of several queries is', () => {
    assert.equal(joint('passes', 'unknown'), 'unknown: q2: unknown');
  });
  test('jointFinding() does not pass without any query', () => {
    assert.equal(joint(), 'unknown: there is nothing to judge');
  });
  test('jointFinding() leaves a query that is alone as it is', () => {
    assert.equal(joint('passes'), 'passes: passes');
  });
  test('jointFinding() names the value of each query', () => {
    const findings = [
      { name: 'errors', finding: finding('passes', '0.1') },
      { name: 'up', finding: finding('unknown') },
      { name: 'latency', finding: finding('passes', '3') },
    ];
    assert.equal(jointFinding(findings).value, 'errors: 0.1; latency: 3');
  });
});
