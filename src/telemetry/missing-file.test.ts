import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { errorOf } from '#base/error-of.ts';
import { withMissingFile } from './missing-file.ts';

const advice =
  'keep all files of the build in the folder of the program, and restart it after a new build';

describe('withMissingFile()', () => {
  const folder = mkdtempSync(join(tmpdir(), 'a build äö 日本 #%41 '));
  const gone = join(folder, 'gone.mjs');
  const present = {
    asking: "import './gone.mjs'",
    half: 'export const one = [1, ',
    failing: "throw new Error('as it is')",
  };
  for (const [name, text] of Object.entries(present)) {
    writeFileSync(join(folder, `${name}.mjs`), text);
  }
  after(() => rmSync(folder, { recursive: true }));

  const said: Readonly<Record<string, string>> = {
    gone: `the file ${gone} is missing: ${advice}`,
    asking: `the file ${gone} is missing: ${advice}`,
    half: `a file of the program is damaged (Unexpected end of input): ${advice}`,
    failing: 'as it is',
  };
  for (const [name, message] of Object.entries(said)) {
    test(`says what is wrong with the file "${name}" that is imported`, async () => {
      const { href } = pathToFileURL(join(folder, `${name}.mjs`));
      await assert.rejects(import(href).catch(withMissingFile), { message });
    });

    test(`says what is wrong with the file "${name}" that is required`, () => {
      const require = createRequire(join(folder, 'program.mjs'));
      assert.throws(() => loadedBy(() => require(`./${name}.mjs`)), { message });
    });
  }

  test('leaves a package that is not installed as it is', () => {
    const name = 'no-such-package';
    const require = createRequire(join(folder, 'program.mjs'));
    assert.throws(
      () => loadedBy(() => require(name)),
      (error) => errorOf(error).message.startsWith("Cannot find module 'no-such-package'\n"),
    );
  });
});

function loadedBy(load: () => unknown): unknown {
  try {
    return load();
  } catch (error) {
    return withMissingFile(error);
  }
}
