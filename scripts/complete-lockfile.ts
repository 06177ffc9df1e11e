/**
 * Completes package-lock.json with the optional packages of all platforms. Some registries serve only those
 * of one platform; `npm install` then writes a lockfile without the others, and `npm ci` refuses it on every
 * machine that can see them ("Missing: … from lock file").
 *
 * `npm run lockfile` writes; `lockfileProblems` is what the test asks.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The fields of one lockfile entry that matter here; all others are kept as they are. */
export interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly libc?: string | readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** A package-lock.json of version 3; `packages` is keyed by path, the project itself by `''`. */
export interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** Dependencies of the project itself, as its package.json states them. */
export type ProjectDependencies = Pick<
  LockedPackage,
  'dependencies' | 'devDependencies' | 'optionalDependencies'
>;

const operatingSystems =
  /^(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)$/;
const processors = /^(arm|arm64|ia32|loong64|mips64el|ppc64|riscv64|s390x|wasm32|x64)$/;
const libraries: Readonly<Record<string, string>> = {
  gnu: 'glibc',
  gnueabihf: 'glibc',
  musl: 'musl',
  musleabihf: 'musl',
};

/** Whether the package at `from` finds `name`: beside it or in a node_modules further up, as Node looks for it. */
function isLocked(lock: Lockfile, from: string, name: string): boolean {
  const folders =
    from === ''
      ? ['']
      : from.split('/node_modules/').map((_, index, parts) => {
          return `${parts.slice(0, index + 1).join('/node_modules/')}/`;
        });
  return ['', ...folders].some((folder) => `${folder}node_modules/${name}` in lock.packages);
}

/** The platform that a package such as `@oxlint/binding-linux-arm64-musl` is for; undefined when its name tells none. */
function platformOf(name: string): Pick<LockedPackage, 'os' | 'cpu' | 'libc'> | undefined {
  const words = name.split(/[/-]/);
  const os = words.find((word) => operatingSystems.test(word));
  const cpu = words.find((word) => processors.test(word));
  if (cpu === undefined || (os === undefined && cpu !== 'wasm32')) return undefined;
  const libc = os === 'linux' ? words.map((word) => libraries[word]).find(Boolean) : undefined;
  return {
    cpu: [cpu],
    ...(os === undefined ? {} : { os: [os] }),
    ...(libc === undefined ? {} : { libc: [libc] }),
  };
}

interface MissingPackage {
  readonly by: string;
  readonly name: string;
  readonly version: string;
}

function missingPackages(lock: Lockfile): readonly MissingPackage[] {
  return Object.entries(lock.packages).flatMap(([by, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !isLocked(lock, by, name))
      .map(([name, version]) => ({ by, name, version })),
  );
}

function withoutAddress(entry: LockedPackage): LockedPackage {
  const { resolved, ...rest } = entry;
  return resolved === undefined ? entry : rest;
}

function entryFor(lock: Lockfile, missing: MissingPackage): LockedPackage {
  const { by, name, version } = missing;
  const platform = platformOf(name);
  if (platform === undefined || !/^\d+\.\d+\.\d+/.test(version)) {
    throw new Error(
      `Cannot complete package-lock.json as "${by}" wants ${name}@${version}, and only an exact version of a package named after its platform can be added without the registry`,
    );
  }
  const dev = lock.packages[by]?.dev === true ? { dev: true } : {};
  // In the order in which npm writes them, so that its next writing changes nothing.
  const fields = Object.entries({ ...dev, optional: true, ...platform });
  const ordered = fields.toSorted(([a], [b]) => a.localeCompare(b, 'en'));
  return { version, ...Object.fromEntries(ordered) };
}

/**
 * `lock` with an entry (version, platform, optional) for each optional package that it lacks, and without
 * `resolved` of a registry. Added entries carry no integrity, which only who sees the package can tell.
 *
 * @throws {Error} when a missing package's name does not tell its platform
 */
export function completeLockfile<L extends Lockfile>(lock: L): L {
  const added = missingPackages(lock).map(
    (missing) => [`node_modules/${missing.name}`, entryFor(lock, missing)] as const,
  );
  const packages = [...Object.entries(lock.packages), ...added]
    .map(([path, entry]) => [path, withoutAddress(entry)] as const)
    .sort(([a], [b]) => (a === '' ? -1 : b === '' ? 1 : a.localeCompare(b, 'en')));
  return { ...lock, packages: Object.fromEntries(packages) };
}

/** What `npm ci` would stumble over on some machine; empty when `lock` is complete and fits `project`. */
export function lockfileProblems(lock: Lockfile, project: ProjectDependencies): readonly string[] {
  const missing = missingPackages(lock).map(
    ({ by, name, version }) =>
      `"${by}" may install ${name}@${version}, but the lockfile has no entry for it: run \`npm run lockfile\``,
  );
  const hosts = Object.entries(lock.packages)
    .filter(([, { resolved }]) => resolved !== undefined)
    .map(([path, { resolved }]) => `"${path}" names where it was fetched: ${String(resolved)}`);
  const stated = (['dependencies', 'devDependencies', 'optionalDependencies'] as const)
    .filter((kind) => sorted(lock.packages['']?.[kind]) !== sorted(project[kind]))
    .map((kind) => `the ${kind} of package.json and of the lockfile differ`);
  return [...missing, ...hosts, ...unverified(lock), ...stated];
}

/** Packages that nobody could tell from others of their name and version. */
function unverified(lock: Lockfile): readonly string[] {
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path !== '' && entry.integrity === undefined)
    .filter(([, entry]) => !isToolOfAnotherPlatform(entry))
    .map(([path]) => `"${path}" has no integrity hash: write the lockfile where npm can see it`);
}

/**
 * Whether npm installs it on none of the platforms that this project is worked on: the registry that the lockfile is
 * written behind does not serve it, so that its hash is not known here.
 */
export function isToolOfAnotherPlatform({ dev, optional, os, cpu, libc }: LockedPackage): boolean {
  if (dev !== true || optional !== true || os === undefined) return false;
  const isOurs =
    os.includes('linux') && (cpu?.includes('x64') ?? true) && (libc?.includes('glibc') ?? true);
  return !isOurs;
}

function sorted(versions: Readonly<Record<string, string>> = {}): string {
  return JSON.stringify(Object.entries(versions).sort(([a], [b]) => a.localeCompare(b, 'en')));
}

if (import.meta.main) {
  const path = join(import.meta.dirname, '..', 'package-lock.json');
  const lock = JSON.parse(readFileSync(path, 'utf8')) as Lockfile;
  const complete = completeLockfile(lock);
  writeFileSync(path, `${JSON.stringify(complete, null, 2)}\n`);
  const count = Object.keys(complete.packages).length - Object.keys(lock.packages).length;
  process.stdout.write(`package-lock.json: ${count} platform packages added\n`);
}
