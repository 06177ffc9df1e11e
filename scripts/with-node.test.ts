import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const script = join(import.meta.dirname, 'with-node.sh');

/** Runs `inside` with a checkout of its own, in a folder whose name has a space. */
async function inCheckout(inside: (root: string) => Promise<void> | void): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'with node-'));
  try {
    mkdirSync(join(root, 'scripts'));
    copyFileSync(script, join(root, 'scripts/with-node.sh'));
    writeFileSync(join(root, 'package.json'), '{\n  "engines": {\n    "node": ">=24.12"\n  }\n}\n');
    await inside(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** A program that says it is Node `version`, or does not start at all, and prints its name and arguments. */
function plantNode(folder: string, version: string): void {
  mkdirSync(folder, { recursive: true });
  const answer = version === 'broken' ? 'exit 127' : `echo ${version}`;
  const body = `#!/bin/sh\nif [ "$1" = -p ]; then ${answer}; else echo "${version}" "$@"; exit 7; fi\n`;
  writeFileSync(join(folder, 'node'), body);
  chmodSync(join(folder, 'node'), 0o755);
}

interface Machine {
  readonly system?: string;
  readonly bundled?: string;
}

function start(root: string, machine: Machine): { code: number | null; out: string; err: string } {
  const bin = join(root, 'node_modules/.bin');
  const system = join(root, 'system bin');
  if (machine.bundled !== undefined) plantNode(bin, machine.bundled);
  if (machine.system !== undefined) plantNode(system, machine.system);
  // The tools that the script itself uses; no Node among them.
  const tools = join(root, 'tools');
  mkdirSync(tools);
  for (const tool of ['dirname', 'sed', 'tr', 'awk']) {
    writeFileSync(join(tools, tool), `#!/bin/sh\nPATH=/usr/bin:/bin exec ${tool} "$@"\n`, {
      mode: 0o755,
    });
  }
  const path = [bin, system, tools].join(':');
  const run = spawnSync('/bin/sh', [join(root, 'scripts/with-node.sh'), 'main.ts', 'a b'], {
    env: { PATH: path },
    encoding: 'utf8',
  });
  return { code: run.status, out: run.stdout, err: run.stderr };
}

describe('with-node.sh', () => {
  const chosen: Record<string, Machine & { readonly expected: string }> = {
    'takes the bundled Node beside an old one of the system': {
      system: '20.20.2',
      bundled: '26.10.0',
      expected: '26.10.0',
    },
    'takes the bundled Node where the system has none': {
      bundled: '26.10.0',
      expected: '26.10.0',
    },
    'takes a newer Node of the system': {
      system: '26.11.0',
      bundled: '26.10.0',
      expected: '26.11.0',
    },
    'takes the bundled Node beside an older one that fits': {
      system: '24.12.0',
      bundled: '26.10.0',
      expected: '26.10.0',
    },
    'takes the oldest Node that fits where none is bundled': {
      system: '24.12.0',
      expected: '24.12.0',
    },
    'passes over a bundled Node that does not start here': {
      system: '24.13.1',
      bundled: 'broken',
      expected: '24.13.1',
    },
  };
  for (const [title, { expected, ...machine }] of Object.entries(chosen)) {
    test(`${title}, with arguments and exit code passed on`, async () => {
      await inCheckout((root) => {
        const { code, out, err } = start(root, machine);
        assert.deepEqual(
          { code, out, err },
          { code: 7, out: `${expected} main.ts a b\n`, err: '' },
        );
      });
    });
  }

  const refused: Record<string, Machine & { readonly found: string }> = {
    'says what to install where the only Node is too old': { system: '24.11.9', found: '24.11.9' },
    'says what to install where there is no Node': { found: 'none' },
  };
  for (const [title, { found, ...machine }] of Object.entries(refused)) {
    test(title, async () => {
      await inCheckout((root) => {
        const { code, out, err } = start(root, machine);
        assert.equal(code, 1);
        assert.equal(out, '');
        assert.equal(
          err,
          `rollout-operator needs Node 24.12 or newer and found ${found}: install one from https://nodejs.org and put it on the PATH.\n`,
        );
      });
    });
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    test(`passes ${signal} to the program and leaves no process behind`, async () => {
      const program = `process.on('${signal}', () => process.exit(3)); setInterval(() => {}, 1000); console.log(process.pid);`;
      const run = spawn('/bin/sh', [script, '-e', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const lines: readonly unknown[] = await once(run.stdout, 'data');
      // One process from start to end: the shell became the program.
      assert.equal(Number(String(lines[0])), run.pid);
      run.kill(signal);
      assert.deepEqual(await once(run, 'exit'), [3, null]);
    });
  }
});

test('package.json starts every program in the process that npm knows', () => {
  const path = join(import.meta.dirname, '..', 'package.json');
  const { scripts } = JSON.parse(readFileSync(path, 'utf8')) as { scripts: Record<string, string> };
  // npm hands SIGTERM to the shell that it starts for a script. Without `exec` that shell dies alone, and the
  // program runs on.
  const orphaning = Object.entries(scripts).filter(
    ([, command]) =>
      command.includes('with-node.sh') && !command.startsWith('exec sh scripts/with-node.sh '),
  );
  assert.deepEqual(orphaning, []);
});
