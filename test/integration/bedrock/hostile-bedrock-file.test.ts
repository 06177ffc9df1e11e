/** Hostile: files that are small as texts, and large as trees, read in the shipped heap. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
/** MiB of heap: 48 % of the 200 MiB that the shipped manifests give. */
const shippedHeap = '--max-old-space-size=96';

function upTo(bytes: number, part: string): string {
  return part.repeat(Math.floor(bytes / part.length));
}

const files: Readonly<Record<string, string>> = {
  '200 KB of empty maps': `a: [${upTo(200_000, '{},')}{}]\n`,
  '200 KB of empty lists': `a: [${upTo(200_000, '[],')}[]]\n`,
  '200 KB of entries without a value': upTo(200_000, '-\n'),
  '59,000 open lists': upTo(59_000, '['),
  '200 KB of open lists': upTo(200_000, '['),
  'a MiB of short entries': upTo(1_048_000, '- a\n'),
  'a MiB of anchors': upTo(1_048_000, '- &a\n'),
  'a MiB of tags': upTo(1_048_000, '- !a\n'),
  '20,000 documents': upTo(80_000, '---\n'),
  'a MiB of comments': upTo(1_048_000, '#\n'),
  'a MiB of quotes': upTo(1_048_000, '"",'),
};

for (const [what, text] of Object.entries(files)) {
  test(`bedrock validate refuses ${what} with a sentence, in the shipped heap [found X-5]`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'hostile-bedrock-'));
    t.after(() => rm(folder, { recursive: true }));
    const file = join(folder, 'bedrock.yaml');
    await writeFile(file, text);
    const args = [shippedHeap, program, 'bedrock', 'validate', '-f', file];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.equal(status, 2, stderr.slice(-500));
    assert.match(stderr, /bedrock\.yaml(?::\d+)?: Cannot read as YAML: /);
  });
}
