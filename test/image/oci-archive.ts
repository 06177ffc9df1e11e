/** An image as a builder archives it: an OCI layout in a tar. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of the configuration of an image, what a runtime goes by. */
export interface ImageConfig {
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Cmd?: readonly string[];
    readonly Labels: Readonly<Record<string, string>>;
    readonly ExposedPorts: Readonly<Record<string, object>>;
  };
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
}

/** An archive that was opened into a folder. */
export class OciArchive {
  readonly config: ImageConfig;
  /** Digest of the manifest: of all that the image is. */
  readonly digest: string;
  readonly #folder: string;
  readonly #layers: readonly Descriptor[];

  /** @param folder is made for it */
  constructor(file: string, folder: string) {
    mkdirSync(folder);
    execFileSync('tar', ['--extract', `--file=${file}`, `--directory=${folder}`]);
    this.#folder = folder;
    const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as {
      readonly manifests: readonly Descriptor[];
    };
    const [{ digest } = { digest: '' }] = index.manifests;
    this.digest = digest;
    const manifest = this.#blob(digest) as {
      readonly config: Descriptor;
      readonly layers: readonly Descriptor[];
    };
    this.#layers = manifest.layers;
    this.config = this.#blob(manifest.config.digest) as ImageConfig;
  }

  /** Digests of the layers that `base` does not have: of what they hold, however it is packed. */
  layersAbove(base: OciArchive): readonly string[] {
    const below = base.config.rootfs.diff_ids;
    return this.config.rootfs.diff_ids.slice(below.length);
  }

  /** Unpacks the layers that `base` does not have, or all of them, one over the other, into `folder`. */
  unpack(folder: string, base?: OciArchive): void {
    mkdirSync(folder);
    for (const { digest } of this.#layers.slice(base?.config.rootfs.diff_ids.length ?? 0)) {
      const layer = this.#path(digest);
      const how = [
        '--extract',
        '--preserve-permissions',
        '--same-owner',
        '--keep-directory-symlink',
      ];
      execFileSync('tar', [...how, `--file=${layer}`, `--directory=${folder}`]);
    }
  }

  #blob(digest: string): unknown {
    return JSON.parse(readFileSync(this.#path(digest), 'utf8'));
  }

  #path(digest: string): string {
    return join(this.#folder, 'blobs', ...digest.split(':'));
  }
}
