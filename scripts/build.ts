/**
 * Bundles the operator into build/: one file of JavaScript, those that only tracing, alarms of CloudWatch, messages to Slack and
 * the command bedrock load, their source maps, the licences of all that is in them, and a list of that (SBOM) as SPDX and as
 * CycloneDX.
 *
 *     npm run build [-- --out <folder>] [--node <absolute path of the Node that will run it>]
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/** What only a run with tracing loads: the SDK of OpenTelemetry, in a file of its own next to the program. */
const tracing = { name: 'tracing', source: 'src/telemetry/tracing/open-tracing.ts' } as const;

/** What only a resource that names an alarm loads: the SDK of AWS, next to the program as well. */
const awsSdk = { name: 'aws-sdk', source: 'src/check/cloudwatch/aws-sdk.ts' } as const;

/** What only the first message to Slack loads: its library, next to the program as well. */
const slackSdk = {
  name: 'slack-sdk',
  source: 'src/notification/slack-client/slack-sdk.ts',
} as const;

/** The tools for a `bedrock.yaml`, which no operator loads: next to the program as well, with what they share with it in them. */
const bedrock = { name: 'bedrock', source: 'src/command/bedrock.ts' } as const;

/** What is in files of its own next to the program. */
const beside = [tracing, awsSdk, slackSdk, bedrock];

/** The first line: half a generation of young objects is bounded (ADR 5), also where NODE_OPTIONS are others. */
const startedBy = (node: string | undefined): string =>
  `#!${node ?? '/usr/bin/env -S node'} --max-semi-space-size=4`;

/** What is CommonJS asks for modules of Node by `require`, which no ES module has. */
const requireForCommonJs =
  "import{createRequire as requireIn}from'node:module';const require=requireIn(import.meta.url);";

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
    entryPoints: {
      [programName]: entry,
      ...Object.fromEntries(beside.map(({ name, source }) => [name, source])),
    },
    // Written by us: source maps name sources as seen from here, so that every folder gets the same bytes.
    outdir: 'build',
    write: false,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    legalComments: 'none',
    external: [kubeconfigReader],
    plugins: [filesBeside, awsModules, re2Inside],
    metafile: true,
    logLevel: 'warning',
    banner: { js: `${startedBy(node)}\n${requireForCommonJs}` },
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

/** Leaves the imports of what is {@link beside} to the program, which finds that beside itself. */
const filesBeside: Plugin = {
  name: 'files-beside',
  setup: (build) => {
    const files = new Map(beside.map(({ name, source }) => [join(root, source), `./${name}.mjs`]));
    build.onResolve({ filter: /^[#.]/ }, ({ path, resolveDir, kind }) => {
      if (kind !== 'dynamic-import') return undefined;
      const source = path.startsWith('#')
        ? join(root, 'src', path.slice(1))
        : join(resolveDir, path);
      const file = files.get(source);
      return file === undefined ? undefined : { path: file, external: true };
    });
  },
};

/** Takes the ES modules of the SDK of AWS, of which most can be left out, where Node itself takes CommonJS. */
const awsModules: Plugin = {
  name: 'aws-modules',
  setup: (build) => {
    build.onResolve({ filter: /^@aws-sdk\/client-cloudwatch$/ }, ({ path }) => {
      const folder = join(root, 'node_modules', path);
      const { module } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        readonly module: string;
      };
      return { path: join(folder, module), sideEffects: false };
    });
  },
};

/** What Node asks for the engine of RE2 by, and the bundler does not understand. */
const nodeRequire = /^import \{ createRequire \}.*\n|^const require.* = createRequire.*\n/gm;

/** Puts the engine of RE2 into the program as a function of its own, which runs when it is first asked for. */
const re2Inside: Plugin = {
  name: 're2-inside',
  setup: (build) => {
    build.onLoad({ filter: /\/load-re2\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (source.match(nodeRequire)?.length !== 2) {
        throw new Error(
          `${path} no longer asks for the engine as it did: see what is left out of it here`,
        );
      }
      return { contents: source.replace(nodeRequire, ''), loader: 'ts' };
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
