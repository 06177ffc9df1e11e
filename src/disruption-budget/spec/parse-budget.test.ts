import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { BudgetSpec } from '../api.ts';
import { compilePattern } from '../pattern/compile-pattern.ts';
import { type ParsedBudget, parseBudget } from './parse-budget.ts';
import { parseUntyped } from './parse-untyped.ts';

const KIND = '"kind":"ZoneAwarePodDisruptionBudget"';
const SELECTOR = '"selector":{"matchLabels":{"rollout-group":"ingester"}}';
const REGEX = '"podNamePartitionRegex":"[a-z\\\\-]+-zone-[a-z]-([0-9]+)"';
const TWO_GROUPS = '"podNamePartitionRegex":"ingester(-foo)?-zone-[a-z]-([0-9]+)"';

/** Parses the JSON text of an object. */
function parsed(text: string): ParsedBudget {
  const read = parseUntyped(text);
  assert.ok(read.kind === 'object', `${text} is no object`);
  return parseBudget(read.object, compilePattern);
}

/** A budget whose spec has these members, as text, beside the selector. */
function withSpec(members: string): string {
  return `{${KIND},"spec":{${[members, SELECTOR].filter(Boolean).join(',')}}}`;
}

function valid(text: string): BudgetSpec {
  const outcome = parsed(text);
  assert.ok(outcome.kind === 'valid', outcome.kind === 'invalid' ? outcome.text : '');
  return outcome.spec;
}

const regexProblem = 'invalid value: regex is not valid, got';
const badSelector =
  'invalid value: selector is not valid, got .spec.selector.matchLabels accessor error:';

/** What is no integer of 64 bits. */
const noIntegers: Readonly<Record<string, string>> = {
  'a text [zpdb 8]': '"1"',
  '1.0 [zpdb 9]': '1.0',
  '1e0': '1e0',
  '1E2': '1E2',
  '-0.0': '-0.0',
  null: 'null',
  true: 'true',
  'an object': '{}',
  '2^63': '9223372036854775808',
  '-2^63 - 1': '-9223372036854775809',
  'a hundred digits': '1'.repeat(100),
};

/** Objects and what the peer says of them; the accessor texts were printed by apimachinery 0.36. */
const invalid: Readonly<Record<string, readonly [text: string, error: string]>> = {
  'a spec that is null [zpdb 27]': [
    `{${KIND},"spec":null}`,
    '.spec accessor error: <nil> is of the type <nil>, expected map[string]interface{}',
  ],
  'a spec that is a list': [
    `{${KIND},"spec":[1,"a",{"b":1.5,"a":[null,true]}]}`,
    '.spec accessor error: [1 a map[a:[<nil> true] b:1.5]] is of the type []interface {}, expected map[string]interface{}',
  ],
  'a spec that is a text': [
    `{${KIND},"spec":"x"}`,
    '.spec accessor error: x is of the type string, expected map[string]interface{}',
  ],
  'a spec that is an integer': [
    `{${KIND},"spec":5}`,
    '.spec accessor error: 5 is of the type int64, expected map[string]interface{}',
  ],
  'a spec that is a fraction': [
    `{${KIND},"spec":1.0}`,
    '.spec accessor error: 1 is of the type float64, expected map[string]interface{}',
  ],
  'a spec that is false': [
    `{${KIND},"spec":false}`,
    '.spec accessor error: false is of the type bool, expected map[string]interface{}',
  ],
  'a spec that is null before another kind': [
    '{"kind":"Foo","spec":null}',
    '.spec accessor error: <nil> is of the type <nil>, expected map[string]interface{}',
  ],
  'no spec, of another kind [zpdb 2]': ['{"kind":"Foo"}', 'no spec found in unstructured object'],
  'a spec in other letters': [`{${KIND},"Spec":{}}`, 'no spec found in unstructured object'],
  'another kind with an empty spec [zpdb 1]': [
    '{"kind":"Foo","spec":{}}',
    'unexpected object kind - expecting ZoneAwarePodDisruptionBudget',
  ],
  'a kind that is no text': [
    '{"kind":5,"spec":{}}',
    'unexpected object kind - expecting ZoneAwarePodDisruptionBudget',
  ],
  'both limits, one of them 0 [zpdb 6]': [
    withSpec('"maxUnavailable":0,"maxUnavailablePercentage":50'),
    'invalid value: only one of maxUnavailable or maxUnavailablePercentage may be set',
  ],
  'both limits, both null': [
    withSpec('"maxUnavailable":null,"maxUnavailablePercentage":null'),
    'invalid value: only one of maxUnavailable or maxUnavailablePercentage may be set',
  ],
  ...Object.fromEntries(
    Object.entries(noIntegers).flatMap(([what, value]): [string, readonly [string, string]][] => [
      [
        `maxUnavailable is ${what}`,
        [
          withSpec(`"maxUnavailable":${value}`),
          'failed to extract value from config field maxUnavailable',
        ],
      ],
      [
        `the percentage is ${what}`,
        [
          withSpec(`"maxUnavailablePercentage":${value}`),
          'failed to extract value from config field maxUnavailablePercentage',
        ],
      ],
    ]),
  ),
  'maxUnavailable is negative [zpdb 3]': [
    withSpec('"maxUnavailable":-1'),
    'invalid value: max unavailable must be 0 <= val, got -1',
  ],
  'maxUnavailable is the least integer': [
    withSpec('"maxUnavailable":-9223372036854775808'),
    'invalid value: max unavailable must be 0 <= val, got -9223372036854775808',
  ],
  'the percentage is negative [zpdb 4]': [
    withSpec('"maxUnavailablePercentage":-1'),
    'invalid value: max unavailable percentage must be 0 <= val <= 100, got -1',
  ],
  'the percentage is 101 [zpdb 4]': [
    withSpec('"maxUnavailablePercentage":101'),
    'invalid value: max unavailable percentage must be 0 <= val <= 100, got 101',
  ],
  'a regex that does not compile [zpdb 12]': [
    withSpec('"podNamePartitionRegex":"([bad"'),
    `${regexProblem} error parsing regexp: missing closing ]: \`[bad$\``,
  ],
  'a bad regex before the missing selector': [
    `{${KIND},"spec":{"podNamePartitionRegex":"("}}`,
    `${regexProblem} error parsing regexp: missing closing ): \`^($\``,
  ],
  'a selector that is a text': [
    `{${KIND},"spec":{"selector":"x"}}`,
    `${badSelector} x is of the type string, expected map[string]interface{}`,
  ],
  'matchLabels that are null': [
    `{${KIND},"spec":{"selector":{"matchLabels":null}}}`,
    `${badSelector} <nil> is of the type <nil>, expected map[string]interface{}`,
  ],
  'matchLabels that are a list': [
    `{${KIND},"spec":{"selector":{"matchLabels":[]}}}`,
    `${badSelector} [] is of the type []interface {}, expected map[string]interface{}`,
  ],
  'a label that is a number [zpdb 21]': [
    `{${KIND},"spec":{"selector":{"matchLabels":{"a":1}}}}`,
    `${badSelector} contains non-string value in the map under key "a": 1 is of the type int64, expected string`,
  ],
  'a label that is null': [
    `{${KIND},"spec":{"selector":{"matchLabels":{"a":null,"b":"c"}}}}`,
    `${badSelector} contains non-string value in the map under key "a": <nil> is of the type <nil>, expected string`,
  ],
  'a label that is an object': [
    `{${KIND},"spec":{"selector":{"matchLabels":{"a\\"é":{"z":1,"b":[1.5,"x"]}}}}}`,
    `${badSelector} contains non-string value in the map under key "a\\"é": map[b:[1.5 x] z:1] is of the type map[string]interface {}, expected string`,
  ],
  'no selector [zpdb 20]': [
    `{${KIND},"spec":{"maxUnavailable":1}}`,
    'invalid value: selector is not found',
  ],
  'a selector that is null': [
    `{${KIND},"spec":{"selector":null}}`,
    'invalid value: selector is not found',
  ],
  'a selector with matchExpressions only': [
    `{${KIND},"spec":{"selector":{"matchExpressions":[]}}}`,
    'invalid value: selector is not found',
  ],
  'a delay that is a number': [
    withSpec('"crossZoneEvictionDelay":5'),
    'failed to extract value from config field crossZoneEvictionDelay',
  ],
  'a delay that is null': [
    withSpec('"crossZoneEvictionDelay":null'),
    'failed to extract value from config field crossZoneEvictionDelay',
  ],
  'a delay that is no duration [zpdb 23]': [
    withSpec(`${REGEX},"crossZoneEvictionDelay":"notaduration"`),
    'invalid value: crossZoneEvictionDelay is not a valid duration, got time: invalid duration "notaduration"',
  ],
  'a delay in days': [
    withSpec('"crossZoneEvictionDelay":"1d"'),
    'invalid value: crossZoneEvictionDelay is not a valid duration, got time: unknown unit "d" in duration "1d"',
  ],
  'a delay without a unit': [
    withSpec('"crossZoneEvictionDelay":"20"'),
    'invalid value: crossZoneEvictionDelay is not a valid duration, got time: missing unit in duration "20"',
  ],
  'a negative delay [zpdb 24]': [
    withSpec(`${REGEX},"crossZoneEvictionDelay":"-5m"`),
    'invalid value: crossZoneEvictionDelay must be >= 0, got -5m',
  ],
  'a delay without a regex [zpdb 25]': [
    withSpec('"crossZoneEvictionDelay":"20m"'),
    'invalid value: crossZoneEvictionDelay requires podNamePartitionRegex to be set',
  ],
  'a nanosecond without a regex': [
    withSpec('"crossZoneEvictionDelay":"1ns"'),
    'invalid value: crossZoneEvictionDelay requires podNamePartitionRegex to be set',
  ],
  'a percentage with a regex [zpdb 10]': [
    withSpec(`${REGEX},"maxUnavailablePercentage":50`),
    'invalid value: max unavailable percentage can not be used with partition awareness',
  ],
  'a regex that is a number': [
    withSpec('"podNamePartitionRegex":5'),
    `${regexProblem} failed to extract regex value from config field podNamePartitionRegex`,
  ],
  'a regex that is null': [
    withSpec('"podNamePartitionRegex":null'),
    `${regexProblem} failed to extract regex value from config field podNamePartitionRegex`,
  ],
  ...Object.fromEntries(
    ['"1"', '1.0', 'null', 'true', '9223372036854775808'].map((group) => [
      `the group is ${group}`,
      [
        withSpec(`${REGEX},"podNameRegexGroup":${group}`),
        `${regexProblem} failed to extract group value from config field podNameRegexGroup`,
      ] as const,
    ]),
  ),
  'a bad group before the bad regex of it': [
    withSpec('"podNamePartitionRegex":"(","podNameRegexGroup":"x"'),
    `${regexProblem} failed to extract group value from config field podNameRegexGroup`,
  ],
  'repetitions that nest beyond their bound': [
    withSpec('"podNamePartitionRegex":"(a{1000}){1000}"'),
    `${regexProblem} error parsing regexp: invalid repeat count: \`{1000}\``,
  ],
  'what only JavaScript has': [
    withSpec('"podNamePartitionRegex":"(?=a)([0-9]+)"'),
    `${regexProblem} error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
  ],
  'a regex without a group [zpdb 13]': [
    withSpec('"podNamePartitionRegex":"ingester-(?:[0-9]+)"'),
    `${regexProblem} regular expression requires at least one subexpression`,
  ],
  'two groups and no number [zpdb 14]': [
    withSpec(TWO_GROUPS),
    `${regexProblem} regular expression has multiple subexpressions and requires podNameRegexGroup to be set`,
  ],
  'group 10 of two [zpdb 15]': [
    withSpec(`${TWO_GROUPS},"podNameRegexGroup":10`),
    `${regexProblem} regular expression subexpression index out of range`,
  ],
  'the group is the greatest integer': [
    withSpec(`${TWO_GROUPS},"podNameRegexGroup":9223372036854775807`),
    `${regexProblem} regular expression subexpression index out of range`,
  ],
  'the group is negative, which would crash the peer': [
    withSpec(`${TWO_GROUPS},"podNameRegexGroup":-1`),
    `${regexProblem} regular expression subexpression index out of range`,
  ],
};

for (const [what, [text, error]] of Object.entries(invalid)) {
  test(`parseBudget() refuses ${what}`, () => {
    const outcome = parsed(text);
    assert.ok(outcome.kind === 'invalid');
    assert.equal(outcome.text, error);
  });
}

const limits: Readonly<Record<string, readonly [members: string, limit: unknown]>> = {
  'a percentage of 0 [zpdb 5]': [
    '"maxUnavailablePercentage":0',
    { kind: 'percentage', percentage: 0 },
  ],
  'a percentage of 100 [zpdb 5]': [
    '"maxUnavailablePercentage":100',
    { kind: 'percentage', percentage: 100 },
  ],
  'neither field as 1 [zpdb 7]': ['', { kind: 'count', count: 1 }],
  'a count of 0': ['"maxUnavailable":0', { kind: 'count', count: 0 }],
  'a count of -0, as Go does': ['"maxUnavailable":-0', { kind: 'count', count: 0 }],
  'the greatest count': ['"maxUnavailable":9223372036854775807', { kind: 'count', count: 2 ** 63 }],
  'a percentage of 0 with a regex [zpdb 11]': [
    `${REGEX},"maxUnavailablePercentage":0`,
    { kind: 'percentage', percentage: 0 },
  ],
};

for (const [what, [members, limit]] of Object.entries(limits)) {
  test(`parseBudget() reads ${what}`, () => {
    assert.deepEqual(valid(withSpec(members)).maxUnavailable, limit);
  });
}

test('parseBudget() takes a regex with one group and no number for group 1 [zpdb 16]', () => {
  const { span } = valid(withSpec(REGEX));
  assert.ok(span.kind === 'partition');
  assert.deepEqual([span.group, span.regex], [1, '[a-z\\-]+-zone-[a-z]-([0-9]+)']);
});

test('parseBudget() finds the partition of a pod in the group that is named [zpdb 17]', () => {
  const { span } = valid(withSpec(`${TWO_GROUPS},"podNameRegexGroup":2`));
  assert.ok(span.kind === 'partition');
  for (const name of ['ingester-zone-a-1', 'ingester-foo-zone-a-1']) {
    assert.deepEqual(span.partitionOf(name), { kind: 'partition', name: '1' });
  }
});

const unknown = {
  kind: 'unknown',
  text: 'failed to extract partition from pod Name regular expression',
};
const partitions: Readonly<
  Record<string, readonly [members: string, name: string, partition: unknown]>
> = {
  'of a name that does not match [zpdb 18]': [
    `${TWO_GROUPS},"podNameRegexGroup":2`,
    'foo',
    unknown,
  ],
  'of a group that has no part in the match': [
    `${TWO_GROUPS},"podNameRegexGroup":1`,
    'ingester-zone-a-1',
    unknown,
  ],
  'of a group that is empty': ['"podNamePartitionRegex":"x-([0-9]*)"', 'x-', unknown],
  'of a name with something before it': [REGEX, '0-ingester-zone-a-1', unknown],
  'of a name with something behind it': [REGEX, 'ingester-zone-a-1x', unknown],
  'of group 0: the whole name': [
    `${TWO_GROUPS},"podNameRegexGroup":0`,
    'ingester-foo-zone-a-1',
    { kind: 'partition', name: 'ingester-foo-zone-a-1' },
  ],
  'of an alternation, half anchored': [
    '"podNamePartitionRegex":"(a)|b"',
    'a-something-else',
    { kind: 'partition', name: 'a' },
  ],
  'of a name in capitals, by a flag of RE2': [
    '"podNamePartitionRegex":"(?i)X-(?P<n>[[:digit:]]+)"',
    'x-7',
    { kind: 'partition', name: '7' },
  ],
};

for (const [what, [members, name, partition]] of Object.entries(partitions)) {
  test(`partitionOf() tells the partition ${what}`, () => {
    const { span } = valid(withSpec(members));
    assert.ok(span.kind === 'partition');
    assert.deepEqual(span.partitionOf(name), partition);
  });
}

const zoneModes: Readonly<Record<string, string>> = {
  'an empty regex with a group that is a text [zpdb 19]':
    '"podNamePartitionRegex":"","podNameRegexGroup":"x"',
  'no regex with a group that is null': '"podNameRegexGroup":null',
  'no regex with a delay of 0s [zpdb 26]': '"crossZoneEvictionDelay":"0s"',
  'no regex with an empty delay': '"crossZoneEvictionDelay":""',
};

for (const [what, members] of Object.entries(zoneModes)) {
  test(`parseBudget() takes ${what} for zone mode`, () => {
    assert.deepEqual(valid(withSpec(members)).span, { kind: 'zone' });
  });
}

for (const [text, milliseconds] of [
  ['"20m"', 1_200_000],
  ['"1h30m"', 5_400_000],
  ['"0s"', 0],
  ['""', 0],
  ['"1.5s"', 1_500],
  [undefined, 0],
] as const) {
  test(`parseBudget() reads a delay of ${text ?? 'nothing'} with a regex [zpdb 22]`, () => {
    const delay = text === undefined ? '' : `,"crossZoneEvictionDelay":${text}`;
    const { span } = valid(withSpec(`${REGEX}${delay}`));
    assert.equal(span.kind === 'partition' && span.crossZoneEvictionDelay, milliseconds);
  });
}

test('parseBudget() does not compare the apiVersion', () => {
  const text = `{${KIND},"apiVersion":"other/v7","spec":{${SELECTOR}}}`;
  assert.deepEqual([...valid(text).matchLabels], [['rollout-group', 'ingester']]);
});

test('parseBudget() cuts a text of what is wrong that is very long', () => {
  const outcome = parsed(withSpec(`"crossZoneEvictionDelay":"${'x'.repeat(200_000)}"`));
  assert.ok(outcome.kind === 'invalid');
  assert.equal(outcome.text.length < 4_200, true);
  assert.match(
    outcome.text,
    /^invalid value: crossZoneEvictionDelay is not a valid .*… \(200\d{3} characters\)$/,
  );
});

const names = fc.constantFrom(
  'kind',
  'spec',
  'selector',
  'matchLabels',
  'maxUnavailable',
  'maxUnavailablePercentage',
  'podNamePartitionRegex',
  'podNameRegexGroup',
  'crossZoneEvictionDelay',
  '__proto__',
  'a',
);
const leaves = fc.oneof(
  fc.constantFrom('null', 'true', '0', '1', '-1', '1.0', '1e999', '-0', '50', '101', '[]', '{}'),
  fc.constantFrom(
    '"ZoneAwarePodDisruptionBudget"',
    '"20m"',
    '"-5m"',
    '"([0-9]+)"',
    '"("',
    '"\\ud800"',
  ),
  fc.string({ maxLength: 8 }).map((text) => JSON.stringify(text)),
);
const { tree } = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    leaves,
    fc.array(tie('tree'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(names, tie('tree')), { maxLength: 6 })
      .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join(',')}}`),
  ),
}));

test('parseBudget() says of any object that it is valid or, in a bounded text, what is wrong', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(names, tree), { maxLength: 6 }), (members) => {
      const spec = members.map(([name, value]) => `"${name}":${value}`).join(',');
      for (const text of [`{${spec}}`, `{${KIND},"spec":{${spec}}}`]) {
        const read = parseUntyped(text);
        if (read.kind === 'undecodable') continue;
        const outcome = parseBudget(read.object, compilePattern);
        if (outcome.kind === 'invalid')
          assert.ok(outcome.text.length > 0 && outcome.text.length < 4_200);
      }
    }),
    { numRuns: 2_000 },
  );
});
