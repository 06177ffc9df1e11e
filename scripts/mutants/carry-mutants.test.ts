import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { carryMutants } from './carry-mutants.ts';
import { readMutants } from './mutant.ts';

const patch = `Bug: the total forgets what came before
Test: src/total.test.ts
Name: total() adds up

--- a/src/total.ts
+++ b/src/total.ts
@@ -2,2 +2,2 @@ total
   const sum = former + added;
-  return sum < highest ? sum : highest;
+  return added < highest ? added : highest;
`;

const lost = patch.replaceAll('former + added', 'earlier + added + rest');

const root = mkdtempSync(join(tmpdir(), 'carry-mutants-test-'));
after(() => rmSync(root, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

test('carryMutants() writes the path, the test, the names and the lines of today, once', async () => {
  write({
    'test/mutants/total-forgets.patch': patch,
    'test/mutants/total-lost.patch': lost,
    'src/sums/bounded-total.ts': `/** Moved here. */

export function boundedTotal(former: number, added: number): number {
  const sum = former + added;
  return sum < highest ? sum : highest;
}
`,
    'src/sums/total.test.ts': `test('total() adds up', () => undefined);\n`,
  });
  const mutants = await readMutants(root);
  assert.deepEqual(await carryMutants(root, mutants), [
    'total-forgets: written',
    'total-lost: no place: there is no src/total.ts, and no other source has its lines: return sum < highest ? sum : highest;',
  ]);
  assert.equal(
    readFileSync(join(root, 'test/mutants/total-forgets.patch'), 'utf8'),
    `Bug: the total forgets what came before
Test: src/sums/total.test.ts
Name: total() adds up

--- a/src/sums/bounded-total.ts
+++ b/src/sums/bounded-total.ts
@@ -4,3 +4,3 @@ boundedTotal
   const sum = former + added;
-  return sum < highest ? sum : highest;
+  return added < highest ? added : highest;
 }
`,
  );
  assert.equal(readFileSync(join(root, 'test/mutants/total-lost.patch'), 'utf8'), lost);
  const [forgets] = await readMutants(root);
  assert.ok(forgets !== undefined);
  assert.deepEqual(await carryMutants(root, [forgets]), []);
});
