/**
 * Bundles the operator into build/: one file of JavaScript, one that only tracing loads, their source maps, and the
 * licences of all that is in them.
 *
 *     npm run build [-- --out <folder>]
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, type Metafile, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Only what reads a kubeconfig needs it, and no image has one: it is not in a production install either. */
const kubeconfigReader = '@kubernetes/client-node';

const programName = 'rollout-operator';

/** What only a run with tracing loads: the SDK of OpenTelemetry, in a file of its own beside the program. */
const tracing = { name: 'tracing', source: 'src/telemetry/open-tracing.ts' } as const;

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

/**
 * Bundles into `folder`, which is emptied before.
 *
 * @param entry what the program begins with; another one for measurements @throws where a package has no licence to keep
 */
export async function bundleInto(
  folder: string,
  entry: string = 'src/command/image.ts',
): Promise<Bundle> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { [programName]: entry, [tracing.name]: tracing.source },
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
    plugins: [tracingBeside],
    metafile: true,
    logLevel: 'warning',
    banner: { js: requireForCommonJs },
  });
  const packages = packagesIn(metafile);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { path, contents } of outputFiles)
    writeFileSync(join(folder, basename(path)), contents);
  writeFileSync(join(folder, 'LICENSES.txt'), licences(packages));
  const programs = outputFiles.filter(({ path }) => !path.endsWith('.map'));
  return { size: programs.reduce((sum, { contents }) => sum + contents.length, 0), packages };
}

/** Leaves the import of {@link tracing} to the program, which finds it beside itself. */
const tracingBeside: Plugin = {
  name: 'tracing-beside',
  setup: (build) => {
    build.onResolve({ filter: /^#telemetry\/open-tracing\.ts$/ }, () => ({
      path: `./${tracing.name}.mjs`,
      external: true,
    }));
  },
};

/** The innermost package that a file is in. */
const packageFolder = /^(?<folder>(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//;

function packagesIn({ inputs }: Metafile): readonly string[] {
  const folders = Object.keys(inputs).map((path) => packageFolder.exec(path)?.groups?.['folder']);
  return [...new Set(folders.filter((folder) => folder !== undefined))].toSorted();
}

/** What licences ask for: each of them, whole, with the package that it is of. */
function licences(folders: readonly string[]): string {
  const own = readFileSync(join(root, 'LICENSE'), 'utf8');
  const others = folders.map((folder) => `${nameOf(folder)}\n\n${licenceOf(folder)}`);
  return [`rollout-operator\n\n${own}`, ...others].join(`\n${'-'.repeat(80)}\n\n`);
}

function nameOf(folder: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(join(root, folder, 'package.json'), 'utf8'),
  ) as Readonly<Record<'name' | 'version' | 'license', string | undefined>>;
  return `${name} ${version} (${license})`;
}

function licenceOf(folder: string): string {
  const path = join(root, folder);
  const file = readdirSync(path).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no file with its licence`);
  return readFileSync(join(path, file), 'utf8');
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: 'build' } } });
  const folder = join(process.cwd(), values.out);
  if (
    existsSync(folder) &&
    !existsSync(join(folder, 'LICENSES.txt')) &&
    readdirSync(folder).length > 0
  ) {
    throw new Error(`${folder} holds other files: name another folder, or remove them`);
  }
  const { size, packages } = await bundleInto(folder);
  process.stdout.write(
    `${values.out}: ${(size / 1e6).toFixed(2)} MB without source maps, with parts of ${packages.length} packages\n`,
  );
}
