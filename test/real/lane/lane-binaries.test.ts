import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  builtName,
  builtNames,
  cacheFolder,
  findBinaries,
  folderName,
  ownProgramPath,
  versionsOf,
} from '../../real-cluster/control-plane/binaries.ts';
import { findHelm } from '../../real-cluster/control-plane/install-tools.ts';

const names = ['etcd', 'kube-apiserver', 'kube-controller-manager'];
const say = (): void => undefined;

describe('findBinaries()', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'binaries-'));
  });

  after(async () => {
    await rm(folder, { recursive: true });
  });

  async function fill(path: string, files: readonly string[]): Promise<string> {
    await mkdir(path, { recursive: true });
    for (const file of files) await writeFile(join(path, file), '', { mode: 0o755 });
    return path;
  }

  test('takes those that KUBEBUILDER_ASSETS names before those in the cache', async () => {
    const given = await fill(join(folder, 'given'), names);
    const cache = join(folder, 'cache');
    await fill(
      join(cache, 'rollout-operator', folderName(versionsOf.baseline)),
      await builtNames(),
    );
    const env = { KUBEBUILDER_ASSETS: given, XDG_CACHE_HOME: cache };
    assert.equal((await findBinaries({ env, say })).etcd, join(given, 'etcd'));
  });

  test('names what the folder of KUBEBUILDER_ASSETS lacks', async () => {
    const given = await fill(join(folder, 'partial'), ['etcd']);
    await assert.rejects(
      findBinaries({ env: { KUBEBUILDER_ASSETS: given }, say }),
      /lacks kube-apiserver, kube-controller-manager$/,
    );
  });

  test('takes those in the folder of its versions in the cache', async () => {
    const cache = join(folder, 'cache-only');
    const path = await fill(
      join(cache, 'rollout-operator', 'kubernetes-1.36.3-etcd-3.6.8'),
      await builtNames(),
    );
    const { apiServer } = await findBinaries({ env: { XDG_CACHE_HOME: cache }, say });
    assert.equal(apiServer, join(path, 'kube-apiserver'));
  });

  test('takes the folder of the version that is asked for', async () => {
    const cache = join(folder, 'cache-oldest');
    const path = await fill(
      join(cache, 'rollout-operator', 'kubernetes-1.34.4-etcd-3.6.8'),
      await builtNames(),
    );
    const env = { XDG_CACHE_HOME: cache };
    const { etcd } = await findBinaries({ env, say, version: 'oldest' });
    assert.equal(etcd, join(path, 'etcd'));
  });

  test('does not take a manager of another source for that of this checkout', async () => {
    const cache = join(folder, 'cache-stale');
    const stale = [...names, 'kubectl', 'kubebuilder-manager', 'kubebuilder-manager-000000000000'];
    await fill(join(cache, 'rollout-operator', folderName(versionsOf.baseline)), stale);
    const env = { XDG_CACHE_HOME: cache, PATH: folder };
    await assert.rejects(findBinaries({ env, say }), /install Go/);
    assert.match(await builtName('kubebuilder-manager'), /^kubebuilder-manager-[0-9a-f]{12}$/);
  });

  test('finds no program of ours in a folder that was given without it', async () => {
    const given = await fill(join(folder, 'given-without'), names);
    const options = { env: { KUBEBUILDER_ASSETS: given }, say };
    assert.equal(await ownProgramPath('peer-stand-in', options), undefined);
    const name = await builtName('peer-stand-in');
    await fill(given, [name]);
    assert.equal(await ownProgramPath('peer-stand-in', options), join(given, name));
  });

  test('says what to install where there are none and no Go', async () => {
    const env = { XDG_CACHE_HOME: join(folder, 'empty'), PATH: folder };
    await assert.rejects(
      findBinaries({ env, say }),
      /install Go 1\.26 or newer .*KUBEBUILDER_ASSETS/,
    );
  });
});

describe('findHelm()', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'helm-'));
  });

  after(async () => {
    await rm(folder, { recursive: true });
  });

  test('takes the one of its version in the cache', async () => {
    const cache = join(folder, 'cache');
    const path = join(cache, 'rollout-operator', 'helm-3.22.0');
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'helm'), '', { mode: 0o755 });
    assert.equal(await findHelm({ env: { XDG_CACHE_HOME: cache }, say }), join(path, 'helm'));
  });

  test('says what to install where there is none and no Go', async () => {
    const env = { XDG_CACHE_HOME: join(folder, 'empty'), PATH: folder };
    await assert.rejects(
      findHelm({ env, say }),
      /rendered with helm 3\.22\.0: install Go 1\.26 or newer/,
    );
  });

  test('is of the version that its go.mod pins', async () => {
    const pinned = await readFile(
      join(import.meta.dirname, '../../real-cluster/helm/go.mod'),
      'utf8',
    );
    assert.match(pinned, /^require helm\.sh\/helm\/v3 v3\.22\.0$/m);
  });
});

describe('cacheFolder()', () => {
  test('is below .cache of the home folder where XDG_CACHE_HOME is absent or empty', () => {
    assert.equal(cacheFolder({ HOME: '/home/x' }), '/home/x/.cache/rollout-operator');
    assert.equal(
      cacheFolder({ HOME: '/home/x', XDG_CACHE_HOME: '' }),
      '/home/x/.cache/rollout-operator',
    );
    assert.equal(cacheFolder({ XDG_CACHE_HOME: '/c' }), '/c/rollout-operator');
  });
});
