import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkScenarios, openScenarios } from './check-scenarios.ts';
import type { ScenarioList } from './required-scenarios.ts';

const groups: ScenarioList = {
  document: 'groups',
  prefix: 'scenario ',
  last: 20,
  required: [7],
};
const cluster: ScenarioList = {
  document: 'cluster',
  prefix: 'cluster ',
  last: 60,
  required: [5],
};

function findings(source: string, list = groups): readonly string[] {
  return checkScenarios(new Map([['src/a.test.ts', source]]), [list]);
}

describe('checkScenarios()', () => {
  test('names each required scenario that no test claims', () => {
    const wide: ScenarioList = { ...groups, required: [[7, 9], 12] };
    assert.deepEqual(findings(`test('plan() deletes [scenario 8]', () => {});`, wide), [
      'groups: no test has [scenario 7] in its title',
      'groups: no test has [scenario 9] in its title',
      'groups: no test has [scenario 12] in its title',
    ]);
    assert.deepEqual(findings('', cluster), ['cluster: no test has [cluster 5] in its title']);
  });

  const claimed: Record<string, string> = {
    'a title': `test('plan() deletes b-0 [scenario 7]', () => {});`,
    'a title with several': `it("[scenario 3, 7] plan() deletes", async () => {});`,
    'a template': 'test(`[scenario 7] ${name} deletes`, () => {});',
    'a group': `describe('[scenario 7] batch', () => { test('deletes', () => {}); });`,
    'a test of a test': `test('outer', async (t) => { await t.test('x'); }); suite('[scenario 7]', f);`,
    'a key of a table': `const cases = { '[scenario 7] deletes': { input: 1 } };`,
    'a title with options': `test('[scenario 7]', { skip: false, timeout: 5 }, () => {});`,
    'a title beside a skipped test': `test('[scenario 7]', f); test.skip('other', g);`,
  };
  for (const [title, source] of Object.entries(claimed)) {
    test(`counts ${title}`, () => {
      assert.deepEqual(findings(source), []);
    });
  }

  test('counts numbers with and without a repeated prefix', () => {
    const list: ScenarioList = { ...cluster, required: [5, 6, 12] };
    assert.deepEqual(
      findings(`test('[cluster 5, 6] a', f); test('[cluster 11, 12] b', f);`, list),
      [],
    );
  });

  const ignored: Record<string, string> = {
    'a comment': `// test('[scenario 7]', () => {});`,
    'a message': `test('x', () => { assert.ok(y, '[scenario 7]'); });`,
    'a test of another kind': `contest('[scenario 7]', f);`,
  };
  for (const [title, source] of Object.entries(ignored)) {
    test(`does not count ${title}`, () => {
      assert.deepEqual(findings(source), ['groups: no test has [scenario 7] in its title']);
    });
  }

  const skipped: Record<string, string> = {
    'test.skip': `test.skip('[scenario 7]', () => {});`,
    'it.todo': `it.todo('[scenario 7]');`,
    'an option': `test('[scenario 7]', { timeout: 1, skip: 'later' }, () => {});`,
    'an option that may skip': `test('[scenario 7]', { skip: !chromium }, () => {});`,
    'an option in short': `test('[scenario 7]', { todo }, () => {});`,
    'a call in the test': `test('[scenario 7]', (t) => { if (old) t.skip('old'); });`,
    'a group around it': `describe.skip('g', () => { test('[scenario 7]', () => {}); });`,
    'an option of a group around it': `describe('g', { skip: true }, () => { test('[scenario 7]', f); });`,
    'a test of its group': `describe('[scenario 7]', () => { it.skip('x', f); });`,
    'a test in the file of its table': `const c = { '[scenario 7]': 1 }; test(name, { skip: c.skip }, f);`,
  };
  for (const [title, source] of Object.entries(skipped)) {
    test(`refuses a test skipped by ${title}`, () => {
      assert.deepEqual(findings(source), [
        'src/a.test.ts:1: the test of scenario 7 is skipped, or may be',
      ]);
    });
  }

  test('counts only claims of the files that a list is about', () => {
    const real: ScenarioList = { ...cluster, files: /^test\/real\// };
    assert.deepEqual(findings(`test('[cluster 5]', f);`, real), [
      'cluster: no test has [cluster 5] in its title',
    ]);
    const tests = new Map([['test/real/a.test.ts', `test('[cluster 5]', f);`]]);
    assert.deepEqual(checkScenarios(tests, [real]), []);
  });

  test('refuses a number that the document does not have', () => {
    assert.deepEqual(findings(`\ntest('[scenario 7, 21]', f);`), [
      'src/a.test.ts:2: groups has no scenario 21',
    ]);
  });

  test('wants every scenario required or open where a list says which are open', () => {
    const open = { 1: 'too early', 3: 'too early' };
    const list: ScenarioList = { ...groups, last: 4, required: [1, 2], open };
    const source = `test('[scenario 1, 2] a', f);`;
    assert.deepEqual(findings(source, list), [
      'groups: scenario 1 must be either required or open, with a reason',
      'groups: scenario 4 must be either required or open, with a reason',
    ]);
  });
});

describe('openScenarios()', () => {
  test('tells what no test shows, and why', () => {
    const list: ScenarioList = {
      ...cluster,
      open: { 6: 'too early', 7: 'too early' },
      parts: { 5: 'too late' },
    };
    assert.deepEqual(openScenarios([list]), [
      'cluster: no test of cluster 6, cluster 7: too early',
      'cluster: only a part of cluster 5: too late',
    ]);
  });
});
