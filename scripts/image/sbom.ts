/**
 * Lists what is in the bundle, as SPDX and as CycloneDX. `npm sbom` knows how; but `--omit=dev` leaves out a package of the
 * program that a tool needs, too, and without it every tool is listed. So all is asked for, and what the bundler put
 * in is kept.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A package by its name and version. */
interface Named {
  readonly name: string;
  readonly version: string;
}

/** An SPDX document, as far as npm writes it. */
export interface Spdx {
  readonly spdxVersion: string;
  readonly documentNamespace: string;
  readonly documentDescribes: readonly string[];
  readonly creationInfo: { readonly created: string; readonly creators: readonly string[] };
  readonly packages: readonly {
    readonly SPDXID: string;
    readonly name: string;
    readonly versionInfo: string;
  }[];
  readonly relationships: readonly {
    readonly spdxElementId: string;
    readonly relatedSpdxElement: string;
    readonly relationshipType: string;
  }[];
}

/** A CycloneDX document, as far as npm writes it. */
export interface CycloneDx {
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: {
    readonly timestamp: string;
    readonly tools: readonly { readonly vendor: string; readonly name: string }[];
    readonly component: Named & { readonly 'bom-ref': string };
  };
  readonly components: readonly (Named & { readonly 'bom-ref': string })[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** What an SBOM is narrowed to. */
export interface Contents {
  /** `name@version` of each package. */
  readonly packages: ReadonlySet<string>;
  /** When it was made, in seconds since 1970: no clock is read, so that the same sources give the same bytes. */
  readonly epoch: number;
}

/** Narrows what npm lists. @throws where npm does not know a package */
export function narrowSpdx(spdx: Spdx, { packages, epoch }: Contents): Spdx {
  const kept = spdx.packages.filter(
    ({ SPDXID, name, versionInfo }) =>
      spdx.documentDescribes.includes(SPDXID) || packages.has(`${name}@${versionInfo}`),
  );
  assertKnown(packages, new Set(kept.map(({ name, versionInfo }) => `${name}@${versionInfo}`)));
  const ids = new Set([...kept.map(({ SPDXID }) => SPDXID), 'SPDXRef-DOCUMENT']);
  const narrowed: Spdx = {
    ...spdx,
    documentNamespace: '',
    // Not npm's version, which is not ours to pin.
    creationInfo: { created: timeText(epoch), creators: ['Tool: npm sbom'] },
    packages: kept,
    relationships: spdx.relationships.filter(
      ({ spdxElementId, relatedSpdxElement }) =>
        ids.has(spdxElementId) && ids.has(relatedSpdxElement),
    ),
  };
  const prefix = spdx.documentNamespace.replace(/-[0-9a-f]{8}(?:-[0-9a-f]+){4}$/, '');
  return { ...narrowed, documentNamespace: `${prefix}-${uuidOf(narrowed)}` };
}

/** Narrows what npm lists. @throws where npm does not know a package */
export function narrowCycloneDx(
  cycloneDx: CycloneDx,
  { packages, epoch }: Contents,
  root: Named,
): CycloneDx {
  const kept = cycloneDx.components.filter(({ name, version }) =>
    packages.has(`${name}@${version}`),
  );
  assertKnown(packages, new Set(kept.map(({ name, version }) => `${name}@${version}`)));
  const { metadata } = cycloneDx;
  const refs = new Set([metadata.component['bom-ref'], ...kept.map((each) => each['bom-ref'])]);
  const narrowed: CycloneDx = {
    ...cycloneDx,
    serialNumber: '',
    metadata: {
      ...metadata,
      timestamp: timeText(epoch),
      tools: [{ vendor: 'npm', name: 'sbom' }],
      // npm takes the name of the folder.
      component: { ...metadata.component, name: root.name },
    },
    components: kept,
    dependencies: cycloneDx.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map((each) => ({ ...each, dependsOn: each.dependsOn.filter((ref) => refs.has(ref)) })),
  };
  return { ...narrowed, serialNumber: `urn:uuid:${uuidOf(narrowed)}` };
}

function assertKnown(wanted: ReadonlySet<string>, known: ReadonlySet<string>): void {
  const unknown = [...wanted].filter((name) => !known.has(name));
  if (unknown.length > 0) throw new Error(`npm sbom does not list ${unknown.join(', ')}`);
}

/** As SPDX wants it: without fractions. */
function timeText(epoch: number): string {
  return new Date(epoch * 1000).toISOString().replace('.000Z', 'Z');
}

/** An identifier that the same content gets again: a UUID of version 8, whose bits are ours to choose. */
function uuidOf(content: object): string {
  const digits = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}

/**
 * Writes both lists of the packages that are installed in `folders` into `into`.
 *
 * @param epoch when they say that they were made, in seconds since 1970
 * @throws where npm cannot tell
 */
export function writeSboms(into: string, folders: readonly string[], epoch: number): void {
  const packages = new Set(
    folders.map((folder) => {
      const { name, version } = manifestIn(folder);
      return `${name}@${version}`;
    }),
  );
  const contents = { packages, epoch };
  const write = (format: string, document: object): void =>
    writeFileSync(join(into, sbomFile(format)), `${JSON.stringify(document, undefined, 2)}\n`);
  write('spdx', narrowSpdx(askNpm('spdx') as Spdx, contents));
  write('cdx', narrowCycloneDx(askNpm('cyclonedx') as CycloneDx, contents, manifestIn('.')));
}

/** What {@link writeSboms} writes. */
export const sbomFiles: readonly string[] = ['spdx', 'cdx'].map(sbomFile);

function sbomFile(format: string): string {
  return `rollout-operator.${format}.json`;
}

/** Returns the time that builds are told to have been made at (reproducible-builds.org). @default 1970 */
export function epochOf(env: Readonly<Record<string, string | undefined>>): number {
  const text = env['SOURCE_DATE_EPOCH'] ?? '';
  if (text === '') return 0;
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new Error(`SOURCE_DATE_EPOCH must be whole seconds since 1970: got "${text}"`);
}

function manifestIn(folder: string): Named {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Named;
}

/** From the lockfile, which is the same wherever packages of other platforms were left out. */
function askNpm(format: 'spdx' | 'cyclonedx'): unknown {
  const args = [
    'sbom',
    '--package-lock-only',
    '--sbom-type=application',
    `--sbom-format=${format}`,
  ];
  const { status, stdout, stderr, error } = spawnSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (status !== 0) {
    throw new Error(`npm ${args.join(' ')} ended with ${status}: ${error?.message ?? stderr}`);
  }
  return JSON.parse(stdout);
}
