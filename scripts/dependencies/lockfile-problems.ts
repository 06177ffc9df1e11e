/** Finds what is wrong with package-lock.json, also where npm would notice it on another machine only. */

/** The fields of one lockfile entry that matter here. */
export interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
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

/** What `npm ci` would stumble over on some machine; empty when `lock` is complete and fits `project`. */
export function lockfileProblems(lock: Lockfile, project: ProjectDependencies): readonly string[] {
  const missing = missingPackages(lock).map(
    ({ by, name, version }) =>
      `"${by}" may install ${name}@${version}, but the lockfile has no entry for it: take a version that the registry serves for every platform`,
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
    .map(
      ([path]) =>
        `"${path}" has no integrity hash: take a version that the registry serves for every platform`,
    );
}

function sorted(versions: Readonly<Record<string, string>> = {}): string {
  return JSON.stringify(Object.entries(versions).sort(([a], [b]) => a.localeCompare(b, 'en')));
}
