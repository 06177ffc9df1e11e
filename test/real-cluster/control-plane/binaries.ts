/** Where the binaries of the control plane come from: given, kept from an earlier run, or built with Go. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { access, constants, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The programs of a control plane, as absolute paths. */
export interface Binaries {
  readonly etcd: string;
  readonly apiServer: string;
  readonly controllerManager: string;
  /** The folder of all of them; of kubectl and our own programs too, unless it was given without. */
  readonly folder: string;
  /** Where they are from, for the report. */
  readonly source: string;
}

/** One set of versions, as the go.mod in its folder pins them. */
export interface Versions {
  readonly kubernetes: string;
  readonly etcd: string;
  /** The folder beside this file that has the go.mod. */
  readonly module: string;
}

const baseline: Versions = { kubernetes: '1.36.3', etcd: '3.6.8', module: 'kubernetes-1.36' };

/** The versions to test (LN-1). No newer minor than the baseline is published yet. */
export const versionsOf = Object.freeze({
  oldest: { kubernetes: '1.34.4', etcd: '3.6.8', module: 'kubernetes-1.34' },
  baseline,
  newest: baseline,
}) satisfies Readonly<Record<string, Versions>>;

/** How a version is chosen. */
export type VersionName = keyof typeof versionsOf;

const names = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const;

/** The folders beside this file that have Go programs of ours. */
const ownPrograms = ['kubebuilder-manager', 'peer-stand-in'] as const;

/** A Go program of ours. */
export type OwnProgram = (typeof ownPrograms)[number];

/**
 * What a program of ours is called once built: its source changes while the versions stay, so the name carries a digest
 * of it, and an older program that a cache kept is not taken for this one.
 */
export async function builtName(program: OwnProgram): Promise<string> {
  const folder = join(import.meta.dirname, '..', program);
  const digest = createHash('sha256');
  for (const file of (await readdir(folder)).toSorted()) {
    digest.update(`${file}\n`).update(await readFile(join(folder, file)));
  }
  return `${program}-${digest.digest('hex').slice(0, 12)}`;
}

/** What is built: clients too, so that their scenarios run wherever the lane does. */
export async function builtNames(): Promise<readonly string[]> {
  return [...names, 'kubectl', ...(await Promise.all(ownPrograms.map(builtName)))];
}

/** Where a program of ours is; undefined where the binaries were given without it. */
export async function ownProgramPath(
  program: OwnProgram,
  options: BinariesOptions,
): Promise<string | undefined> {
  const { folder } = await findBinaries(options);
  const name = await builtName(program);
  return (await missingIn(folder, [name])).length === 0 ? join(folder, name) : undefined;
}

/** The outside, as far as it matters here. */
export interface BinariesOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told what takes long. */
  readonly say: (line: string) => void;
  /** Which to find or build; a folder that is given has its own. @default baseline */
  readonly version?: VersionName;
}

/**
 * The binaries from `KUBEBUILDER_ASSETS`, else from the user's cache folder, else built into it.
 *
 * @throws {Error} one sentence that says what to install, when there are none and no Go to build them
 */
export async function findBinaries(options: BinariesOptions): Promise<Binaries> {
  const { env, say, version = 'baseline' } = options;
  const versions = versionsOf[version];
  const given = env['KUBEBUILDER_ASSETS'];
  if (given !== undefined && given !== '') {
    const missing = await missingIn(given, names);
    if (missing.length === 0) return binariesIn(given, 'KUBEBUILDER_ASSETS');
    throw new Error(`KUBEBUILDER_ASSETS names "${given}", which lacks ${missing.join(', ')}`);
  }
  const folder = join(cacheFolder(env), folderName(versions));
  const missing = await missingIn(folder, await builtNames());
  if (missing.length === 0) return binariesIn(folder, 'cache');
  await build({ folder, versions, missing }, options);
  say(`The binaries are kept in ${folder}`);
  return binariesIn(folder, 'built');
}

/** The folder that keeps what was built, by versions. */
export function folderName(versions: Versions): string {
  return `kubernetes-${versions.kubernetes}-etcd-${versions.etcd}`;
}

/** `rollout-operator` in the user's cache folder. */
export function cacheFolder(env: BinariesOptions['env']): string {
  const base = env['XDG_CACHE_HOME'];
  const isGiven = base !== undefined && base !== '';
  return join(isGiven ? base : join(env['HOME'] ?? homedir(), '.cache'), 'rollout-operator');
}

function binariesIn(folder: string, source: string): Binaries {
  return {
    etcd: join(folder, 'etcd'),
    apiServer: join(folder, 'kube-apiserver'),
    controllerManager: join(folder, 'kube-controller-manager'),
    folder,
    source: `${source} (${folder})`,
  };
}

async function missingIn(folder: string, wanted: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    wanted.map((name) =>
      access(join(folder, name), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  );
  return wanted.filter((_, index) => !found[index]);
}

interface Build {
  readonly folder: string;
  readonly versions: Versions;
  readonly missing: readonly string[];
}

/** Builds beside `folder` and renames each program, so that no other run ever sees a half of one. */
async function build(
  { folder, versions, missing }: Build,
  { env, say }: BinariesOptions,
): Promise<void> {
  if (!(await hasGo(env))) {
    throw new Error(
      'The real lane needs etcd, kube-apiserver and kube-controller-manager: install Go 1.26 or newer to build them, or set KUBEBUILDER_ASSETS to a folder that has them',
    );
  }
  const parent = join(folder, '..');
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(parent, '.building-'));
  try {
    say(`Building for Kubernetes ${versions.kubernetes}, once; all of it takes about 6 minutes`);
    for (const target of await targets(versions)) {
      if (!missing.includes(target.output)) continue;
      say(`  ${target.output}`);
      await goBuild(target, { env, work });
      await rename(join(work, target.output), join(folder, target.output));
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** A program and how it is built. */
export interface Target {
  readonly output: string;
  /** The folder beside this file that has the go.mod. */
  readonly module: string;
  readonly package: string;
  readonly ldflags: string;
}

async function targets(versions: Versions): Promise<readonly Target[]> {
  const [major = '', minor = ''] = versions.kubernetes.split('.');
  const set = (name: string, value: string): string =>
    `-X k8s.io/component-base/version.${name}=${value}`;
  // Clients read the version and refuse one that is no version.
  const stamped = [
    '-s -w',
    set('gitVersion', `v${versions.kubernetes}`),
    set('gitMajor', major),
    set('gitMinor', minor),
  ].join(' ');
  const { module } = versions;
  const kubernetes = (name: string): Target => ({
    output: name,
    module,
    package: `k8s.io/kubernetes/cmd/${name}`,
    ldflags: stamped,
  });
  const ours = ownPrograms.map(async (program): Promise<Target> => {
    const output = await builtName(program);
    return { output, module: program, package: '.', ldflags: '-s -w' };
  });
  return [
    { output: 'etcd', module, package: 'go.etcd.io/etcd/server/v3', ldflags: '-s -w' },
    kubernetes('kube-apiserver'),
    kubernetes('kube-controller-manager'),
    kubernetes('kubectl'),
    ...(await Promise.all(ours)),
  ];
}

/** Builds `target` into the folder `work`. @throws {Error} when Go does not */
export async function goBuild(
  target: Target,
  place: { readonly env: BinariesOptions['env']; readonly work: string },
): Promise<void> {
  const output = join(place.work, target.output);
  const args = ['build', '-trimpath', '-ldflags', target.ldflags, '-o', output, target.package];
  const child = spawn('go', args, {
    cwd: join(import.meta.dirname, '..', target.module),
    env: { ...place.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOWORK: 'off' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`Cannot build ${target.package}: "go build" ended with ${code}`);
}

/** Whether there is a Go to build with. */
export async function hasGo(env: BinariesOptions['env']): Promise<boolean> {
  const child = spawn('go', ['version'], { env: { ...env }, stdio: 'ignore' });
  return new Promise((resolve) => {
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  });
}
