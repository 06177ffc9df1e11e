import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseHunks } from './hunk.ts';
import { readHunks, readMutants } from './mutant.ts';
import { rename } from './place-hunk.ts';
import { plant } from './plant.ts';
import { SourceTree } from './source-tree.ts';

const original = `/** Whether a pod serves. */
export function isAvailable(pod: Pod, now: Instant): boolean {
  if (pod.isTerminating) return false;
  return pod.readySince !== undefined && now - pod.readySince >= pod.minReady;
}

export function isReady(pod: Pod): boolean {
  if (pod.isTerminating) return false;
  return pod.readySince !== undefined;
}
`;

const hunks = parseHunks(`--- a/src/pod.ts
+++ b/src/pod.ts
@@ -90,3 +90,3 @@ isAvailable
   if (pod.isTerminating) return false;
-  return pod.readySince !== undefined && now - pod.readySince >= pod.minReady;
+  return pod.readySince !== undefined;
 }
`);

const short = parseHunks(`--- a/src/pod.ts
+++ b/src/pod.ts
@@ -1,1 +1,0 @@ isReady
-  if (pod.isTerminating) return false;
`);

function planted(text: string, { path = 'src/pod.ts', of = hunks } = {}): string {
  const result = plant(of, new SourceTree(new Map([[path, text]])));
  return 'why' in result ? result.why : [...result.changed.values()].join('');
}

const cases: Record<string, { readonly text: string; readonly path?: string }> = {
  'where the lines have moved within the file': { text: `// a line\n\n${original}` },
  'where the file has moved': { text: original, path: 'src/pods/pod-view.ts' },
  'where its function is called otherwise': { text: original.replaceAll('isAvailable', 'serves') },
  'where names that it uses are called otherwise': {
    text: original.replaceAll('readySince', 'readyFrom').replaceAll('isTerminating', 'isLeaving'),
  },
  'where the formatter has broken its lines': {
    text: original
      .replace('&& now -', '&&\n    now -')
      .replace('pod: Pod, now', 'pod: Pod,\n  now'),
  },
  'where a comment has come between its lines': {
    text: original.replace('  return pod.readySince !== undefined &&', '  // Why.\n$&'),
  },
  'where its context has changed': { text: original.replace('return false', 'return !true') },
};

for (const [where, { text, path }] of Object.entries(cases)) {
  test(`plant() finds a bug ${where}`, () => {
    const result = planted(text, path === undefined ? {} : { path });
    const body = result.slice(result.indexOf('export function'), result.indexOf('isReady'));
    assert.doesNotMatch(body, /minReady/);
    assert.match(body, /ready(?:Since|From) !== undefined;/);
  });
}

test('plant() writes the names of today', () => {
  const result = planted(original.replaceAll('readySince', 'readyFrom'));
  assert.doesNotMatch(result, /readySince/);
});

test('plant() tells equal lines apart by the declaration that they are in', () => {
  const [available = '', ready = ''] = planted(original, { of: short }).split(
    'export function isReady',
  );
  assert.match(available, /isTerminating/);
  assert.doesNotMatch(ready, /isTerminating/);
});

test('plant() refuses lines that stand several times', () => {
  const nowhere = short.map((hunk) => ({ ...hunk, heading: '' }));
  assert.equal(planted(original, { of: nowhere }), 'its lines stand 2 times: src/pod.ts');
});

test('plant() takes no other code for that of a bug whose names are still there', () => {
  const other = `${original.replace(' && now - pod.readySince >= pod.minReady', '')}
export function isOld(pod: Pod, now: Instant): boolean {
  if (pod.isTerminating) return false;
  return pod.bornSince !== undefined && now - pod.bornSince >= pod.minReady;
}
`;
  assert.match(planted(other), /^src\/pod\.ts and no other source has its lines: return pod/);
});

test('plant() refuses code that is gone', () => {
  assert.match(planted('', { path: 'src/a.ts' }), /^there is no src\/pod\.ts, and no other source/);
});

/** Bugs of every room: of a method, a function, a table and a constant. */
const carried = [
  'no-uid-precondition',
  'no-freshness',
  'limit-one-too-high',
  'unknown-alarm-passes',
  'phased-plan-no-data-passes',
  'sroll-evicts-before-persisting',
  'zdb-race-of-two-zones-admitted',
  'permission-before-reservation',
  'observed-generation-ignored',
  'zau-share-rounded-down',
];

const checkout = SourceTree.read(join(import.meta.dirname, '../..'));
const mutants = new Map(
  (await readMutants(join(import.meta.dirname, '../..'))).map((mutant) => [mutant.name, mutant]),
);

for (const name of carried) {
  test(`${name} is planted alike after its file has moved and its declaration was renamed`, async () => {
    const mutant = mutants.get(name);
    assert.ok(mutant !== undefined);
    const bug = await readHunks(mutant);
    const [{ path, heading } = { path: '', heading: '' }] = bug;
    const own = heading.split('.').at(-1) ?? '';
    const names = new Map([[own, `${own}AsOfToday`]]);
    const before = plant(bug, checkout);
    assert.ok('changed' in before, JSON.stringify(before));
    const texts = checkout.paths().map((each): [string, string] => {
      const text = rename(checkout.text(each) ?? '', names);
      return each === path ? ['src/elsewhere/moved.ts', text] : [each, text];
    });
    const after = plant(bug, checkout.with(new Map(texts)));
    assert.ok('changed' in after, JSON.stringify(after));
    assert.equal(
      code(after.changed.get('src/elsewhere/moved.ts') ?? ''),
      code(rename(before.changed.get(path) ?? '', names)),
    );
  });
}

/** Without comments and blanks, of which a bug that is planted by its tokens may lose some. */
function code(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^\s*(?:\/\/|\/\*|\*)/.test(line))
    .join('')
    .replaceAll(/\s|,(?=\s*[)\]}])/g, '');
}
