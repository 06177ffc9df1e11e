/**
 * Bundles the operator into build/: the program, the chunks of it that a run loads as it needs them, their source maps, the licences
 * of all that is in them, and a list of that (SBOM) as SPDX and as CycloneDX.
 *
 *     npm run do build [-- --out <folder>] [--node <absolute path of the Node that will run it>]
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, type Metafile, type Plugin } from 'esbuild';
import { errorOf } from '../src/base/error-of.ts';
import { getOrAdd } from '../src/base/get-or-add.ts';
import { demandOwnFolder, noteBuild } from './image/build-folder.ts';
import { epochOf, sbomFiles, writeSboms } from './image/sbom.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Only what reads a kubeconfig needs it, and no image has one: it is not in a production install either. */
const kubeconfigReader = '@kubernetes/client-node';

const programName = 'rollout-operator';

/**
 * Packages by the file that each becomes. Code that cannot wait asks for them by `require`, in `load-<name of the file>.ts`, when it
 * first needs them: chunks come of `import()` alone.
 */
const required: Readonly<Record<string, string>> = {
  promql: '@prometheus-io/lezer-promql',
  re2: 're2js',
};

/** The first line: half a generation of young objects is bounded (ADR 5), also where NODE_OPTIONS are others. */
const startedBy = (node: string | undefined): string =>
  `#!${node ?? '/usr/bin/env -S node'} --max-semi-space-size=4`;

/** What was written. */
export interface Bundle {
  /** Bytes of all files but source maps. */
  readonly size: number;
  /** Packages that parts of it are from, sorted. */
  readonly packages: readonly string[];
}

/** What differs from the program of an image. */
interface BundleOptions {
  /** What the program begins with; another one for measurements. */
  readonly entry?: string;
  /** Runs the program where it is started by its name. @default the one on the path */
  readonly node?: string;
}

/** Bundles into `folder`, which is emptied before. @throws where a package has no licence to keep */
export async function bundleInto(
  folder: string,
  { entry = 'src/command/image.ts', node }: BundleOptions = {},
): Promise<Bundle> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { [programName]: entry, ...required },
    // Written by us: source maps name sources as seen from here, so that every folder gets the same bytes.
    outdir: 'build',
    write: false,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // What is loaded by `import()` is a chunk, and so is what two of them share.
    splitting: true,
    chunkNames: '[name]-[hash]',
    format: 'esm',
    platform: 'node',
    // Of ES modules, most can be left out: they are taken also where Node itself takes CommonJS.
    mainFields: ['module', 'main'],
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    legalComments: 'none',
    external: [kubeconfigReader],
    plugins: [firstLine(join(root, entry), startedBy(node)), modulesOfNode, requiredFiles],
    metafile: true,
    logLevel: 'warning',
  });
  const packages = packagesIn(metafile);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { path, contents } of outputFiles)
    writeFileSync(join(folder, basename(path)), contents);
  chmodSync(join(folder, `${programName}.mjs`), 0o755);
  writeFileSync(join(folder, 'LICENSES.txt'), licences(packages));
  const programs = outputFiles.filter(({ path }) => !path.endsWith('.map'));
  return { size: programs.reduce((sum, { contents }) => sum + contents.length, 0), packages };
}

/** Begins the file that `entry` becomes with `line`, and no chunk. */
function firstLine(entry: string, line: string): Plugin {
  return {
    name: 'first-line',
    setup: (build) => {
      const filter = new RegExp(`/${basename(entry, '.ts')}\\.ts$`);
      build.onLoad({ filter }, ({ path }) =>
        path === entry
          ? { contents: `${line}\n${readFileSync(path, 'utf8')}`, loader: 'ts' }
          : undefined,
      );
    },
  };
}

/** Gives CommonJS the modules of Node that it asks for by `require`, which no ES module has. */
const modulesOfNode: Plugin = {
  name: 'modules-of-node',
  setup: (build) => {
    build.onResolve({ filter: /^(?:node:)?[a-z_\d]+(?:\/[a-z_]+)?$/ }, ({ path, kind }) =>
      kind === 'require-call' && isBuiltin(path) ? { path, namespace: 'node' } : undefined,
    );
    build.onLoad({ filter: /^/, namespace: 'node' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }));
  },
};

/** Has the {@link required} packages loaded from their files beside the program. */
const requiredFiles: Plugin = {
  name: 'required-files',
  setup: (build) => {
    const filter = new RegExp(`/load-(?:${Object.keys(required).join('|')})\\.ts$`);
    build.onLoad({ filter }, ({ path }) => {
      const name = basename(path, '.ts').slice('load-'.length);
      const parts = readFileSync(path, 'utf8').split(`require('${required[name]}')`);
      if (parts.length !== 2) {
        throw new Error(`${path} does not ask for its package by require('${required[name]}')`);
      }
      return { contents: parts.join(`require('./${name}.mjs')`), loader: 'ts' };
    });
  },
};

/** The innermost package that a file is in. */
const packageFolder = /^(?<folder>(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/** Of what was read, that of which something was written: the bundler leaves whole packages out. */
function packagesIn({ outputs }: Metafile): readonly string[] {
  const paths = Object.values(outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? path : []));
  const folders = paths.map((path) => packageFolder.exec(path)?.groups?.['folder']);
  return [...new Set(folders.filter((folder) => folder !== undefined))].toSorted();
}

/** What licences ask for: each of them, whole, with the packages that it is of. */
function licences(folders: readonly string[]): string {
  const own = readFileSync(join(root, 'LICENSE'), 'utf8');
  const names = new Map<string, string[]>();
  for (const folder of folders) getOrAdd(names, licenceOf(folder), () => []).push(nameOf(folder));
  const others = [...names].map(([text, having]) => `${having.join('\n')}\n\n${text}`);
  return [`rollout-operator\n\n${own}`, ...others].join(`\n${'-'.repeat(80)}\n\n`);
}

function nameOf(folder: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(join(root, folder, 'package.json'), 'utf8'),
  ) as Readonly<Record<'name' | 'version' | 'license', string | undefined>>;
  return `${name} ${version} (${license})`;
}

/** Packages of one repository, some of which were published without its licence; all of them state that they have it. */
const sharedLicence = {
  of: /^node_modules\/@aws-sdk\/[^/]+$/,
  in: 'node_modules/@aws-sdk/client-cloudwatch',
} as const;

function licenceOf(folder: string): string {
  const path = join(root, folder);
  const file = readdirSync(path).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) {
    if (!sharedLicence.of.test(folder) || folder === sharedLicence.in) {
      throw new Error(`${folder} has no file with its licence`);
    }
    return licenceOf(sharedLicence.in);
  }
  return readFileSync(join(path, file), 'utf8');
}

/**
 * Bundles into `folder`, and lists there what is in the bundle.
 *
 * @param node as of {@link bundleInto}
 * @param epoch when the lists say that they were made, in seconds since 1970
 * @throws where `folder` has what no build wrote, which would be lost
 */
export async function buildInto(
  folder: string,
  { node, epoch }: { readonly node: string | undefined; readonly epoch: number },
): Promise<Bundle> {
  demandOwnFolder(folder);
  const bundle = await bundleInto(folder, node === undefined ? {} : { node });
  // Before what takes long, so that a build that was broken off can be made again.
  noteBuild(folder, [...readdirSync(folder), ...sbomFiles]);
  writeSboms(folder, bundle.packages, epoch);
  return bundle;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: 'build' }, node: { type: 'string' } },
  });
  const { node, out } = values;
  try {
    const { size, packages } = await buildInto(resolve(out), { node, epoch: epochOf(process.env) });
    process.stdout.write(
      `${out}: ${(size / 1e6).toFixed(2)} MB without source maps, with parts of ${packages.length} packages\n`,
    );
  } catch (error) {
    process.stderr.write(`${errorOf(error).message}\n`);
    process.exitCode = 1;
  }
}
