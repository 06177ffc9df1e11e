/** helm and kubectl, which render what is installed: kept from an earlier run, or built with Go; never done without. */
import { execFile } from 'node:child_process';
import { access, constants, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, goBuild, hasGo } from './binaries.ts';

const run = promisify(execFile);

/** What the go.mod in the folder beside this file pins. */
const helm = { version: '3.22.0', module: 'helm', package: 'helm.sh/helm/v3/cmd/helm' };

type Environment = Readonly<Record<string, string | undefined>>;

/** What it takes to find it. */
export interface HelmOptions {
  readonly env: Environment;
  /** Told what takes long. */
  readonly say: (line: string) => void;
}

/**
 * The path of helm: from the user's cache folder, or built into it.
 *
 * @throws {Error} one sentence that says what to install, when there is none and no Go to build it
 */
export async function findHelm({ env, say }: HelmOptions): Promise<string> {
  const folder = join(cacheFolder(env), `helm-${helm.version}`);
  const path = join(folder, 'helm');
  const isThere = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (isThere) return path;
  if (!(await hasGo(env))) {
    throw new Error(
      `The chart is rendered with helm ${helm.version}: install Go 1.26 or newer to build it, or put it at ${path}`,
    );
  }
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(folder, '.building-'));
  try {
    say(`Building helm ${helm.version}, once; it takes about 4 minutes`);
    const ldflags = `-s -w -X helm.sh/helm/v3/internal/version.version=v${helm.version}`;
    await goBuild(
      { output: 'helm', module: helm.module, package: helm.package, ldflags },
      { env, work },
    );
    await rename(join(work, 'helm'), path);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return path;
}

/** How a tool ended. */
export interface ToolAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `path` in a home of its own, so that no setting of the user's counts. */
export async function runTool(
  path: string,
  args: readonly string[],
  home: string,
): Promise<ToolAnswer> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  try {
    const { stdout, stderr } = await run(path, [...args], { env, maxBuffer: 64 * 1024 * 1024 });
    return { code: 0, stdout, stderr };
  } catch (error) {
    if (!isEnd(error)) throw error;
    const { code, stdout, stderr } = error;
    return { code, stdout, stderr };
  }
}

/** Whether `error` tells of a program that ran and ended with a code, not of one that could not be started. */
function isEnd(error: unknown): error is Error & ToolAnswer {
  return error instanceof Error && 'code' in error && typeof error.code === 'number';
}
