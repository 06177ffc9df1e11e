/**
 * Builds the image and tries it as a container on a real control plane.
 *
 *     npm run do test:image
 *
 * It takes root on Linux, one of docker, podman and buildah, and mmdebstrap; under CI=true what is missing is installed with
 * apt. The control plane is as of `npm run do test:real`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { errorOf } from '#base/error-of.ts';
import { findBuilder } from '../../scripts/image/image-builders.ts';
import { findBinaries } from '../real-cluster/control-plane/binaries.ts';

/** Programs that the test starts, and the packages of Debian that have them. */
const tools = { mmdebstrap: 'mmdebstrap', unshare: 'util-linux', mount: 'mount', tar: 'tar' };

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Returns the packages of Debian that are not here. */
function missingPackages(): readonly string[] {
  const found = (program: string): boolean =>
    spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
  const missing = Object.entries(tools).flatMap(([program, name]) => (found(program) ? [] : name));
  try {
    findBuilder(undefined);
    return missing;
  } catch (error) {
    say(errorOf(error).message);
    return [...missing, 'buildah'];
  }
}

/** @throws {Error} what is missing, and how to install it, where it may not be installed or cannot be */
function installTools(): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new Error('The test of the image mounts file systems: run it as root on Linux');
  }
  const missing = missingPackages();
  if (missing.length === 0) return;
  const install = ['install', '--yes', '--no-install-recommends', ...missing];
  if (process.env['CI'] !== 'true') {
    throw new Error(
      `The test of the image needs ${missing.join(', ')}: apt-get ${install.join(' ')}`,
    );
  }
  say(`Installing ${missing.join(', ')} with apt`);
  const apt = (...args: readonly string[]): void => {
    const { status, error } = spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (status !== 0) {
      const how = error?.message ?? `ended with ${status}`;
      throw new Error(`Cannot install ${missing.join(', ')}: "apt-get ${args.join(' ')}" ${how}`);
    }
  };
  apt('update');
  apt(...install);
  findBuilder(undefined);
}

/** @returns the exit code: that of the tests; 1 when they cannot run here */
async function main(): Promise<number> {
  try {
    installTools();
    const { folder } = await findBinaries({ env: process.env, say });
    const options = ['--disable-warning=ExperimentalWarning', '--test', '--test-reporter=spec'];
    const file = join(import.meta.dirname, 'image.test.ts');
    const child = spawn(process.execPath, [...options, file], {
      // Only of a control plane of our own the CA is known, which a pod is given.
      env: { ...process.env, KUBEBUILDER_ASSETS: folder, TEST_KUBECONFIG: '' },
      stdio: 'inherit',
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  } catch (error) {
    process.stderr.write(`${errorOf(error).message}\n`);
    return 1;
  }
}

process.exitCode = await main();
