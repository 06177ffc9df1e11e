/**
 * Images that stand in for the public ones, which not every machine that tests can pull: Debian's packages and the Node that
 * the tests run on. The one that runs the program has no shell; the one that bundles it has npm besides.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Builder } from '../../scripts/image/image-builders.ts';
import { runLoudly } from '../../scripts/image.ts';

/** The packages that Node asks for. */
const packages = ['ca-certificates', 'libatomic1', 'libstdc++6'];
/** What Node's own images have and npm or our scripts start. */
const tools = ['coreutils', 'dash', 'findutils', 'mawk', 'sed'];

/** Names of images that were made. */
export interface StandIns {
  readonly base: string;
  readonly build: string;
}

/** Makes both images; what they are made of is in `folder`. */
export function makeStandIns(builder: Builder, folder: string): StandIns {
  const names = { base: 'localhost/stand-in-base', build: 'localhost/stand-in-build' };
  // As in Debian from 13 on, /bin is a link.
  const mergedBin = '--setup-hook=mkdir -p "$1/usr/bin" && ln -s usr/bin "$1/bin"';
  unpack(join(folder, 'base'), packages, mergedBin);
  make(builder, { folder: join(folder, 'base'), tag: names.base }, [
    'FROM scratch',
    'ADD root.tar /',
    'COPY node /nodejs/bin/node',
  ]);
  const unconfigured = '--extract-hook=ln -sf dash "$1/bin/sh" && ln -sf mawk "$1/usr/bin/awk"';
  unpack(join(folder, 'build'), [...packages, ...tools], unconfigured);
  const npm = join(npmFolder(), 'bin/npm-cli.js');
  if (!existsSync(npm)) throw new Error(`Start the test by npm, whose program is not "${npm}"`);
  cpSync(npmFolder(), join(folder, 'build/npm'), { recursive: true, dereference: true });
  make(builder, { folder: join(folder, 'build'), tag: names.build }, [
    'FROM scratch',
    'ADD root.tar /',
    'COPY node /usr/local/bin/node',
    'COPY npm /usr/local/lib/node_modules/npm',
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
    ...trust(join(folder, 'build')),
    'ENV PATH=/usr/local/bin:/usr/bin:/bin',
  ]);
  return names;
}

/** Where npm is, which runs this. */
function npmFolder(): string {
  return join(process.env['npm_execpath'] ?? '', '../..');
}

/** Lets npm trust whom the machine's npm trusts: a mirror may have a certificate of its own. */
function trust(folder: string): readonly string[] {
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  if (file === undefined || !existsSync(file)) return [];
  copyFileSync(file, join(folder, 'trusted.crt'));
  return ['COPY trusted.crt /trusted.crt', 'ENV NODE_EXTRA_CA_CERTS=/trusted.crt'];
}

/** Unpacks Debian packages, which are not configured: so no shell is needed, and none is there. */
function unpack(folder: string, include: readonly string[], hook: string): void {
  mkdirSync(folder, { recursive: true });
  const sources = ['/etc/apt/sources.list', '/etc/apt/sources.list.d/debian.sources'];
  const args = [
    '--quiet',
    '--variant=extract',
    `--include=${include.join(',')}`,
    hook,
    '--format=tar',
    '',
    join(folder, 'root.tar'),
    ...sources.filter((path) => existsSync(path)),
  ];
  execFileSync('mmdebstrap', args, { stdio: ['ignore', 'inherit', 'inherit'] });
  copyFileSync(process.execPath, join(folder, 'node'));
}

function make(
  builder: Builder,
  { folder, tag }: { readonly folder: string; readonly tag: string },
  lines: readonly string[],
): void {
  const dockerfile = join(folder, 'Dockerfile');
  writeFileSync(dockerfile, `${lines.join('\n')}\n`);
  runLoudly(builder.build({ context: folder, dockerfile, tag, arguments: {}, epoch: 0 }));
}
