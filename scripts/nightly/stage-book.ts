/** Remembers how the stages of a commit ended, in the cache folder of the user, so that a night can be resumed. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StageResult } from './stage.ts';

/** Results by the names of stages, of one state of the checkout. */
export class StageBook {
  /** Where results and logs are. */
  readonly folder: string;

  /** @param folder made when it is missing */
  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** The path of a file of stage `name` that ends in `extension`. */
  path(name: string, extension: string): string {
    return join(this.folder, `${name.replaceAll(/[^\w-]+/g, '_')}.${extension}`);
  }

  /** How stage `name` ended; undefined where it has not run to its end. */
  read(name: string): StageResult | undefined {
    const path = this.path(name, 'json');
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as StageResult) : undefined;
  }

  /** Writes beside the file and renames, so that a night that is cut off leaves no half of a result. */
  write(result: StageResult): void {
    const path = this.path(result.name, 'json');
    writeFileSync(`${path}.new`, `${JSON.stringify(result, null, 2)}\n`);
    renameSync(`${path}.new`, path);
  }
}

/** Names what is checked out at `root`: the commit, with a digest behind it where files differ from it. */
export function stateOf(root: string): string {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
  const commit = git('rev-parse', '--short=12', 'HEAD').trim();
  const untracked = git('ls-files', '--others', '--exclude-standard').split('\n').filter(Boolean);
  const changes = git('diff', 'HEAD');
  if (changes === '' && untracked.length === 0) return commit;
  const digest = createHash('sha256').update(changes);
  for (const path of untracked) digest.update(path).update(readFileSync(join(root, path)));
  return `${commit}-${digest.digest('hex').slice(0, 8)}`;
}
