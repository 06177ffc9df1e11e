import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { limitOf } from '#disruption/budget.ts';
import { statefulSetView } from '#support/objects/views.ts';
import { parseZoneBudget } from './parse-zone-budget.ts';
import { selects } from './selector.ts';

const selector = { matchLabels: { name: 'ingester' } };

/** How many pods of one zone may go where the sets of all zones have nine; undefined where the budget cannot be read. */
function limit(maxUnavailable: JsonValue | undefined, replicas: readonly number[] = [9]): unknown {
  const parsed = parseZoneBudget({ spec: { selector, maxUnavailable } });
  const sets = replicas.map((count) => statefulSetView({ spec: { replicas: count } }));
  return parsed.kind === 'valid' ? limitOf(parsed.spec.limit, sets[0], sets) : 'refused';
}

/** Percentages of updates, rounded up (ZAU-31), as budgets round them, too (ZDB-8). */
const percentages: readonly (readonly [percent: string, replicas: number, pods: number])[] = [
  ['33%', 30, 10],
  ['34%', 30, 11],
  ['30%', 30, 9],
  ['33%', 9, 3],
  ['10%', 25, 3],
  ['10%', 9, 1],
  ['1%', 3, 1],
  ['0%', 9, 0],
  ['33%', 0, 0],
  ['+33%', 9, 3],
  ['033%', 9, 3],
  ['150%', 9, 14],
  ['-5%', 9, 0],
];
for (const [percent, replicas, pods] of percentages) {
  test(`parseZoneBudget() makes ${percent} of ${replicas} pods ${pods}, rounded up [zau 33]`, () => {
    assert.equal(limit(percent, [replicas]), pods);
  });
}

test('parseZoneBudget() takes a percentage of all sets together, and not of one (ZDB-8) [zau 57]', () => {
  assert.equal(limit('10%', [10, 10, 10]), 3);
  assert.equal(limit('10%', [3, 3, 3]), 1);
});

test('parseZoneBudget() takes an integer for that many pods, and one below 0 for none', () => {
  assert.deepEqual(
    [2, 1, 0, -1, 2_147_483_647].map((count) => limit(count)),
    [2, 1, 0, 0, 2_147_483_647],
  );
});

const refusals: Record<string, { readonly value: JsonValue | undefined; readonly got: string }> = {
  'no limit': { value: undefined, got: '"nothing"' },
  'a limit of null': { value: null, got: '"nothing"' },
  'a number in a text (W-38)': { value: '2', got: '"2"' },
  'an empty text': { value: '', got: '""' },
  'a fraction of a percentage': { value: '33.5%', got: '"33.5%"' },
  'a percentage behind a blank': { value: ' 33%', got: '" 33%"' },
  'a percentage with a line after it': { value: '33%\n', got: '"33%\\n"' },
  'digits with an underscore': { value: '3_3%', got: '"3_3%"' },
  'a percent sign alone': { value: '%', got: '"%"' },
  'a percentage beyond 64 bits': { value: '9223372036854775808%', got: '"9223372036854775808%"' },
  'an integer beyond 32 bits (W-29)': { value: 2_147_483_648, got: '2147483648' },
  'an integer below 32 bits': { value: -2_147_483_649, got: '-2147483649' },
  'a fraction': { value: 1.5, got: '1.5' },
  'an object': { value: { a: 1 }, got: '"{\\"a\\":1}"' },
};
for (const [fact, { value, got }] of Object.entries(refusals)) {
  test(`parseZoneBudget() refuses ${fact}, and says where`, () => {
    assert.deepEqual(parseZoneBudget({ spec: { selector, maxUnavailable: value } }), {
      kind: 'invalid',
      problem: {
        path: 'spec.maxUnavailable',
        message: `must be an integer from -2147483648 to 2147483647, or a percentage such as "10%": got ${got}`,
      },
      selector: [{ operator: 'In', key: 'name', values: new Set(['ingester']) }],
    });
  });
}

test('parseZoneBudget() refuses a percentage of a megabyte in no time', () => {
  assert.equal(limit(`${'9'.repeat(1_000_000)}%`), 'refused');
});

test('parseZoneBudget() takes no dry run where nothing is written, and refuses what is neither', () => {
  const isDryRun = (dryRun: JsonValue | undefined): unknown => {
    const parsed = parseZoneBudget({ spec: { maxUnavailable: 1, dryRun } });
    return parsed.kind === 'valid' ? parsed.spec.isDryRun : parsed.problem.path;
  };
  assert.deepEqual([undefined, null, false, true, 'true'].map(isDryRun), [
    false,
    false,
    false,
    true,
    'spec.dryRun',
  ]);
});

test('parseZoneBudget() takes an object without a spec for one without a limit, which selects nothing', () => {
  const parsed = parseZoneBudget({});
  assert.ok(parsed.kind === 'invalid');
  assert.equal(parsed.problem.path, 'spec.maxUnavailable');
  assert.equal(selects(parsed.selector, {}), false);
});

test('parseZoneBudget() takes a spec that is no object for one that may select anything', () => {
  const parsed = parseZoneBudget({ spec: 'none' });
  assert.ok(parsed.kind === 'invalid');
  assert.equal(selects(parsed.selector, {}), true);
});

interface Selecting {
  readonly selector?: JsonObject | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly wanted: boolean;
}

const some = { name: 'ingester', tier: 'hot' };

function expression(operator: string, values?: readonly string[]): JsonObject {
  return { matchExpressions: [{ key: 'tier', operator, ...(values && { values }) }] };
}

const selections: Record<string, Selecting> = {
  'none where it is absent': { labels: some, wanted: false },
  'none where it is null': { selector: null, labels: some, wanted: false },
  'all where it is empty, also a pod without labels (W-20)': {
    selector: {},
    labels: {},
    wanted: true,
  },
  'a pod with its labels': { selector, labels: some, wanted: true },
  'no pod with another value': { selector, labels: { name: 'store' }, wanted: false },
  'In: one of the values': {
    selector: expression('In', ['cold', 'hot']),
    labels: some,
    wanted: true,
  },
  'In: no pod without the label': {
    selector: expression('In', ['hot']),
    labels: {},
    wanted: false,
  },
  'NotIn: no pod with one of the values': {
    selector: expression('NotIn', ['hot']),
    labels: some,
    wanted: false,
  },
  'NotIn: a pod without the label': {
    selector: expression('NotIn', ['hot']),
    labels: {},
    wanted: true,
  },
  'Exists: a pod with the label': { selector: expression('Exists'), labels: some, wanted: true },
  'Exists: no pod without it, whatever objects have': {
    selector: { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] },
    labels: some,
    wanted: false,
  },
  'DoesNotExist: a pod without the label': {
    selector: expression('DoesNotExist', []),
    labels: {},
    wanted: true,
  },
  'all requirements at once': {
    selector: { ...selector, ...expression('In', ['cold']) },
    labels: some,
    wanted: false,
  },
};
for (const [fact, { selector: given, labels, wanted }] of Object.entries(selections)) {
  test(`parseZoneBudget() reads a selector that selects ${fact} [zau 64]`, () => {
    const parsed = parseZoneBudget({ spec: { selector: given, maxUnavailable: 1 } });
    assert.ok(parsed.kind === 'valid');
    assert.equal(selects(parsed.spec.selector, labels), wanted);
  });
}

const wrongSelectors: Record<string, { readonly selector: JsonValue; readonly problem: string }> = {
  'an unknown operator': {
    selector: expression('Matches', ['hot']),
    problem:
      'spec.selector.matchExpressions[0].operator must be In, NotIn, Exists or DoesNotExist: got "Matches"',
  },
  'In without values': {
    selector: expression('In'),
    problem:
      'spec.selector.matchExpressions[0].values must be a list that is not empty with operators In and NotIn: got nothing',
  },
  'Exists with values': {
    selector: expression('Exists', ['hot']),
    problem:
      'spec.selector.matchExpressions[0].values must be empty with operator Exists: got "[\\"hot\\"]"',
  },
  'a value that no label has': {
    selector: expression('In', ['hot', 'b c']),
    problem: 'spec.selector.matchExpressions[0].values must be values of labels: got "b c"',
  },
  'a key that no label has': {
    selector: { matchLabels: { 'a b': 'c' } },
    problem: 'spec.selector.matchLabels["a b"] must be the key of a label: got "a b"',
  },
  'a value in matchLabels that is none': {
    selector: { matchLabels: { name: '-' } },
    problem: 'spec.selector.matchLabels["name"] must be the value of a label: got "-"',
  },
  'what is no object': {
    selector: 'name=ingester',
    problem: 'spec.selector must be a label selector: got "name=ingester"',
  },
};
for (const [fact, { selector: given, problem }] of Object.entries(wrongSelectors)) {
  test(`parseZoneBudget() refuses a selector with ${fact}, which may select any pod [zau 64]`, () => {
    const parsed = parseZoneBudget({ spec: { selector: given, maxUnavailable: 1 } });
    assert.ok(parsed.kind === 'invalid');
    assert.equal(`${parsed.problem.path} ${parsed.problem.message}`, problem);
    assert.equal(selects(parsed.selector, {}), true);
  });
}

test('parseZoneBudget() keeps what it can read of a wrong selector, so that it governs no stranger', () => {
  const wrong = { ...selector, ...expression('Matches', ['hot']) };
  const parsed = parseZoneBudget({ spec: { selector: wrong, maxUnavailable: 1 } });
  assert.ok(parsed.kind === 'invalid');
  assert.deepEqual(
    [some, { name: 'store' }].map((labels) => selects(parsed.selector, labels)),
    [true, false],
  );
});

test('parseZoneBudget() reads a selector of 100,000 values', () => {
  const values = Array.from({ length: 100_000 }, (_, at) => `v${at}`);
  const many = { matchExpressions: [{ key: 'tier', operator: 'In', values }] };
  const parsed = parseZoneBudget({ spec: { selector: many, maxUnavailable: 1 } });
  assert.ok(parsed.kind === 'valid');
  assert.equal(selects(parsed.spec.selector, { tier: 'v99999' }), true);
});
