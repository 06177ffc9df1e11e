import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { LogFields, Logger, LogLevel, LogValue } from '#base/logger.ts';
import { instant } from '#base/units.ts';
import type { LineLoggerOptions } from './line-logger.ts';
import { createLogger, unbuffered } from './line-logger.ts';

const T0 = instant(1_767_323_045_120);

function linesOf(
  options: Partial<LineLoggerOptions>,
  write: (logger: Logger) => void,
): readonly string[] {
  const lines: string[] = [];
  const sink = (line: string): void => void lines.push(line);
  write(
    createLogger({
      format: 'logfmt',
      level: 'debug',
      clock: { now: () => T0 },
      sink: unbuffered(sink),
      ...options,
    }),
  );
  return lines;
}

function lineOf(format: 'logfmt' | 'json', fields: LogFields): string {
  return linesOf({ format }, (logger) => logger.info('m', fields)).join('\n');
}

test('[scenario 81] createLogger() starts a logfmt line with level and ts, without a caller', () => {
  const lines = linesOf({}, (logger) => logger.warn('reconcile failed', { err: new Error('no') }));
  assert.deepEqual(lines, ['level=warn ts=2026-01-02T03:04:05.12Z msg="reconcile failed" err=no']);
});

test('createLogger() flushes its sink, also through a logger with fields', () => {
  const done: string[] = [];
  const sink = {
    write: (line: string) => void done.push(line),
    flush: () => void done.push('flush'),
  };
  const logger = createLogger({ format: 'json', level: 'info', clock: { now: () => T0 }, sink });
  logger.with({ a: 1 }).info('m');
  logger.with({ a: 1 }).flush();
  assert.deepEqual(done.slice(1), ['flush']);
});

test('[scenario 81] createLogger() sorts the keys of a JSON line', () => {
  const lines = linesOf({ format: 'json' }, (logger) =>
    logger.with({ pod: 'p', zone: 'z' }).info('done', { url: 'u', count: 3, a: true }),
  );
  assert.deepEqual(lines, [
    '{"a":true,"count":3,"level":"info","msg":"done","pod":"p","ts":"2026-01-02T03:04:05.12Z","url":"u","zone":"z"}',
  ]);
});

for (const format of ['logfmt', 'json'] as const) {
  test(`[scenario 81] createLogger() prints the errors of several groups in one ${format} line`, () => {
    const err = new AggregateError(
      [new Error('group a:\nrefused'), new Error('group b: gone')],
      '2 groups failed',
    );
    const line = lineOf(format, { err });
    assert.ok(line.includes('2 groups failed: group a:\\nrefused; group b: gone'), line);
    assert.doesNotMatch(line, /\n/);
  });
}

test('createLogger() prints bound fields before the message and those of the event behind it (LG-2)', () => {
  const lines = linesOf({}, (logger) => {
    const bound = logger.with({ follower: 'b', leader: 'a' }).with({ pod: 'b-0' });
    bound.info('scaled', { z: 1, a: 2 });
    logger.info('other');
  });
  assert.deepEqual(lines, [
    'level=info ts=2026-01-02T03:04:05.12Z follower=b leader=a pod=b-0 msg=scaled z=1 a=2',
    'level=info ts=2026-01-02T03:04:05.12Z msg=other',
  ]);
});

const logfmtValues: Record<string, readonly [value: LogValue, want: string]> = {
  'prints a plain word bare': ['word', ' v=word'],
  'quotes a blank': ['two words', ' v="two words"'],
  'quotes an equals sign': ['a=b', ' v="a=b"'],
  'escapes a quote': ['say "a"', ' v="say \\"a\\""'],
  'leaves a lone backslash bare': ['a\\b', ' v=a\\b'],
  'escapes a backslash within quotes': ['a\\ b', ' v="a\\\\ b"'],
  'escapes a line break': ['a\nb', ' v="a\\nb"'],
  'escapes a control character': ['a\u0001b', ' v="a\\u0001b"'],
  'escapes DEL': ['a\u007fb', ' v="a\\u007fb"'],
  'escapes the control characters above ASCII': ['a\u009bb', ' v="a\\u009bb"'],
  'escapes a line separator': ['a\u2028b', ' v="a\\u2028b"'],
  'escapes a mark of direction [found X-9]': ['a\u202eb', ' v="a\\u202eb"'],
  'escapes a zero width [found X-9]': ['a\u200bb', ' v="a\\u200bb"'],
  'escapes a tag [found X-9]': ['\u{e0041}', ' v="\\udb40\\udc41"'],
  'escapes an invalid code point': ['a\ud800b', ' v="a\\ufffdb"'],
  'prints other letters bare': ['größe', ' v=größe'],
  'prints an emoji bare': ['\u{1f600}', ' v=\u{1f600}'],
  'quotes the word null': ['null', ' v="null"'],
  'prints a null bare': [null, ' v=null'],
  'prints an empty text as nothing': ['', ' v='],
  'leaves out undefined': [undefined, ''],
  'prints integers': [42, ' v=42'],
  'prints decimals': [0.5, ' v=0.5'],
  'prints booleans': [false, ' v=false'],
  'joins a list with blanks': [['a-0', 'a-1'], ' v="a-0 a-1"'],
  'prints a list of one bare': [['a-0'], ' v=a-0'],
};
for (const [fact, [value, want]] of Object.entries(logfmtValues)) {
  test(`createLogger() ${fact} in logfmt (LG-2)`, () => {
    assert.equal(
      lineOf('logfmt', { v: value }),
      `level=info ts=2026-01-02T03:04:05.12Z msg=m${want}`,
    );
  });
}

const jsonValues: Record<string, readonly [value: LogValue, want: string]> = {
  'prints numbers as numbers': [42, ',"v":42'],
  'prints what is no number of JSON as text': [Number.NaN, ',"v":"NaN"'],
  'prints null': [null, ',"v":null'],
  'leaves out undefined': [undefined, ''],
  'prints errors as text': [new Error('no'), ',"v":"no"'],
  'joins a list with blanks': [['a-0', 'a-1'], ',"v":"a-0 a-1"'],
  'escapes a mark of direction [found X-9]': ['a\u202eb', ',"v":"a\\u202eb"'],
  'escapes a line separator [found X-9]': ['a\u2028b', ',"v":"a\\u2028b"'],
  'escapes the control characters above ASCII [found X-9]': ['a\u009bb', ',"v":"a\\u009bb"'],
  'escapes nothing for HTML': ['<a&b>', ',"v":"<a&b>"'],
};
for (const [fact, [value, want]] of Object.entries(jsonValues)) {
  test(`createLogger() ${fact} in JSON (LG-3)`, () => {
    assert.equal(
      lineOf('json', { v: value }),
      `{"level":"info","msg":"m","ts":"2026-01-02T03:04:05.12Z"${want}}`,
    );
  });
}

const longValues: Record<string, readonly [value: LogValue, want: string]> = {
  'a text': ['x'.repeat(30_000), `${'x'.repeat(1_004)}… (30000 characters)`],
  'an error': [new Error('x'.repeat(1_025)), `${'x'.repeat(1_005)}… (1025 characters)`],
  'a list': [Array.from({ length: 10_000 }, () => 'x'), `${'x '.repeat(502)}… (19999 characters)`],
  'a text with a pair of code units at the cut': [
    `${'x'.repeat(1_004)}${'\u{1f600}'.repeat(500)}`,
    `${'x'.repeat(1_004)}… (2004 characters)`,
  ],
};
for (const [what, [value, want]] of Object.entries(longValues)) {
  for (const format of ['logfmt', 'json'] as const) {
    test(`createLogger() shows 1,024 characters of ${what} at most in ${format}, and how long it was`, () => {
      const line = lineOf(format, { v: value });
      const shown = format === 'json' ? /"v":"(.*)"\}$/ : / v="(.*)"$/;
      assert.equal(shown.exec(line)?.[1], want);
      assert.ok(want.length <= 1_024);
    });
  }
}

test('createLogger() cuts bound fields and messages like other values, and nothing of 1,024 characters', () => {
  const full = 'x'.repeat(1_024);
  const cut = `"${'x'.repeat(1_005)}… (1025 characters)"`;
  const lines = linesOf({}, (logger) => {
    logger.with({ v: full }).info(full);
    logger.with({ v: `${full}x` }).info(`${full}x`);
  });
  const begin = 'level=info ts=2026-01-02T03:04:05.12Z';
  assert.deepEqual(lines, [`${begin} v=${full} msg=${full}`, `${begin} v=${cut} msg=${cut}`]);
});

test('createLogger() removes from a key what would break the line', () => {
  assert.match(lineOf('logfmt', { 'a =\n"\u2028b': 1 }), / ab=1$/);
});

test('createLogger() prints an error with its causes', () => {
  const cause = new Error('connection reset', { cause: new Error('ECONNRESET') });
  const err = new Error('Cannot list pods', { cause });
  assert.match(lineOf('logfmt', { err }), / err="Cannot list pods: connection reset: ECONNRESET"$/);
});

test('createLogger() does not repeat a cause that its error quotes', () => {
  const err = new Error('Cannot list pods: reset', { cause: new Error('reset') });
  assert.match(lineOf('logfmt', { err }), / err="Cannot list pods: reset"$/);
});

test('createLogger() ends with an error that causes itself', () => {
  const err = new Error('a');
  err.cause = new Error('b', { cause: err });
  assert.match(lineOf('logfmt', { err }), / err="a: b: /);
});

test('createLogger() prints the name of an error without a message', () => {
  assert.match(lineOf('logfmt', { err: new TypeError('') }), / err=TypeError$/);
});

test('createLogger() prints causes that are no errors', () => {
  assert.match(lineOf('logfmt', { err: new Error('a', { cause: 7 }) }), / err="a: 7"$/);
});

const written: Record<LogLevel, readonly LogLevel[]> = {
  debug: ['debug', 'info', 'warn', 'error'],
  info: ['info', 'warn', 'error'],
  warn: ['warn', 'error'],
  error: ['error'],
};
for (const level of ['debug', 'info', 'warn', 'error'] as const) {
  test(`createLogger() writes at ${level} that level and all more severe ones (LG-6)`, () => {
    const lines = linesOf({ level }, (logger) => {
      const bound = logger.with({ a: 1 });
      bound.debug('m');
      bound.info('m');
      bound.warn('m');
      bound.error('m');
    });
    const levels = lines.map((line) => /^level=(\w+)/.exec(line)?.[1]);
    assert.deepEqual(levels, written[level]);
  });
}

test('createLogger() writes one line for any fields', () => {
  const fields = fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(fields, fc.string({ unit: 'binary' }), (given, message) => {
      for (const format of ['logfmt', 'json'] as const) {
        const [line = '', ...more] = linesOf({ format }, (logger) => logger.info(message, given));
        assert.equal(more.length, 0);
        assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\u2028\u2029]/u);
      }
    }),
  );
});

test('createLogger() writes JSON that holds each field', () => {
  const key = fc.stringMatching(/^f[a-z]{0,5}$/);
  fc.assert(
    fc.property(fc.dictionary(key, fc.string()), (fields) => {
      const parsed: unknown = JSON.parse(lineOf('json', fields));
      const want = { ...fields, level: 'info', msg: 'm', ts: '2026-01-02T03:04:05.12Z' };
      assert.deepEqual(Object.entries(parsed ?? {}), Object.entries(want).sort(byKey));
    }),
  );
});

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}
