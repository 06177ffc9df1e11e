/** Runs programs in an unpacked image, as containers of it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProgramOptions } from '../real-cluster/control-plane/programs.ts';
import type { OperatorProgram } from '../real-cluster/operator-runs.ts';
import type { ImageConfig } from './oci-archive.ts';

/** How the kubelet gives a pod its ServiceAccount. */
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Where a runtime mounts. */
const mountPoints = ['proc', 'sys', 'dev'];

/** What a container is started with. */
export interface ContainerOptions {
  /** As in a Deployment. @default the entry point of the image */
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A cgroup that it runs in. */
  readonly cgroup?: Cgroup;
}

/** How a container ended. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** An unpacked image. */
export class Containers {
  readonly #root: string;
  readonly #image: ImageConfig['config'];
  readonly #chroot = execFileSync('/bin/sh', ['-c', 'command -v chroot'], {
    encoding: 'utf8',
  }).trim();

  constructor(root: string, { config }: ImageConfig) {
    this.#root = root;
    this.#image = config;
    for (const point of mountPoints) mkdirSync(join(root, point), { recursive: true });
  }

  /** Returns how a container is started. */
  program(options: ContainerOptions): Pick<ProgramOptions, 'path' | 'args' | 'env'> {
    const { command = this.#image.Entrypoint, args = [], env = {}, cgroup } = options;
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const { User: user, Env: image } = this.#image;
    return {
      path: 'unshare',
      args: [
        '--mount',
        '--pid',
        '--fork',
        '--kill-child',
        '/bin/sh',
        join(import.meta.dirname, 'container.sh'),
        this.#root,
        cgroup?.path ?? '-',
        ...image,
        ...variables,
        this.#chroot,
        `--userspec=${user}`,
        '--groups=',
        this.#root,
        ...command,
        ...args,
      ],
      env: {},
    };
  }

  /** Runs a container to its end. */
  run(options: ContainerOptions): Ended {
    const { path, args } = this.program(options);
    const { status, stdout, stderr, error } = spawnSync(path, args, { encoding: 'utf8' });
    if (error !== undefined) throw error;
    return { status, stdout, stderr };
  }

  /** Runs operators of the real lane as pods of this image: by a ServiceAccount, without a kubeconfig. */
  readonly operator: OperatorProgram = ({ flags, env }, { account, namespace, own }) => {
    if (own === undefined) throw new Error('An existing cluster does not give its CA');
    this.#mount({ token: account.token, 'ca.crt': own.ca, namespace });
    const { hostname, port } = own.server;
    const cluster = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    return Promise.resolve(this.program({ args: flags, env: { ...cluster, ...env } }));
  };

  /** Puts files where the ServiceAccount is; the image's own Node finds that folder, as links lead there. */
  #mount(files: Readonly<Record<string, string>>): void {
    const write = `
      const fs = require('node:fs');
      fs.mkdirSync('${ACCOUNT}', { recursive: true });
      for (const [name, text] of Object.entries(JSON.parse(fs.readFileSync(0, 'utf8'))))
        fs.writeFileSync('${ACCOUNT}/' + name, text);`;
    execFileSync(this.#chroot, [this.#root, '/nodejs/bin/node', '-e', write], {
      input: JSON.stringify(files),
      env: {},
    });
  }
}

/** A cgroup with a limit of memory, as the kubelet makes one for a container. */
export class Cgroup {
  readonly path: string;

  /** @throws {Error} where this machine lets nobody make one */
  constructor(bytes: number) {
    const name = `rollout-operator-${process.pid}`;
    const root = '/sys/fs/cgroup';
    const isFirst = spawnSync('test', ['-d', `${root}/memory`]).status === 0;
    this.path = isFirst ? `${root}/memory/${name}` : `${root}/${name}`;
    try {
      if (!isFirst) writeFileSync(`${root}/cgroup.subtree_control`, '+memory');
      mkdirSync(this.path);
      const file = isFirst ? 'memory.limit_in_bytes' : 'memory.max';
      writeFileSync(join(this.path, file), `${bytes}`);
    } catch (cause) {
      throw new Error(`Cannot make the cgroup ${this.path}: run the test as root of a machine`, {
        cause,
      });
    }
  }

  /** Removes it, once nothing runs in it. */
  remove(): void {
    rmdirSync(this.path);
  }
}
