import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { JsonObject } from '#base/json.ts';
import { member, outlineOf, type Wanted } from './outline.ts';

const wanted: Wanted = [member('name'), member('metadata', [member('labels')])];

function outline(text: string): JsonObject | undefined {
  return outlineOf(Buffer.from(text), wanted);
}

const outlines: Readonly<Record<string, readonly [text: string, outline: unknown]>> = {
  'leaves out what is not wanted': ['{"a":1,"b":"x","c":{"d":1},"e":[1,[2]],"f":null}', {}],
  'reads whole what is wanted whole': ['{"name":{"a":[1]}}', { name: { a: [1] } }],
  'reads of an object what is wanted of it': [
    '{"metadata":{"labels":{"a":"b"},"name":"x","managedFields":[{}]}}',
    { metadata: { labels: { a: 'b' } } },
  ],
  'looks into the wanted member only': ['{"other":{"labels":{}},"labels":1}', {}],
  'reads whole an array that would be looked into': [
    '{"metadata":[{"labels":{}}]}',
    { metadata: [{ labels: {} }] },
  ],
  'reads whole a value that would be looked into': ['{"metadata":"x"}', { metadata: 'x' }],
  'has the last of repeated members': [
    '{"name":1,"name":"a","metadata":{"labels":1},"metadata":{}}',
    { name: 'a', metadata: {} },
  ],
  'reads each kind of value': [
    '{"name":[-1.5e3,true,false,null]}',
    { name: [-1_500, true, false, null] },
  ],
  'reads a number, a word and a text': [
    '{"metadata":{"labels":-1.5e3},"name":false,"name":"a b"}',
    { metadata: { labels: -1_500 }, name: 'a b' },
  ],
  'reads escaped characters in texts': [
    '{"a":["\\"]}\\u00e9"],"name":"\\\\\\u00e9\\n"}',
    { name: '\\é\n' },
  ],
  'reads characters beyond ASCII': ['{"name":"é漢😀"}', { name: 'é漢😀' }],
  'goes over blanks': [
    ' {\n"a" : { } ,\t"name" : 1 , "metadata" : { } }\r\n',
    { name: 1, metadata: {} },
  ],
  'goes over as many blanks as a body can have': [`{${' '.repeat(2 ** 17)}"a":[]}`, {}],
  'goes over thousands of values that are not wanted': [
    `{${'"a":[],'.repeat(10_000)}"name":1}`,
    { name: 1 },
  ],
  'knows no name by its beginning': ['{"nam":1,"names":2,"Name":3,"":4}', {}],
  'leaves a name with escaped characters to others': ['{"na\\u006de":1}', undefined],
  'leaves an array to others': ['[{"a":1}]', undefined],
  'leaves deep nesting to others': [`{"a":${'['.repeat(300)}${']'.repeat(300)}}`, undefined],
};

for (const [what, [text, expected]] of Object.entries(outlines)) {
  test(`outlineOf() ${what}`, () => {
    assert.deepEqual(outline(text), expected);
  });
}

test('outlineOf() reads bytes that are no UTF-8 as the whole is read', () => {
  const body = Buffer.from('{"name":"a\xffb"}', 'latin1');
  assert.deepEqual(outlineOf(body, wanted), JSON.parse(body.toString('utf8')));
});

const malformed: Readonly<Record<string, string>> = {
  'a comma before the end of an object': '{"a":{"b":1,}}',
  'a comma before the end of an array': '{"a":[1,]}',
  'a member without a value': '{"a":{"b":}}',
  'a member without a colon': '{"a":{"b"1}}',
  'a name without quotes': '{"a":{b:1}}',
  'two values without a comma': '{"a":[1 2]}',
  'a number that begins with 0': '{"a":[01]}',
  'a number that ends with a point': '{"a":[1.]}',
  'a number without digits in its exponent': '{"a":[1e+]}',
  'a minus alone': '{"a":[-]}',
  'a plus': '{"a":[+1]}',
  'a word that is none': '{"a":[nul]}',
  'a word that goes on': '{"a":[nulls]}',
  'a line break in a text': '{"a":["\n"]}',
  'an escape that is none': '{"a":["\\x"]}',
  'an escape of three digits': '{"a":["\\u12"]}',
  'a text without an end': '{"a":["b',
  'an object without an end': '{"a":{"b":1',
  'an array that ends as an object': '{"a":[1}}',
  'something behind the end': '{"a":[]} x',
  nothing: '',
};

for (const [what, text] of Object.entries(malformed)) {
  test(`outlineOf() finds ${what}`, () => {
    assert.throws(() => JSON.parse(text));
    assert.equal(outline(text), undefined);
  });
}

/** Members of which some are looked into. */
const names = fc.constantFrom('name', 'metadata', 'labels', 'spec', 'a"b', '');
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue({ maxDepth: 1 }),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(names, tie('tree'), { maxKeys: 4 }),
  ),
}));

test('outlineOf() reads as JSON what JSON.parse() does, and nothing else', () => {
  const change = fc.record({
    at: fc.nat(),
    cut: fc.nat(2),
    put: fc.constantFrom(
      '',
      '"',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '0',
      '-',
      '.',
      'e',
      '\\',
      ' ',
      '\n',
    ),
  });
  fc.assert(
    fc.property(
      tree,
      fc.array(change, { maxLength: 3 }),
      fc.boolean(),
      (value, changes, isWide) => {
        let text = JSON.stringify(value, undefined, isWide ? 1 : 0);
        for (const { at, cut, put } of changes) {
          const from = at % (text.length + 1);
          text = `${text.slice(0, from)}${put}${text.slice(from + cut)}`;
        }
        const found = outline(text);
        if (found === undefined) return;
        const whole: unknown = JSON.parse(text);
        assert.deepEqual(seen(found), seen(whole));
      },
    ),
    { numRuns: 5_000 },
  );
});

test('outlineOf() gives an outline of every object that nests within its bounds', () => {
  fc.assert(
    fc.property(fc.dictionary(names, tree, { maxKeys: 4 }), (value) => {
      if (!hasEscapedName(value)) assert.notEqual(outline(JSON.stringify(value)), undefined);
    }),
  );
});

/** Whether the name of any member, however deep, is written with a backslash. */
function hasEscapedName(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const isNamed = !Array.isArray(value);
  return Object.entries(value).some(
    ([name, inner]) => (isNamed && JSON.stringify(name).includes('\\')) || hasEscapedName(inner),
  );
}

interface Seen {
  readonly name?: unknown;
  readonly metadata?: unknown;
}

/** What whoever asked for the outline looks at. */
function seen(value: unknown): unknown {
  const { name, metadata } = (value ?? {}) as Seen;
  const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata);
  const labels = isObject ? (metadata as { readonly labels?: unknown }).labels : metadata;
  return { name, labels };
}
