import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { type Member, member, readObject } from './json-reader.ts';

const name = { as: 'text', most: 12, ifLonger: 'refuse' } as const;
const user = { as: 'text', most: 12, ifLonger: 'replace' } as const;
const labels = { as: 'texts', members: [member('a', name), member('c', name)] } as const;
const wanted: readonly Member[] = [
  member('name', name),
  member('user', user),
  member('count', { as: 'scalar' }),
  member('metadata', { as: 'members', members: [member('labels', labels)] }),
];

function read(text: string | Buffer): unknown {
  const found = readObject(Buffer.from(text), wanted);
  return found.kind === 'object' ? found.object : found.why;
}

const long = 'x'.repeat(100);

const objects: Readonly<Record<string, readonly [text: string, object: unknown]>> = {
  'leaves out what is not wanted': ['{"a":1,"b":"x","c":{"d":1},"e":[1,[2]],"f":null}', {}],
  'reads of an object what is wanted of it': [
    '{"metadata":{"labels":{"a":"b"},"name":"x","managedFields":[{}]}}',
    { metadata: { labels: { a: 'b' } } },
  ],
  'looks into the wanted member only': ['{"other":{"labels":{}},"labels":1}', {}],
  'tells another type by an empty value of it': [
    '{"name":[1,2],"count":"3","user":{"a":"b"},"metadata":{"labels":7}}',
    { name: [], count: '', user: {}, metadata: { labels: 0 } },
  ],
  'tells an array and a text where an object is wanted': [
    '{"metadata":[{"labels":{}}],"name":"x"}',
    { metadata: [], name: 'x' },
  ],
  'reads of labels those that are wanted, and the first that is no text': [
    '{"metadata":{"labels":{"b":"1","a":"2","d":[1],"c":null,"e":7}}}',
    { metadata: { labels: { a: '2', c: null, d: [] } } },
  ],
  'leaves out what is repeated and not wanted': [
    '{"a":1,"a":2,"metadata":{"b":1,"b":2}}',
    { metadata: {} },
  ],
  'reads numbers and words': ['{"count":-1.5e3}', { count: -1_500 }],
  'reads escaped characters in texts': [
    '{"a":["\\"]}\\u00e9"],"name":"\\\\\\u00e9\\n"}',
    { name: '\\é\n' },
  ],
  'reads characters beyond ASCII': ['{"name":"é漢😀"}', { name: 'é漢😀' }],
  'knows a name that is written with escapes': [
    '{"na\\u006de":"a","m\\u0065tadata":{"l\\u0061bels":{"\\u0061":"b"}}}',
    { name: 'a', metadata: { labels: { a: 'b' } } },
  ],
  'takes no short escape for the letter in it': ['{"\\name":1,"cou\\nt":2}', {}],
  'knows no name by its beginning': ['{"nam":1,"names":2,"Name":3,"":4,"na\\u006des":5}', {}],
  'goes over blanks': [
    ' {\n"a" : { } ,\t"count" : 1 , "metadata" : { } }\r\n',
    { count: 1, metadata: {} },
  ],
  'goes over thousands of values that are not wanted': [
    `{${'"a":[],'.repeat(10_000)}"count":1}`,
    { count: 1 },
  ],
  'reads what nests up to its limit': [`{"a":${'['.repeat(999)}${']'.repeat(999)}}`, {}],
  'tells a label that is called as a prototype': [
    '{"metadata":{"labels":{"__proto__":1}}}',
    { metadata: { labels: Object.fromEntries([['__proto__', 0]]) } },
  ],
  'does not tell the name of a label that is too long': [
    `{"metadata":{"labels":{"${'x'.repeat(1_000)}":1}}}`,
    { metadata: { labels: { '(a long text)': 0 } } },
  ],
  'replaces what is only reported when it is too long': [
    `{"user":"${long}"}`,
    { user: '(a long text)' },
  ],
};

for (const [what, [text, expected]] of Object.entries(objects)) {
  test(`readObject() ${what}`, () => {
    assert.deepEqual(read(text), expected);
  });
}

const refused: Readonly<Record<string, readonly [text: string, why: string]>> = {
  'an array': ['[{"a":1}]', 'is not a JSON object'],
  'a text that is too long': [
    `{"name":"${long}"}`,
    'has a member name that has more than 12 characters',
  ],
  'a text of too many escapes': [
    `{"name":"${'\\u0041'.repeat(13)}"}`,
    'has a member name that has more than 12 characters',
  ],
  'a label that is too long': [
    `{"metadata":{"labels":{"a":"${long}"}}}`,
    'has a member metadata that has a member labels that has a member a that has more than 12 characters',
  ],
  'a repeated member': [
    '{"name":"a","count":1,"name":"b"}',
    'has a member name that appears twice',
  ],
  'a repeated member that is written otherwise': [
    '{"name":"a","n\\u0061me":"b"}',
    'has a member name that appears twice',
  ],
  'a repeated object': [
    '{"metadata":{},"metadata":{}}',
    'has a member metadata that appears twice',
  ],
  'a repeated label': [
    '{"metadata":{"labels":{"a":"1","a":"2"}}}',
    'has a member metadata that has a member labels that has a member a that appears twice',
  ],
  'a number that is too long': [
    `{"count":1${'0'.repeat(2_000)}}`,
    'has a member count that has more than 1024 characters',
  ],
  'what nests too deep': [
    `{"a":${'['.repeat(1_000)}${']'.repeat(1_000)}}`,
    'nests deeper than 1000 levels',
  ],
  'objects that nest too deep': [
    `{"a":${'{"":'.repeat(1_000)}1${'}'.repeat(1_000)}}`,
    'nests deeper than 1000 levels',
  ],
};

for (const [what, [text, why]] of Object.entries(refused)) {
  test(`readObject() refuses ${what}`, () => {
    assert.equal(read(text), why);
  });
}

test('readObject() reads bytes that are no UTF-8 as a decoder does', () => {
  const body = Buffer.from('{"name":"a\xffb"}', 'latin1');
  assert.deepEqual(read(body), JSON.parse(body.toString('utf8')));
});

test('readObject() reads a value as it stands, up to a number of bytes', () => {
  const source = [member('source', { as: 'source', most: 8 })];
  const reads: Readonly<Record<string, unknown>> = {
    '{"source": 1.0 }': { source: '1.0' },
    '{"source":{"a":[1]}}': 'has a member source that has more than 8 bytes',
    '{"source":{"é":1}}': { source: '{"é":1}' },
    '{"source":{"éé":1}}': 'has a member source that has more than 8 bytes',
    '{"source":[ 1, 2]}': { source: '[ 1, 2]' },
    '{"source":null}': { source: 'null' },
    '{"source":"\\u0041"}': { source: '"\\u0041"' },
    '{"source":[1}': 'is not well-formed JSON',
    '{"source":}': 'is not well-formed JSON',
    '{"source":1,"source":1}': 'has a member source that appears twice',
    '{"other":1}': {},
  };
  for (const [text, expected] of Object.entries(reads)) {
    const found = readObject(Buffer.from(text), source);
    assert.deepEqual(found.kind === 'object' ? found.object : found.why, expected, text);
  }
});

const malformed: Readonly<Record<string, string>> = {
  'a comma before the end of an object': '{"a":{"b":1,}}',
  'a comma before the end of the body': '{"a":1,}',
  'a comma before the end of an array': '{"a":[1,]}',
  'a comma before the end of labels': '{"metadata":{"labels":{"a":"b",}}}',
  'a label without a value': '{"metadata":{"labels":{"a":}}}',
  'a member without a value': '{"a":{"b":}}',
  'a member without a colon': '{"a":{"b"1}}',
  'a name without quotes': '{"a":{b:1}}',
  'two values without a comma': '{"a":[1 2]}',
  'a number that begins with 0': '{"a":[01]}',
  'a count that begins with 0': '{"count":01}',
  'a number that ends with a point': '{"a":[1.]}',
  'a number without digits in its exponent': '{"a":[1e+]}',
  'a minus alone': '{"a":[-]}',
  'a plus': '{"count":+1}',
  'a word that is none': '{"a":[nul]}',
  'a word that goes on': '{"count":nulls}',
  'a line break in a text': '{"name":"\n"}',
  'an escape that is none': '{"name":"\\x"}',
  'an escape of three digits': '{"a":["\\u12"]}',
  'an escape of three digits in a name': '{"\\u12":1}',
  'a text without an end': '{"a":["b',
  'an object without an end': '{"a":{"b":1',
  'an array that ends as an object': '{"a":[1}}',
  'something behind the end': '{"a":[]} x',
};

for (const [what, text] of Object.entries(malformed)) {
  test(`readObject() finds ${what}`, () => {
    assert.throws(() => JSON.parse(text));
    assert.equal(read(text), 'is not well-formed JSON');
  });
}

/** Members of which some are looked into. */
const names = fc.constantFrom('name', 'user', 'count', 'metadata', 'labels', 'a', 'c', 'a"b', '');
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue({ maxDepth: 1 }),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(names, tie('tree'), { maxKeys: 4 }),
  ),
}));
const put = ['', '"', '{', '}', '[', ']', ',', ':', '0', '-', '.', 'e', '\\', ' ', '\n'];
const change = fc.record({ at: fc.nat(), cut: fc.nat(2), put: fc.constantFrom(...put) });

test('readObject() reads as JSON what JSON.parse() does, and of it what is wanted', () => {
  fc.assert(
    fc.property(
      tree,
      fc.array(change, { maxLength: 3 }),
      fc.boolean(),
      (value, changes, isWide) => {
        let text = JSON.stringify(value, undefined, isWide ? 1 : 0);
        for (const each of changes) {
          const from = each.at % (text.length + 1);
          text = `${text.slice(0, from)}${each.put}${text.slice(from + each.cut)}`;
        }
        const whole = parsed(text);
        const found = read(text);
        if (!isJsonObject(whole)) assert.equal(typeof found, 'string');
        else if (typeof found === 'string')
          assert.match(found, /^has a member .* that (?:has more than|appears twice)/);
        else assert.deepEqual(found, wantedOf(whole));
      },
    ),
    { numRuns: 5_000 },
  );
});

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** What is wanted of a whole object, by plain means. */
function wantedOf(whole: JsonObject): Record<string, unknown> {
  const { metadata } = whole;
  const found: Record<string, unknown> = {};
  for (const each of ['name', 'user'] as const) {
    if (each in whole) found[each] = textOf(whole[each]);
  }
  if ('count' in whole) {
    const { count } = whole;
    found['count'] = typeof count === 'number' ? count : emptied(count);
  }
  if (metadata === undefined) return found;
  if (!isJsonObject(metadata)) return { ...found, metadata: emptied(metadata) };
  const inner = metadata['labels'];
  if (inner === undefined) return { ...found, metadata: {} };
  return { ...found, metadata: { labels: isJsonObject(inner) ? labelsOf(inner) : emptied(inner) } };
}

function labelsOf(inner: JsonObject): unknown {
  const entries = Object.entries(inner);
  const isText = (value: unknown): boolean => typeof value === 'string' || value === null;
  const read = entries.filter(([key, value]) => isText(value) && (key === 'a' || key === 'c'));
  const wrong = entries
    .filter(([, value]) => !isText(value))
    .map(([key, value]) => [key, emptied(value)]);
  return Object.fromEntries([...read, ...wrong.slice(0, 1)]) as unknown;
}

function textOf(value: JsonValue | undefined): unknown {
  if (typeof value !== 'string') return emptied(value);
  return value.length <= 12 ? value : '(a long text)';
}

function emptied(value: JsonValue | undefined): unknown {
  if (Array.isArray(value)) return [];
  if (isJsonObject(value)) return {};
  if (typeof value === 'string') return '';
  return typeof value === 'number' ? 0 : value;
}
