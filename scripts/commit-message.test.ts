import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { messageProblems } from './commit-message.ts';
import { tasks } from './tasks/tasks.ts';

const body = 'It was too slow.\n\nChecked: 12 ms, before 40 ms.\n';

describe('messageProblems()', () => {
  const right: Record<string, string> = {
    'a subject of 72 characters with a body': `${'s'.repeat(72)}\n\n${body}`,
    'a perf with a figure': `perf(control): plan once\n\n${body}`,
    'a merge': "Merge branch 'a'\n",
    'what is to be melted into another': 'fixup! perf(control): plan once\n',
    'comments of git': `fix: a\n# Please enter\n\n${body}# On branch a\n`,
    'the change itself below the scissors': `fix: a\n\nb\n# ---- >8 ----\n${'d'.repeat(100)}\n`,
  };
  for (const [what, message] of Object.entries(right)) {
    test(`finds nothing wrong with ${what}`, () => assert.deepEqual(messageProblems(message), []));
  }

  const wrong: Record<string, { readonly message: string; readonly want: readonly string[] }> = {
    'a subject of 73 characters': {
      message: `${'ä'.repeat(73)}\n\n${body}`,
      want: ['The subject has 73 characters, and must have 72 at most.'],
    },
    'a message without a body': {
      message: 'fix: a\n\n# On branch a\n',
      want: [
        'There is no body: say what was wrong or missing, why this way, and how it was checked.',
      ],
    },
    'a body that begins in the second line': {
      message: `fix: a\n${body}`,
      want: ['The second line must be empty: the subject ends with the first.'],
    },
    'a perf whose figure is in its subject only': {
      message: 'perf(control): plan 2 times\n\nIt was too slow.\n',
      want: ['The body of a perf has no figure: say what was measured before and after.'],
    },
  };
  for (const [what, { message, want }] of Object.entries(wrong)) {
    test(`finds ${what}`, () => assert.deepEqual(messageProblems(message), want));
  }
});

describe('npm run do hooks', () => {
  const root = mkdtempSync(join(tmpdir(), 'hooks-'));
  after(() => rmSync(root, { recursive: true }));

  /** Runs git in the scratch repository, without what the environment says of another one. */
  function git(...args: readonly string[]): {
    readonly status: number | null;
    readonly stderr: string;
  } {
    const env = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
    return spawnSync('git', [...identity, ...args], {
      cwd: root,
      encoding: 'utf8',
      env: Object.fromEntries(env),
    });
  }

  before(() => {
    const command = tasks.get('hooks')?.command ?? '';
    const [, folder = ''] = /^git config core\.hooksPath (\S+)$/.exec(command) ?? [];
    git('init', '--quiet');
    git('config', 'core.hooksPath', join(import.meta.dirname, '..', folder));
  });

  test('has git refuse a commit without a body, and says why', () => {
    const { status, stderr } = git('commit', '--quiet', '--allow-empty', '-m', 'fix: a');
    assert.equal(status, 1);
    assert.match(stderr, /There is no body/);
  });

  test('has git make a commit that is right', () => {
    const { status, stderr } = git(
      'commit',
      '--quiet',
      '--allow-empty',
      '-m',
      'fix: a',
      '-m',
      body,
    );
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  });
});
