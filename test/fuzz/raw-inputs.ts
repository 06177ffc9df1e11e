import type { SeededRandom } from '#cluster/seeded-random.ts';

/** One body that is posted, and what is known of it. */
export interface FuzzInput {
  readonly body: Buffer;
  /** How it was made, for the report. */
  readonly made: string;
}

/** Returns an input that is written as text. */
export function textInput(made: string, body: string): FuzzInput {
  return { made, body: Buffer.from(body) };
}

/** Returns one of `values`. */
export function pick<T>(random: SeededRandom, values: readonly T[]): T {
  const value = values[random.below(values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}

/** Makes bytes at random. */
export function noise(random: SeededRandom): FuzzInput {
  const body = Buffer.alloc(random.below(300));
  for (let at = 0; at < body.length; at += 1) body[at] = random.below(256);
  return { made: 'noise', body };
}

/** Tokens of JSON and YAML in any order. */
export function tokens(random: SeededRandom): FuzzInput {
  const words = [
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"a"',
    '- ',
    '? ',
    '\n',
    '  ',
    'a',
    '&a ',
    '*a',
    '!!x',
    '|',
    '>',
    '---',
    '#',
    "'",
  ];
  const count = random.below(60);
  const body = Array.from({ length: count }, () => pick(random, words)).join('');
  return textInput('tokens', body);
}

/** Makes what nests deep. */
export function deep(random: SeededRandom): FuzzInput {
  const depth = 1 + random.below(12_000);
  const [open, close] = pick(random, [
    ['[', ']'],
    ['{"a":', '}'],
    ['- ', ''],
    ['? ', ''],
    ['[{"a":', '}]'],
  ] as const);
  const body = `${open.repeat(depth)}1${close.repeat(depth)}`;
  return textInput(`${depth} levels`, random.below(2) === 0 ? body : `{"request":${body}}`);
}

/** Up to 256 KiB of YAML that is all structure. */
export function longYaml(random: SeededRandom): FuzzInput {
  const part = pick(random, [
    '- a: b\n',
    'a: 1\n',
    '&a ',
    '!a ',
    '? a\n',
    '1,',
    '[],',
    '#\n',
    ': ',
    'x',
    '"\\n" ',
  ]);
  const head = pick(random, ['', 'a: ', 'a: [', '- ']);
  const length = 1 + random.below(Math.floor((256 * 1_024) / part.length));
  return textInput(`YAML of ${length} × ${JSON.stringify(part)}`, head + part.repeat(length));
}
