/**
 * Builds the image of the operator with docker, podman or buildah, whichever works here, and writes what is in it (SBOM) to
 * build/.
 *
 *     npm run do image [-- --tag <name>] [--base <image>] [--build-image <image>] [--node <path in the base>]
 *                   [--archive <file>] [--builder <docker|podman|buildah>] [--npmrc <file>]
 *
 * With SOURCE_DATE_EPOCH the image says that it was made then, else at the time of the commit. The same sources and the same
 * base images give the same layers.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { errorOf } from '#base/error-of.ts';
import { buildInto } from './build.ts';
import { demandOwnFolder } from './image/build-folder.ts';
import {
  type Builder,
  type Command,
  findBuilder,
  type ImageBuild,
} from './image/image-builders.ts';
import { epochOf } from './image/sbom.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Where the Dockerfile is in a checkout. */
export const dockerfile = 'deploy/image/Dockerfile';

/** What one image is made of, beside the checkout. */
export interface ImageOptions {
  readonly tag: string;
  /** @default those of the Dockerfile */
  readonly base?: string | undefined;
  readonly buildImage?: string | undefined;
  /** Where the base has its Node. @default as the Dockerfile says */
  readonly node?: string | undefined;
  readonly npmrc?: string | undefined;
  /** Written next to the image, as an OCI layout in a tar. */
  readonly archive?: string | undefined;
}

/** Builds the image from the checkout at `context`. @throws {Error} where the builder fails, which has said why */
export function buildImage(builder: Builder, context: string, options: ImageOptions): void {
  const { tag, base, buildImage: by, node, npmrc, archive } = options;
  const image: ImageBuild = {
    context,
    dockerfile: join(context, dockerfile),
    tag,
    arguments: {
      VERSION: versionIn(context),
      REVISION: git(context, ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*']),
      ...(base !== undefined && { BASE_IMAGE: base }),
      ...(by !== undefined && { BUILD_IMAGE: by }),
      ...(node !== undefined && { NODE: node }),
    },
    epoch: imageEpoch(context),
    npmrc,
  };
  runLoudly(builder.build(image));
  if (archive === undefined) return;
  rmSync(archive, { force: true });
  runLoudly(builder.archive(tag, archive));
}

/** Runs one command of a builder; what it says is seen. @throws {Error} when it fails */
export function runLoudly([program, ...args]: Command): void {
  const { status, error } = spawnSync(program, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, DOCKER_BUILDKIT: '1' },
  });
  if (status !== 0) {
    const how = error?.message ?? `ended with ${status}`;
    throw new Error(`"${[program, ...args].join(' ')}" failed: ${how}`);
  }
}

function versionIn(context: string): string {
  const text = readFileSync(join(context, 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

function imageEpoch(context: string): number {
  if ((process.env['SOURCE_DATE_EPOCH'] ?? '') !== '') return epochOf(process.env);
  return epochOf({ SOURCE_DATE_EPOCH: git(context, ['log', '-1', '--format=%ct'], '') });
}

/** What git says of the checkout; `otherwise` where it is none, such as an archive of the sources. */
function git(context: string, args: readonly string[], otherwise = 'unknown'): string {
  const { status, stdout } = spawnSync('git', ['-C', context, ...args], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : otherwise;
}

/** Builds as the command line says. */
async function main(args: readonly string[]): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      tag: { type: 'string', default: `rollout-operator:${versionIn(root)}` },
      base: text,
      'build-image': text,
      node: text,
      archive: text,
      builder: text,
      npmrc: text,
    },
  });
  const { 'build-image': by, builder: wanted, archive, ...rest } = values;
  const lists = join(root, 'build');
  // Before minutes of work.
  demandOwnFolder(lists);
  const builder = findBuilder(wanted);
  buildImage(builder, root, {
    ...rest,
    buildImage: by,
    archive: archive === undefined ? undefined : resolve(archive),
  });
  await buildInto(lists, { node: values.node, epoch: imageEpoch(root) });
  process.stdout.write(
    `Built ${values.tag} with ${builder.name}; build/rollout-operator.spdx.json and .cdx.json list what is in it beside its base\n`,
  );
}

if (import.meta.main) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${errorOf(error).message}\n`);
    process.exitCode = 1;
  }
}
