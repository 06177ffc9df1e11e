/** The programs of others that the mixin is rendered and tried with. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { cacheFolder } from '../real-cluster/control-plane/binaries.ts';

const module = join(import.meta.dirname, 'jsonnet');
const library = 'github.com/google/go-jsonnet';

/** What a program answered. */
export interface Answer {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a program is run. */
export interface Run {
  readonly path: string;
  readonly args: readonly string[];
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
}

/** Runs a program to its end. @throws {Error} when it cannot be started */
export async function run({
  path,
  args,
  folder,
  env = process.env,
  input = '',
}: Run): Promise<Answer> {
  const child = spawn(path, [...args], { cwd: folder, env, stdio: 'pipe' });
  child.stdin.on('error', () => undefined).end(input);
  const exit = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    exit,
  ]);
  return { code: code ?? undefined, stdout, stderr };
}

/**
 * Runs `promtool`, which Debian has in its package `prometheus`.
 *
 * @throws {Error} one sentence that says what to install, when there is none
 */
export async function promtool(args: readonly string[], input = ''): Promise<Answer> {
  try {
    return await run({ path: 'promtool', args, input });
  } catch (error) {
    throw new Error(
      'promtool is missing: install the Debian package prometheus, or put it into PATH',
      {
        cause: error,
      },
    );
  }
}

/**
 * The path of jsonnet: kept from an earlier run in the user's cache folder, else built into it with Go.
 *
 * @throws {Error} one sentence that says what to install, when there is none and no Go to build it
 */
export async function findJsonnet(
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const version = await pinnedVersion();
  const folder = cacheFolder(env);
  const path = join(folder, `jsonnet-${version}`);
  const isKept = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isKept) await build(path, { folder, env });
  return path;
}

async function pinnedVersion(): Promise<string> {
  const found = new RegExp(`${library} (v\\S+)`).exec(
    await readFile(join(module, 'go.mod'), 'utf8'),
  );
  if (found?.[1] === undefined) throw new Error(`${module}/go.mod does not require ${library}`);
  return found[1];
}

/** Builds beside `path` and renames, so that no other run ever sees a half of it. */
async function build(
  path: string,
  {
    folder,
    env,
  }: { readonly folder: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(folder, '.building-'));
  try {
    const output = join(work, 'jsonnet');
    const args = [
      'build',
      '-trimpath',
      '-ldflags',
      '-s -w',
      '-o',
      output,
      `${library}/cmd/jsonnet`,
    ];
    const settings = { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOWORK: 'off' };
    const go = { path: 'go', args, folder: module, env: { ...env, ...settings } };
    const { code, stderr } = await run(go).catch((error: unknown) => {
      throw new Error('jsonnet is not built yet: install Go 1.26 or newer to build it', {
        cause: error,
      });
    });
    if (code !== 0)
      throw new Error(`Cannot build jsonnet: "go build" ended with ${code}: ${stderr}`);
    await rename(output, path);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
