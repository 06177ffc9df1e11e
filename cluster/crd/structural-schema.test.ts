import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { withDefaults } from './default-values.ts';
import { compileJsonPath } from './json-path.ts';
import { pruneObject } from './prune.ts';
import { validateValue } from './validate-value.ts';

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});

interface Pruning {
  readonly given: JsonObject;
  readonly schema: JsonObject;
  readonly kept: JsonObject;
  readonly unknown: readonly string[];
}

const prunings: Readonly<Record<string, Pruning>> = {
  'drops a member that is not specified': {
    given: { a: 1, b: 2 },
    schema: object({ a: {} }),
    kept: { a: 1 },
    unknown: ['b'],
  },
  'keeps kind, apiVersion and metadata at the root': {
    given: { kind: 'K', apiVersion: 'v', metadata: { x: 1 } },
    schema: object({}),
    kept: { kind: 'K', apiVersion: 'v', metadata: { x: 1 } },
    unknown: [],
  },
  'drops metadata within, but for an embedded object': {
    given: { a: { metadata: {} }, b: { metadata: {}, c: 1 } },
    schema: object({ a: object({}), b: object({}, { 'x-kubernetes-embedded-resource': true }) }),
    kept: { a: {}, b: { metadata: {} } },
    unknown: ['a.metadata', 'b.c'],
  },
  'goes into lists and maps': {
    given: { list: [{ a: 1, b: 2 }], map: { x: { a: 1, b: 2 } } },
    schema: object({
      list: { type: 'array', items: object({ a: {} }) },
      map: { type: 'object', additionalProperties: object({ a: {} }) },
    }),
    kept: { list: [{ a: 1 }], map: { x: { a: 1 } } },
    unknown: ['list[0].b', 'map.x.b'],
  },
  'keeps what is unknown where that is preserved, and prunes below what is known': {
    given: { any: 1, a: { b: 1 } },
    schema: object({ a: object({}) }, { 'x-kubernetes-preserve-unknown-fields': true }),
    kept: { any: 1, a: {} },
    unknown: ['a.b'],
  },
};

for (const [name, { given, schema, kept, unknown }] of Object.entries(prunings)) {
  test(`pruneObject() ${name}`, () => {
    assert.deepEqual(pruneObject(given, schema), { object: kept, unknown });
  });
}

const defaultings: Readonly<Record<string, readonly [given: JsonValue, filled: JsonValue]>> = {
  'fills what is absent': [{}, { mode: 'safe' }],
  'keeps what is given': [{ mode: 'fast' }, { mode: 'fast' }],
  'fills a null that the schema does not allow': [{ mode: null }, { mode: 'safe' }],
  'keeps a null that it allows': [
    { mode: 'a', note: null },
    { mode: 'a', note: null },
  ],
  'goes into objects that are there': [
    { mode: 'a', part: {} },
    { mode: 'a', part: { size: 1 } },
  ],
};

test('withDefaults() goes into lists', () => {
  const schema = { type: 'array', items: object({ size: { default: 1 } }) };
  assert.deepEqual(withDefaults([{}, { size: 2 }], schema), [{ size: 1 }, { size: 2 }]);
});

for (const [name, [given, filled]] of Object.entries(defaultings)) {
  test(`withDefaults() ${name}`, () => {
    const schema = object({
      mode: { type: 'string', default: 'safe' },
      note: { type: 'string', nullable: true },
      part: object({ size: { type: 'integer', default: 1 } }),
    });
    assert.deepEqual(withDefaults(given, schema), filled);
  });
}

interface Check {
  readonly schema: JsonObject;
  readonly good: readonly JsonValue[];
  readonly bad: readonly JsonValue[];
}

const checks: Readonly<Record<string, Check>> = {
  'an integer': { schema: { type: 'integer' }, good: [1], bad: [1.5, '1', null] },
  'a number': { schema: { type: 'number' }, good: [1, 1.5], bad: ['1'] },
  'a null that is allowed': { schema: { type: 'string', nullable: true }, good: [null], bad: [1] },
  'an integer or a string': {
    schema: { 'x-kubernetes-int-or-string': true },
    good: [1, '50%'],
    bad: [1.5, true],
  },
  'a closed range': { schema: { minimum: 1, maximum: 3 }, good: [1, 3], bad: [0, 4] },
  'an open range': {
    schema: { minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: true },
    good: [2],
    bad: [1, 3],
  },
  'a multiple': { schema: { multipleOf: 5 }, good: [10], bad: [11] },
  'a 32-bit integer': { schema: { format: 'int32' }, good: [2_147_483_647], bad: [2_147_483_648] },
  'a length in characters': {
    schema: { minLength: 2, maxLength: 3 },
    good: ['ab', '😀😀😀'],
    bad: ['a', 'abcd'],
  },
  'a pattern': { schema: { pattern: '^a+$' }, good: ['aa'], bad: ['ab'] },
  'a time': {
    schema: { format: 'date-time' },
    good: ['2026-01-01T00:00:00Z'],
    bad: ['yesterday'],
  },
  'a duration': { schema: { format: 'duration' }, good: ['1h30m'], bad: ['1 hour'] },
  'a list of bounded size': {
    schema: { minItems: 1, maxItems: 2 },
    good: [[1]],
    bad: [[], [1, 2, 3]],
  },
  'a map of bounded size': {
    schema: { minProperties: 1, maxProperties: 1 },
    good: [{ a: 1 }],
    bad: [{}, { a: 1, b: 2 }],
  },
  'one of some values': { schema: { enum: ['a', 1] }, good: ['a', 1], bad: ['b'] },
  'members that are required': {
    schema: object({ a: {} }, { required: ['a'] }),
    good: [{ a: 1 }],
    bad: [{}],
  },
  'all of some schemas': {
    schema: { allOf: [{ minimum: 1 }, { maximum: 2 }] },
    good: [1],
    bad: [0, 3],
  },
  'any of some schemas': {
    schema: { anyOf: [{ maximum: 1 }, { minimum: 5 }] },
    good: [1, 5],
    bad: [3],
  },
  'one of some schemas': {
    schema: { oneOf: [{ maximum: 3 }, { minimum: 2 }] },
    good: [1, 4],
    bad: [2],
  },
  'what another schema is not': { schema: { not: { minimum: 2 } }, good: [1], bad: [2] },
  'a set': { schema: { 'x-kubernetes-list-type': 'set' }, good: [['a', 'b']], bad: [['a', 'a']] },
  'a list with keys': {
    schema: { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
    good: [[{ k: 1 }, { k: 2 }]],
    bad: [[{ k: 1, x: 1 }, { k: 1 }]],
  },
};

for (const [name, { schema, good, bad }] of Object.entries(checks)) {
  test(`validateValue() tells ${name}`, () => {
    for (const value of good) assert.deepEqual(validateValue(value, schema, 'x'), []);
    for (const value of bad) {
      assert.equal(validateValue(value, schema, 'x').length > 0, true, JSON.stringify(value));
    }
  });
}

test('validateValue() names the place of what is wrong', () => {
  const schema = object({ list: { type: 'array', items: object({ n: { type: 'integer' } }) } });
  const [cause] = validateValue({ list: [{ n: 1 }, { n: 'x' }] }, schema, '');
  assert.deepEqual(cause, {
    reason: 'FieldValueTypeInvalid',
    message: 'Invalid value: "string": list[1].n in body must be of type integer: "string"',
    field: 'list[1].n',
  });
});

const paths: Readonly<Record<string, JsonValue | undefined>> = {
  '.spec.mode': 'safe',
  "['spec'].mode": 'safe',
  '{.spec.mode}': 'safe',
  '.spec.zones[1].name': 'b',
  '.spec.zones[?(@.name=="b")].weight': 5,
  '.metadata.annotations.demo\\.io/x': 'y',
  '.spec.none.deep': undefined,
};

for (const [path, value] of Object.entries(paths)) {
  test(`compileJsonPath() reads ${path}`, () => {
    const read = compileJsonPath(path);
    const zones = [{ name: 'a' }, { name: 'b', weight: 5 }];
    const metadata = { annotations: { 'demo.io/x': 'y' } };
    assert.equal(read?.({ metadata, spec: { mode: 'safe', zones } }), value);
  });
}

test('compileJsonPath() tells a form that it does not read', () => {
  assert.equal(compileJsonPath('.spec[*].x'), undefined);
});
