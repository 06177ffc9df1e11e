import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { endingInTime } from '#support/ends-in-time.ts';
import { parseReading } from './parse-reading.ts';
import type { QueryReading } from './reading.ts';

function data(result: string, more = ''): string {
  return `{"status":"success","data":{"result":${result}}${more}}`;
}

/** A reading in words. */
function said(reading: QueryReading): string {
  switch (reading.kind) {
    case 'vector':
      return `vector ${reading.samples.map(({ text }) => text).join(' ')}`;
    case 'scalar':
      return `scalar ${reading.sample.text}`;
    case 'matrix':
      return `matrix ${reading.series}`;
    case 'error':
      return `${reading.reason}: ${reading.message}`;
    default:
      return reading.kind;
  }
}

describe('parseReading()', () => {
  const cases: Record<string, { body: string; want: string }> = {
    'reads a vector': {
      body: data('[{"metric":{"__name__":"up"},"value":[1.5,"1"]}]'),
      want: 'vector 1',
    },
    'reads several series, and values that are no usual numbers [phased 41]': {
      body: data(
        '[{"value":[1,"NaN"]},{"value":[1,"+Inf"]},{"value":[1,"-Inf"]},{"value":[1,"0"]},{"value":[1,"1e-7"]}]',
      ),
      want: 'vector NaN +Inf -Inf 0 1e-7',
    },
    'reads native histograms and elements that are null as values that are no number': {
      body: data('[{"metric":{},"histogram":[1,{}]},null]'),
      want: 'vector a histogram a histogram',
    },
    'reads a range vector': {
      body: data('[{"metric":{},"values":[[1,"1"],[2,"2"]]},{"metric":{},"values":[]}]'),
      want: 'matrix 2',
    },
    'reads a scalar [phased 41]': {
      body: '{"status":"success","data":{"resultType":"scalar","result":[1.5,"4"]}}',
      want: 'scalar 4',
    },
    'reads a text [phased 41]': {
      body: '{"status":"success","data":{"resultType":"string","result":[1.5,"4"]}}',
      want: 'string',
    },
    'finds no data in an empty vector': { body: data('[]'), want: 'no-data' },
    'finds no data in a null result [phased 41]': { body: data('null'), want: 'no-data' },
    'finds no data without a result': { body: '{"status":"success","data":{}}', want: 'no-data' },
    'finds no data in null data': { body: '{"status":"success","data":null}', want: 'no-data' },
    'finds no data in a success without data': { body: '{"status":"success"}', want: 'no-data' },
    'takes an answer whose status is error for one, never for no data [phased 42] [found R-5]': {
      body: '{"status":"error","errorType":"timeout","error":"query timed out"}',
      want: 'Refused: errorType "timeout", error "query timed out"',
    },
    'takes an error that has data beside it for an error [found R-5]': {
      body: '{"status":"error","data":{"result":[{"value":[1,"1"]}]}}',
      want: 'Refused: errorType none, error none',
    },
    'refuses an object without a status, whatever its data [phased 41] [found R-5]': {
      body: '{"data":{"result":[{"value":[1,"1"]}]}}',
      want: 'status must be "success": got nothing',
    },
    'refuses a status of another program [found R-5]': {
      body: '{"status":200,"data":null}',
      want: 'status must be "success": got a number',
    },
    'refuses null [phased 41] [found R-5]': {
      body: 'null',
      want: 'body must be a JSON object: got nothing',
    },
    'refuses an empty body [phased 41]': { body: '', want: 'body must be JSON' },
    'refuses HTML [phased 41]': {
      body: '<html></html>',
      want: 'body must be JSON',
    },
    'refuses JSON that ends early': {
      body: '{"data":',
      want: 'body must be JSON',
    },
    'refuses garbage behind the JSON': { body: '{}x', want: 'body must be JSON' },
    'refuses a list': { body: '[]', want: 'body must be a JSON object: got a list' },
    'refuses a text': { body: '"up"', want: 'body must be a JSON object: got a string' },
    'refuses data that is no object': {
      body: '{"status":"success","data":[]}',
      want: 'data must be a JSON object: got a list',
    },
    'refuses a result that is an object': {
      body: data('{"a":1}'),
      want: 'data.result must be a list: got an object',
    },
    'refuses elements that are no series': {
      body: data('[{},"x"]'),
      want: 'data.result[1] must be a series of a query: got a string',
    },
    'refuses labels that are no object': {
      body: data('[{"metric":"x"}]'),
      want: 'data.result[0] must be a series of a query: got an object',
    },
    'refuses a name among the labels that is no text': {
      body: data('[{"metric":{"name":1}}]'),
      want: 'data.result[0] must be a series of a query: got an object',
    },
    'refuses a value that is no list': {
      body: data('[{"value":"1"}]'),
      want: 'data.result[0] must be a series of a query: got an object',
    },
    'refuses a pair that is no sample': {
      body: data('[1,2]'),
      want: 'data.result[0] must be a series of a query: got a number',
    },
    'reads what is no number as a value that is none': {
      body: data('[{"value":[1,"many words"]},{"value":[1,7]}]'),
      want: 'vector "many words" a histogram',
    },
  };
  for (const [fact, { body, want }] of Object.entries(cases)) {
    test(`parseReading() ${fact}`, () => {
      const parsed = parseReading(body);
      const { kind } = parsed;
      assert.equal(
        kind === 'valid' ? said(parsed.value) : `${parsed.problem.path} ${parsed.problem.message}`,
        want,
      );
    });
  }

  test('parseReading() takes only numbers for numbers', () => {
    const numbers = ['0x10', '1_0', ' 1', '1 ', '', 'Infinityy', '--1', '.', 'e5', '1e'];
    for (const text of numbers) {
      const parsed = parseReading(data(`[{"value":[1,${JSON.stringify(text)}]}]`));
      assert.ok(parsed.kind === 'valid' && parsed.value.kind === 'vector');
      assert.ok(Number.isNaN(parsed.value.samples[0]?.value), text);
    }
  });

  test('parseReading() keeps a few warnings, cut to a length that fits a message [phased 42]', () => {
    const warnings = JSON.stringify(['a', 1, 'b'.repeat(500), 'c', 'd', 'e', 'f']);
    const parsed = parseReading(data('[]', `,"warnings":${warnings}`));
    assert.ok(parsed.kind === 'valid' && parsed.value.kind === 'no-data');
    const { warnings: kept } = parsed.value;
    assert.equal(kept.length, 5);
    assert.deepEqual([kept[0], kept[2]], ['"a"', '"c"']);
    assert.ok((kept[1] ?? '').length < 150);
  });

  test('parseReading() cuts long values', () => {
    const parsed = parseReading(data(`[{"value":[1,"${'9'.repeat(5_000)}"]}]`));
    assert.ok(parsed.kind === 'valid' && parsed.value.kind === 'vector');
    assert.ok((parsed.value.samples[0]?.text ?? '').length < 150);
  });

  test('parseReading() reads any JSON, and never passes what has no element', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.json().map((text) => data(text)),
        ),
        (body) => {
          const parsed = parseReading(body);
          if (parsed.kind === 'invalid' || parsed.value.kind !== 'vector') return;
          assert.ok(parsed.value.samples.length > 0);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('parseReading() reads the longest answers in time that grows as they do', () => {
    const bodies = [
      '['.repeat(2_097_152),
      '{"data":'.repeat(262_144),
      data(`[${'{},'.repeat(600_000)}{}]`),
      data(`[{"value":[1,"${'1'.repeat(2_000_000)}x"]}]`),
    ];
    for (const body of bodies) endingInTime(() => parseReading(body));
  });
});
