import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const example = fileURLToPath(new URL('../../../examples/bedrock/bedrock.yaml', import.meta.url));

function bedrock(args: readonly string[], input = ''): ReturnType<typeof spawnSync> {
  const options = { input, encoding: 'utf8', timeout: 30_000 } as const;
  return spawnSync(process.execPath, [program, 'bedrock', ...args], options);
}

test('the program has bedrock validate find the example in order', () => {
  const { status, stdout, stderr } = bedrock(['validate', '-f', example]);
  assert.deepEqual([status, stdout, stderr], [0, 'kv/dev: in order\nkv/prod: in order\n', '']);
});

test('the program has bedrock convert read its standard input, and say what is wrong with it', () => {
  const args = ['convert', '-f', '-', '--service', 'kv', '--stage', 'dev'];
  const image = ['--image', `kv=registry.example/kv@sha256:${'0'.repeat(64)}`];
  const text = readFileSync(example, 'utf8');
  const made = bedrock([...args, ...image], text);
  assert.deepEqual([made.status, made.stderr], [0, '']);
  assert.match(
    String(made.stdout),
    /^---\napiVersion: policy\/v1\n[^]*\n---\napiVersion: bedrock\./,
  );
  const refused = bedrock(args, text);
  assert.deepEqual([refused.status, refused.stdout], [2, '']);
  assert.match(
    String(refused.stderr),
    /^standard input:\d+: .*image is not given: add --image kv=/,
  );
});

test('the program has bedrock run ask for --yes where there is no terminal, with exit code 2', () => {
  const args = ['run', '-f', example, '--service', 'kv', '--stage', 'dev'];
  const image = ['--image', `kv=registry.example/kv@sha256:${'0'.repeat(64)}`];
  const { status, stderr } = bedrock([...args, ...image]);
  assert.deepEqual(
    [status, stderr],
    [
      2,
      'There is no terminal to ask at between two phases: give --yes to go on without being asked\n',
    ],
  );
});
