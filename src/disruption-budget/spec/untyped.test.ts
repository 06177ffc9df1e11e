import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseUntyped } from './parse-untyped.ts';
import { goText, goType, type Untyped, untypedOf } from './untyped.ts';

/** JSON, and its type and text as Go 1.26 prints them after apimachinery 0.36 has decoded it. */
const printed: readonly (readonly [json: string, type: string, text: string])[] = [
  ['5', 'int64', '5'],
  ['-0', 'int64', '0'],
  ['-0.0', 'float64', '-0'],
  ['1.0', 'float64', '1'],
  ['1e21', 'float64', '1e+21'],
  ['1e20', 'float64', '1e+20'],
  ['123456789012345678901234567890', 'float64', '1.2345678901234568e+29'],
  ['1000000.0', 'float64', '1e+06'],
  ['123456.5', 'float64', '123456.5'],
  ['12345678.25', 'float64', '1.234567825e+07'],
  ['1e-7', 'float64', '1e-07'],
  ['0.00001', 'float64', '1e-05'],
  ['0.0001', 'float64', '0.0001'],
  ['9223372036854775807', 'int64', '9223372036854775807'],
  ['9223372036854775808', 'float64', '9.223372036854776e+18'],
  ['null', '<nil>', '<nil>'],
  ['true', 'bool', 'true'],
  ['"a b"', 'string', 'a b'],
  ['[1,"a",{"b":1.5,"a":[null,true]}]', '[]interface {}', '[1 a map[a:[<nil> true] b:1.5]]'],
  ['{}', 'map[string]interface {}', 'map[]'],
];

function untyped(json: string): Untyped {
  const read = parseUntyped(`{"value":${json}}`);
  assert.ok(read.kind === 'object');
  return read.object['value'] ?? null;
}

for (const [json, type, text] of printed) {
  test(`goType() and goText() print ${json} as Go does`, () => {
    const value = untyped(json);
    assert.deepEqual([goType(value), goText(value)], [type, text]);
  });
}

const undecodable: Readonly<Record<string, string>> = {
  '5': 'json: cannot unmarshal number into Go value of type map[string]interface {}',
  '1.5': 'json: cannot unmarshal number into Go value of type map[string]interface {}',
  '"x"': 'json: cannot unmarshal string into Go value of type map[string]interface {}',
  true: 'json: cannot unmarshal bool into Go value of type map[string]interface {}',
  '[]': 'json: cannot unmarshal array into Go value of type map[string]interface {}',
  '{"a":1e999}': 'json: cannot unmarshal number 1e999 into Go value of type float64',
};

for (const [json, text] of Object.entries(undecodable)) {
  test(`parseUntyped() says of ${json} what Go says`, () => {
    assert.deepEqual(parseUntyped(json), { kind: 'undecodable', text });
  });
}

test('parseUntyped() replaces half a character, as Go does', () => {
  assert.equal(untyped('"a\\ud800b"'), 'a\ufffdb');
});

test('untypedOf() takes integral numbers for integers, and keeps the rest', () => {
  const value = { a: [1, 1.5, -0, 1e21, '1', null, true], ['__proto__']: 2 };
  assert.deepEqual(
    untypedOf(JSON.parse(JSON.stringify(value))),
    Object.fromEntries([
      ['a', [1n, 1.5, 0n, 1e21, '1', null, true]],
      ...Object.entries({ ['__proto__']: 2n }),
    ]),
  );
});
