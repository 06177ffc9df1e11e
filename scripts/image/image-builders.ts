/** The programs that can build an image, and what each is told. */
import { spawnSync } from 'node:child_process';

/** What is built. */
export interface ImageBuild {
  /** The folder that the Dockerfile copies from. */
  readonly context: string;
  readonly dockerfile: string;
  readonly tag: string;
  readonly arguments: Readonly<Record<string, string>>;
  /** When the image says that it was made, in seconds since 1970. */
  readonly epoch: number;
  /** A file that npm is configured by while it builds, and that stays out of the image. */
  readonly npmrc?: string | undefined;
}

/** A program and its arguments. */
export type Command = readonly [string, ...(readonly string[])];

/** One of the programs. */
export interface Builder {
  readonly name: string;
  /** Succeeds where it can build. */
  readonly probe: Command;
  build(image: ImageBuild): Command;
  /** Writes the image `tag` into `file`, as an archive of the OCI layout. */
  archive(tag: string, file: string): Command;
}

/** How one command ended. */
export interface Ended {
  readonly status: number | null;
  readonly stderr: string;
  /** Where it could not be started. */
  readonly error?: Error | undefined;
}

function common({ dockerfile, tag, arguments: given, npmrc }: ImageBuild): readonly string[] {
  return [
    `--file=${dockerfile}`,
    `--tag=${tag}`,
    ...Object.entries(given).map(([name, value]) => `--build-arg=${name}=${value}`),
    ...(npmrc === undefined ? [] : [`--secret=id=npmrc,src=${npmrc}`]),
  ];
}

/** In the order in which they are tried. */
export const builders: readonly Builder[] = [
  {
    name: 'docker',
    // The client alone cannot build: asked is the daemon.
    probe: ['docker', 'version', '--format={{.Server.Version}}'],
    build: (image) => [
      'docker',
      'build',
      ...common(image),
      `--build-arg=SOURCE_DATE_EPOCH=${image.epoch}`,
      image.context,
    ],
    archive: (tag, file) => ['docker', 'save', `--output=${file}`, tag],
  },
  {
    name: 'podman',
    probe: ['podman', 'info'],
    build: (image) => ['podman', 'build', ...timed(image), image.context],
    archive: (tag, file) => ['podman', 'save', '--format=oci-archive', `--output=${file}`, tag],
  },
  {
    name: 'buildah',
    probe: ['buildah', 'info'],
    // It asks nothing of the kernel that a container in which CI runs would refuse.
    build: (image) => ['buildah', 'build', '--isolation=chroot', ...timed(image), image.context],
    archive: (tag, file) => ['buildah', 'push', tag, `oci-archive:${file}:${tag}`],
  },
];

/** The same time for the image and for each of its files. */
function timed(image: ImageBuild): readonly string[] {
  const { epoch } = image;
  return [
    ...common(image),
    `--build-arg=SOURCE_DATE_EPOCH=${epoch}`,
    `--timestamp=${epoch}`,
    '--format=oci',
  ];
}

/**
 * Returns the first that can build, or the one that is named.
 *
 * @throws {Error} with what each of them said, where none can
 */
export function findBuilder(
  wanted: string | undefined,
  run: (command: Command) => Ended = runQuietly,
): Builder {
  const tried = builders.filter(({ name }) => wanted === undefined || name === wanted);
  if (tried.length === 0) {
    const names = builders.map(({ name }) => name).join(', ');
    throw new Error(`--builder must be one of ${names}: got "${wanted}"`);
  }
  const refusals: string[] = [];
  for (const builder of tried) {
    const ended = run(builder.probe);
    if (ended.status === 0) return builder;
    refusals.push(`  ${builder.name}: ${whyOf(ended)}`);
  }
  throw new Error(
    [
      `Cannot build an image as ${wanted ?? 'none of docker, podman and buildah'} ${wanted === undefined ? 'works' : 'does not work'} here:`,
      ...refusals,
      'Start one of them, or install buildah, which needs no daemon ("apt-get install buildah" on Debian)',
    ].join('\n'),
  );
}

function whyOf({ status, stderr, error }: Ended): string {
  if (error !== undefined) {
    return 'code' in error && error.code === 'ENOENT' ? 'is not installed' : error.message;
  }
  const [said = ''] = stderr.trim().split('\n').slice(-1);
  return said === '' ? `ended with ${status}` : said;
}

function runQuietly([program, ...args]: Command): Ended {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  return { status, stderr: stderr ?? '', error };
}
