import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { millis } from '#base/units.ts';
import {
  boolKind,
  csvKind,
  durationKind,
  floatKind,
  intKind,
  prometheusDurationKind,
  stringKind,
} from './flag-kind.ts';
import type { Flag, FlagOutcome } from './go-flags.ts';
import { FlagSet } from './go-flags.ts';

interface Sample {
  readonly set: FlagSet;
  readonly flags: {
    readonly text: Flag<string>;
    readonly count: Flag<number>;
    readonly on: Flag<boolean>;
    readonly rate: Flag<number>;
    readonly wait: Flag<number>;
    readonly life: Flag<number>;
    readonly list: Flag<readonly string[]>;
  };
}

function sample(): Sample {
  const set = new FlagSet('sample');
  const flags = {
    text: set.add('text', stringKind, { default: 'a', help: 'Some text.' }),
    count: set.add('count', intKind, { default: 1, help: 'How many.' }),
    on: set.add('on', boolKind, { default: false, help: 'Whether.' }),
    rate: set.add('rate', floatKind, { default: 0.5, help: 'How fast.' }),
    wait: set.add('wait', durationKind, { default: millis(5_000), help: 'How long.' }),
    life: set.add('life', prometheusDurationKind, { default: millis(86_400_000), help: 'Age.' }),
    list: set.add('list', csvKind, { default: ['p', 'q'], help: 'Which.' }),
  };
  return { set, flags };
}

function valuesAfter(args: readonly string[]): Record<string, unknown> {
  const { set, flags } = sample();
  assert.equal(set.parse(args).kind, 'parsed');
  const given = Object.entries(flags).filter(([, flag]) => flag.isGiven);
  return Object.fromEntries(given.map(([name, flag]) => [name, flag.value]));
}

const accepted: Record<string, readonly [args: readonly string[], want: Record<string, unknown>]> =
  {
    'changes nothing without arguments (FL-1)': [[], {}],
    'reads -name=value (FL-1)': [['-text=b'], { text: 'b' }],
    'reads --name=value (FL-1)': [['--text=b'], { text: 'b' }],
    'reads -name value (FL-1)': [['-text', 'b'], { text: 'b' }],
    'reads --name value (FL-1)': [['--text', 'b'], { text: 'b' }],
    'splits at the first = only (FL-1)': [['-text=b=c'], { text: 'b=c' }],
    'reads an empty value (FL-1)': [['-text='], { text: '' }],
    'reads an empty argument as value (FL-1)': [['-text', ''], { text: '' }],
    'takes the next argument as value even with a dash (FL-1)': [['-count', '-1'], { count: -1 }],
    'keeps line breaks within a value (FL-1)': [['-text=b\nc'], { text: 'b\nc' }],
    'reads a boolean alone as true (FL-2)': [['-on'], { on: true }],
    'reads a boolean with a value (FL-2)': [['-on=F'], { on: false }],
    'stops after a boolean at a separate word (FL-2)': [['-on', 'true', '-text=b'], { on: true }],
    'stops at the first positional argument (FL-3)': [
      ['-count=2', 'stop', '-text=b'],
      { count: 2 },
    ],
    'stops at a lone dash (FL-3)': [['-', '-text=b'], {}],
    'stops at an empty argument (FL-3)': [['', '-text=b'], {}],
    'stops after two dashes (FL-3)': [['--', '-text=b'], {}],
    'lets the last value win (FL-4)': [['-text=b', '-text=c'], { text: 'c' }],
    'says that a flag was given with its default (D-14)': [['-text=a'], { text: 'a' }],
    'reads hexadecimal integers (FL-6)': [['-count=0x1F'], { count: 31 }],
    'reads octal integers with a prefix (FL-6)': [['-count=0o17'], { count: 15 }],
    'reads octal integers with a leading zero (FL-6)': [['-count=017'], { count: 15 }],
    'reads binary integers (FL-6)': [['-count=0b101'], { count: 5 }],
    'reads underscores in integers (FL-6)': [['-count=1_000'], { count: 1_000 }],
    'reads underscores after a prefix (FL-6)': [['-count=0x_1F'], { count: 31 }],
    'reads signed integers (FL-6)': [['-count=+5'], { count: 5 }],
    'reads zero (FL-6)': [['-count=0'], { count: 0 }],
    'reads decimals (FL-6)': [['-rate=2.5'], { rate: 2.5 }],
    'reads exponents (FL-6)': [['-rate=1e3'], { rate: 1_000 }],
    'reads negative decimals (FL-6)': [['-rate=-1'], { rate: -1 }],
    'reads Go durations (FL-6)': [['-wait=1h30m'], { wait: 5_400_000 }],
    'reads Prometheus durations (FL-6)': [['-life=1y'], { life: 31_536_000_000 }],
    'splits lists without trimming (FL-6)': [['-list=a, b,'], { list: ['a', ' b', ''] }],
    'clears a list with an empty value (FL-6)': [['-list='], { list: [] }],
  };
for (const [fact, [args, want]] of Object.entries(accepted)) {
  test(`FlagSet.parse() ${fact}`, () => {
    assert.deepEqual(valuesAfter(args), want);
  });
}

const ignored: Record<string, readonly [args: readonly string[], want: readonly string[]]> = {
  'nothing after flags alone': [['-count', '2', '-on'], []],
  'a word after a boolean, and what follows': [
    ['-on', 'true', '-text=b'],
    ['true', '-text=b'],
  ],
  'a word in the middle, and what follows': [
    ['-count=2', 'stop', '-text=b'],
    ['stop', '-text=b'],
  ],
  'a lone dash, and what follows': [
    ['-', '-text=b'],
    ['-', '-text=b'],
  ],
  'an empty argument': [['-on', ''], ['']],
  'what follows two dashes': [['-on', '--', '-text=b'], ['-text=b']],
  'nothing after two dashes that are last': [['-on', '--'], []],
};
for (const [fact, [args, want]] of Object.entries(ignored)) {
  test(`FlagSet.parse() tells that it ignored ${fact} (FL-3)`, () => {
    assert.deepEqual(sample().set.parse(args), { kind: 'parsed', ignored: want });
  });
}

test('FlagSet.booleanNames() has the flags that take no value', () => {
  assert.deepEqual(sample().set.booleanNames(), ['on']);
});

for (const word of ['1', 't', 'T', 'true', 'TRUE', 'True']) {
  test(`FlagSet.parse() reads ${word} as true (FL-2)`, () => {
    assert.deepEqual(valuesAfter([`-on=${word}`]), { on: true });
  });
}
for (const word of ['0', 'f', 'F', 'false', 'FALSE', 'False']) {
  test(`FlagSet.parse() reads ${word} as false (FL-2)`, () => {
    assert.deepEqual(valuesAfter([`-on=${word}`]), { on: false });
  });
}

const refused: Record<string, readonly [args: readonly string[], reason: string]> = {
  'refuses three dashes (FL-1)': [['---text=b'], 'bad flag syntax: ---text=b'],
  'refuses an empty name (FL-1)': [['-=x'], 'bad flag syntax: -=x'],
  'refuses an empty name behind two dashes (FL-1)': [['--=x'], 'bad flag syntax: --=x'],
  'refuses an unknown flag (FL-5)': [['-nope=1'], 'flag provided but not defined: -nope'],
  'refuses names in another case (FL-5)': [['-Text=b'], 'flag provided but not defined: -Text'],
  'refuses a flag without its argument (FL-5)': [['-text'], 'flag needs an argument: -text'],
  'refuses words that are no boolean (FL-2)': [
    ['-on=yes'],
    'invalid boolean value "yes" for -on: parse error',
  ],
  'refuses an empty boolean (FL-2)': [['-on='], 'invalid boolean value "" for -on: parse error'],
  'refuses words that are no integer (FL-6)': [
    ['-count=x'],
    'invalid value "x" for flag -count: parse error',
  ],
  'refuses decimals as integers (FL-6)': [
    ['-count=1.5'],
    'invalid value "1.5" for flag -count: parse error',
  ],
  'refuses spaces around integers (FL-6)': [
    ['-count', ' 1'],
    'invalid value " 1" for flag -count: parse error',
  ],
  'refuses digits beyond the octal ones (FL-6)': [
    ['-count=08'],
    'invalid value "08" for flag -count: parse error',
  ],
  'refuses underscores at the end (FL-6)': [
    ['-count=1_'],
    'invalid value "1_" for flag -count: parse error',
  ],
  'refuses two underscores in a row (FL-6)': [
    ['-count=1__0'],
    'invalid value "1__0" for flag -count: parse error',
  ],
  'refuses integers beyond 64 bits (FL-6)': [
    ['-count=9223372036854775808'],
    'invalid value "9223372036854775808" for flag -count: value out of range',
  ],
  'refuses words that are no decimal (FL-6)': [
    ['-rate=fast'],
    'invalid value "fast" for flag -rate: parse error',
  ],
  'refuses decimals beyond 64 bits (FL-6)': [
    ['-rate=1e999'],
    'invalid value "1e999" for flag -rate: value out of range',
  ],
  'refuses Go durations without a unit (FL-6)': [
    ['-wait=5'],
    'invalid value "5" for flag -wait: parse error',
  ],
  'refuses the following flag as a value that does not parse (FL-1)': [
    ['-count', '-text=b'],
    'invalid value "-text=b" for flag -count: parse error',
  ],
};
for (const [fact, [args, reason]] of Object.entries(refused)) {
  test(`FlagSet.parse() ${fact}`, () => {
    assert.deepEqual(sample().set.parse(args), { kind: 'refused', reason });
  });
}

test('FlagSet.parse() says what a Prometheus duration looks like', () => {
  const outcome = sample().set.parse(['-life=1.5h']);
  assert.match(
    outcome.kind === 'refused' ? outcome.reason : '',
    /^invalid value "1\.5h" for flag -life: must be a Prometheus duration such as/,
  );
});

for (const argument of ['-h', '--h', '-help', '--help', '-help=x']) {
  test(`FlagSet.parse() answers ${argument} with help (FL-5)`, () => {
    assert.deepEqual(sample().set.parse(['-text=b', argument]), { kind: 'help' });
  });
}

test('FlagSet.parse() accepts the lowest 64-bit integer', () => {
  assert.deepEqual(valuesAfter(['-count=-9223372036854775808']), { count: -(2 ** 63) });
});

test('FlagSet.usage() lists the flags by name with type, help and default', () => {
  assert.equal(
    sample().set.usage(),
    [
      'Usage of sample:',
      '  -count int',
      '    \tHow many. (default 1)',
      '  -life value',
      '    \tAge. (default 1d)',
      '  -list value',
      '    \tWhich. (default p,q)',
      '  -on',
      '    \tWhether.',
      '  -rate float',
      '    \tHow fast. (default 0.5)',
      '  -text string',
      '    \tSome text. (default "a")',
      '  -wait duration',
      '    \tHow long. (default 5s)',
      '',
    ].join('\n'),
  );
});

test('FlagSet.usage() leaves out defaults that are zero', () => {
  const set = new FlagSet('x');
  set.add('a', stringKind, { default: '', help: 'A.' });
  set.add('b', intKind, { default: 0, help: 'B.' });
  set.add('c', csvKind, { default: [], help: 'C.' });
  set.add('d', durationKind, { default: millis(0), help: 'D.' });
  set.add('e', floatKind, { default: 0, help: 'E.' });
  assert.doesNotMatch(set.usage(), /default/);
});

test('FlagSet.usage() does not depend on what was parsed', () => {
  const { set } = sample();
  const before = set.usage();
  set.parse(['-text=b', '-count=7']);
  assert.equal(set.usage(), before);
});

test('FlagSet.add() refuses a second flag of one name', () => {
  const { set } = sample();
  assert.throws(() => set.add('text', stringKind, { default: '', help: '' }), {
    message: 'Cannot add flag "-text" as it exists already',
  });
});

test('FlagSet.parse() answers for any arguments without throwing', () => {
  const argument = fc.oneof(
    fc.string(),
    fc.constantFrom('-text', '-on', '-count', '-count=0x', '--', '-', '-wait=1h', '-list=,'),
    fc.string().map((text) => `-count=${text}`),
    fc.string().map((text) => `-wait=${text}`),
  );
  fc.assert(
    fc.property(fc.array(argument, { maxLength: 6 }), (args) => {
      const outcome: FlagOutcome = sample().set.parse(args);
      assert.match(outcome.kind, /^(?:parsed|help|refused)$/);
    }),
    { numRuns: 500 },
  );
});
