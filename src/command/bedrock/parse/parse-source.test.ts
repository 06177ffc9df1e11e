/** What of YAML is read, and what a stranger could write into a file that is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assert as check, property, string } from 'fast-check';
import { endingInTime } from '#support/ends-in-time.ts';
import { findingLines } from './finding.ts';
import { parseSource } from './parse-source.ts';

/** What is said of `text`; `read` where nothing is. */
function said(text: string): string {
  const parsed = parseSource(text);
  return parsed.kind === 'valid' ? 'read' : findingLines('f', parsed.findings).join('\n');
}

const laughs = Array.from({ length: 9 }, (_, at) => {
  const items = at === 0 ? ['lol'] : Array.from({ length: 10 }, () => `*l${at - 1}`);
  return `l${at}: &l${at} [${items.join(', ')}]`;
}).join('\n');

const hostile: Record<string, { readonly text: string; readonly wanted: RegExp }> = {
  'an empty file': { text: '', wanted: /^f: must be a map .*: got nothing$/ },
  'a file of comments': { text: '# nothing\n\n', wanted: /^f: must be a map .*: got nothing$/ },
  'a list': { text: '- a\n', wanted: /^f:1: must be a map .*: got a list$/ },
  'a text': { text: 'services\n', wanted: /^f:1: must be a map .*: got "services"$/ },
  'two documents': { text: 'a: 1\n---\na: 2\n', wanted: /^f:\d: must be one YAML document/ },
  'a key twice': { text: 'a: 1\nb: 2\na: 3\n', wanted: /^f:3: Cannot read as YAML: .*unique/ },
  'a key twice, once in quotes': { text: 'a: 1\n"a": 3\n', wanted: /^f:2: .*unique/ },
  'a key twice, deep inside': { text: 'a:\n  b:\n    c: 1\n    c: 2\n', wanted: /^f:4: .*unique/ },
  'a key that is a list': { text: '? [a]\n: 1\n', wanted: /^f:1: .*string/i },
  'an alias of nothing': { text: 'a: *b\n', wanted: /^f:1: .*alias/i },
  'an alias of what it is in': {
    text: 'a: &a [*a]\n',
    wanted: /^f:1: a\[0\] is an alias of a node that contains it/,
  },
  'an alias of a map that holds it': {
    text: 'a: &a\n  b: *a\n',
    wanted: /^f:\d: a\.b is an alias/,
  },
  'a billion laughs': { text: laughs, wanted: /^f:\d: .* makes more than 50000 values/ },
  'a merge key': {
    text: 'a: &a {b: 1}\nc:\n  <<: *a\n',
    wanted: /^f:3: c\["<<"\] is not read here/,
  },
  'a prototype': { text: 'a:\n  __proto__: {b: 1}\n', wanted: /^f:2: a\.__proto__ is not a name/ },
  'a tag of its own': { text: 'a: !run "rm -rf"\n', wanted: /^f:1: .*!run/ },
  bytes: { text: 'a: !!binary aGk=\n', wanted: /^f:1: a has the tag .*binary/ },
  'a set': { text: 'a: !!set {b, c}\n', wanted: /^f:1: a has the tag .*set/ },
  'a number without an end': {
    text: 'a: .inf\n',
    wanted: /^f:1: a is a number that JSON cannot hold/,
  },
  'no number': { text: 'a: .nan\n', wanted: /^f:1: a is a number that JSON cannot hold/ },
  'a number that would be rounded': {
    text: 'a: 9007199254740993\n',
    wanted: /^f:1: a is a number/,
  },
  'a quote that is never closed': { text: 'a: "b\n', wanted: /^f:\d: Cannot read as YAML/ },
  'a tab for spaces': { text: 'a:\n\tb: 1\n', wanted: /^f:2: Cannot read as YAML/ },
  'a hundred levels': { text: `a: ${'['.repeat(100)}${']'.repeat(100)}`, wanted: /deeper than 64/ },
  '100,000 levels': { text: `a: ${'['.repeat(100_000)}`, wanted: /^f.*: Cannot read as YAML/ },
  'an unknown directive': { text: '%FOO bar\n---\na: 1\n', wanted: /^f:1: Cannot read/ },
};

for (const [fact, { text, wanted }] of Object.entries(hostile)) {
  test(`parseSource() refuses ${fact}`, () => assert.match(said(text), wanted));
}

test('parseSource() reads what 1.2 says, texts that look like something else among it', () => {
  const parsed = parseSource('a: yes\nb: "1"\nc: 010\nd: ~\ne: [1.5, true]\n1: one\n');
  assert.deepEqual(parsed.kind === 'valid' && parsed.source.root, {
    '1': 'one',
    a: 'yes',
    b: '1',
    c: 10,
    d: null,
    e: [1.5, true],
  });
});

test('parseSource() puts in what an alias stands for', () => {
  const parsed = parseSource('a: &a {b: 1}\nc: *a\n');
  assert.deepEqual(parsed.kind === 'valid' && parsed.source.root, { a: { b: 1 }, c: { b: 1 } });
});

test('parseSource() knows the line of each key and each item', () => {
  const parsed = parseSource('a:\n  b:\n    - c: 1\n    - 2\n"d.e":\n  f: 3\n');
  assert.deepEqual(parsed.kind === 'valid' && Object.fromEntries(parsed.source.lines), {
    '': 1,
    a: 1,
    'a.b': 2,
    'a.b[0]': 3,
    'a.b[0].c': 3,
    'a.b[1]': 4,
    '["d.e"]': 5,
    '["d.e"].f': 6,
  });
});

test('parseSource() tells at most fifty mistakes one by one', () => {
  const lines = said('a: 1\n'.repeat(200)).split('\n');
  assert.equal(lines.length, 51);
  assert.match(lines.at(-1) ?? '', /^f: and \d+ more$/);
});

test('parseSource() takes an alias for the anchor that is before it, not for a later one', () => {
  const text = 'a: &x {p: &y 1}\nb: &y 2\nc: *x\nd: *y\n&z e: *z\nf: &x [*y]\ng: &y 3\nh: *x\n';
  const parsed = parseSource(text);
  assert.deepEqual(parsed.kind === 'valid' && parsed.source.root, {
    a: { p: 1 },
    b: 2,
    c: { p: 1 },
    d: 2,
    e: 'e',
    f: [2],
    g: 3,
    h: [2],
  });
});

const grown: Record<string, string> = {
  'many keys': Array.from({ length: 8_000 }, (_, at) => `k${at}: 1\n`).join(''),
  'many aliases': `a: &a 1\nb: [${'*a,'.repeat(20_000)}]\n`,
  'many anchors': `b: [${Array.from({ length: 8_000 }, (_, at) => `&a${at} 1`).join(',')}]\n`,
};

for (const [fact, text] of Object.entries(grown)) {
  test(`parseSource() reads a file of ${fact}, in time that grows as the text`, () => {
    const parsed = endingInTime(() => parseSource(text));
    assert.equal(parsed.kind, 'valid');
  });
}

test('parseSource() never throws', () => {
  const unit = string({ unit: 'binary' });
  check(property(unit, (text) => void parseSource(text)));
  const yaml = string({ unit: 'grapheme-ascii' }).map((text) =>
    text.replaceAll(/[a-z]/g, '\n  - &a *a: {'),
  );
  check(property(yaml, (text) => void parseSource(text)));
});
