import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkIds } from './check-ids.ts';

const page = '# Promises\n\n### EXCL-1 One zone\n\nOne zone at a time.\n';
const user = '// Keeps one zone at a time (EXCL-1).\n';

/** What is found when `files` join a tree in which all is well. */
function findings(files: Readonly<Record<string, string>>): readonly string[] {
  return checkIds(
    new Map(Object.entries({ 'docs/rules/promises.md': page, 'src/user.ts': user, ...files })),
  );
}

describe('checkIds()', () => {
  test('finds nothing where every id that is named has a heading', () => {
    assert.deepEqual(findings({}), []);
  });

  const planted: Record<string, { files: Record<string, string>; want: readonly string[] }> = {
    'an id that no page explains': {
      files: { 'src/a.ts': '// The view is young.\n// It is proven, too (EXCL-2).\n' },
      want: ['src/a.ts:2: EXCL-2 is explained nowhere in docs/rules/'],
    },
    'an id in the title of a test': {
      files: { 'test/a.test.ts': "test('D-49 plans again', () => {});" },
      want: ['test/a.test.ts:1: D-49 is explained nowhere in docs/rules/'],
    },
    'either end of a range': {
      files: { 'src/a.ts': '/* D-3…D-9 */' },
      want: [
        'src/a.ts:1: D-3 is explained nowhere in docs/rules/',
        'src/a.ts:1: D-9 is explained nowhere in docs/rules/',
      ],
    },
    'an id of a page of the rules': {
      files: { 'docs/rules/promises.md': `${page}See EXCL-7.\n` },
      want: ['docs/rules/promises.md:6: EXCL-7 is explained nowhere in docs/rules/'],
    },
    'an id in a script and in a planted bug': {
      files: { 'build/run.sh': '# LIVE-1\n', 'test/mutants/a.patch': 'Name: LIVE-2 ends\n' },
      want: [
        'build/run.sh:1: LIVE-1 is explained nowhere in docs/rules/',
        'test/mutants/a.patch:1: LIVE-2 is explained nowhere in docs/rules/',
      ],
    },
    'an id of an unknown family': {
      files: { 'src/a.ts': '// See NEW-1.' },
      want: ['src/a.ts:1: NEW-1 is of no family that scripts/checks/rule-ids.ts knows'],
    },
    'a heading that nobody names': {
      files: { 'docs/rules/more.md': '### EXCL-3 Three\n\nMore than EXCL-3.\n' },
      want: ['docs/rules/more.md:1: nothing outside docs/rules/ names EXCL-3'],
    },
    'two headings of one id': {
      files: { 'docs/rules/twice.md': '\n### EXCL-1 Again\n' },
      want: ['docs/rules/twice.md:2: EXCL-1 has a heading in docs/rules/promises.md:3, too'],
    },
    'a short id in a comment': {
      files: { 'src/a.ts': '/** P8. */' },
      want: ['src/a.ts:1: P8 is no whole id; say it in words'],
    },
    'a short id in the title of a test': {
      files: { 'src/a.test.ts': "test('[T05] lists', () => {});" },
      want: ['src/a.test.ts:1: T05 is no whole id; say it in words'],
    },
    'a section, and the document that it is of': {
      files: { 'src/a.ts': '/** As gone.md §2 says, or the cluster §24. */' },
      want: [
        'src/a.ts:1: §2 is a section of no document in the tree',
        'src/a.ts:1: §24. is a section of no document in the tree',
        'src/a.ts:1: there is no document gone.md in the tree',
      ],
    },
    'what is named by its number in a tracker': {
      files: { 'src/a.test.ts': "// As issue 5 asks.\ntest('goes on (#14)', () => {});" },
      want: [
        'src/a.test.ts:1: issue 5 is in no list of the tree; say it in words',
        'src/a.test.ts:2: #14 is in no list of the tree; say it in words',
      ],
    },
    'a document in a folder that has no such page': {
      files: { 'docs/a.md': 'See spec/promises.md and ../rules/promises.md.' },
      want: ['docs/a.md:1: there is no document spec/promises.md in the tree'],
    },
  };
  for (const [what, { files, want }] of Object.entries(planted)) {
    test(`finds ${what}`, () => assert.deepEqual(findings(files), want));
  }

  for (const path of ['README.md', 'docs/moving.md', 'docs/runbooks/Down.md', 'deploy/a.yaml']) {
    test(`finds an id in ${path}, though it is explained`, () => {
      assert.deepEqual(findings({ [path]: 'Keeps EXCL-1.' }), [
        `${path}:1: users read this, to whom EXCL-1 says nothing`,
      ]);
    });
  }

  test('finds an id in a text of the program, though it is explained', () => {
    const source = "throw new Error('EXCL-1 is broken');\nlog(`EXCL-1: ${zone}`);\n";
    assert.deepEqual(findings({ 'src/a.ts': source }), [
      'src/a.ts:1: users read this, to whom EXCL-1 says nothing',
      'src/a.ts:2: users read this, to whom EXCL-1 says nothing',
    ]);
  });

  test('lets developers read ids: in tests, doubles and records of decisions', () => {
    const files = ['src/a.test.ts', 'test/support/judge/judge.ts', 'test/play.ts', 'scripts/a.ts'];
    const said = Object.fromEntries(files.map((path) => [path, "say('EXCL-1 is broken');"]));
    assert.deepEqual(findings({ ...said, 'docs/adr/0001-a.md': 'Keeps EXCL-1.' }), []);
  });

  const harmless: Record<string, string> = {
    'names of the world': '// UTF-8, SHA-256, P-256, FNV-1a, DNS-1123, ECMA-262, RE2, V8, C0000001',
    'the instant of tests': '// Three minutes after T0.',
    'identifiers, and numbers in a calculation': 'const R1 = A-1 + B2 * C-3;',
    'data of one word': "const revisions = ['R1', 'R2', 'B1'];",
    'names of objects': "const name = 'ingester-zone-a-1';",
    'a section of a standard': '// As RFC 9112 §3.2.2 and RFC 9110, § 5.3 say.',
    'a document of somebody else': '// https://example.com/blob/spec/api.md',
    'an issue of somebody else':
      '// https://example.com/issues/5 and https://example.com/a#5 say why.',
    'documents of the tree': '// docs/rules/promises.md, promises.md, /docs/rules/promises.md',
  };
  for (const [what, source] of Object.entries(harmless)) {
    test(`leaves ${what} alone`, () => assert.deepEqual(findings({ 'src/a.ts': source }), []));
  }
});
