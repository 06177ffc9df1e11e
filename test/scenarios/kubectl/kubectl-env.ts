/** kubectl as a program, pointed at a cluster; the scenarios that run it are in kubectl.ts. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Change, NO_KUBECTL } from '../env.ts';

/** How a kubectl command ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A kubectl that runs on while the test acts. */
export interface Running {
  /** The next line of stdout. @throws when it ends before */
  readonly line: (pattern: RegExp) => Promise<string>;
  readonly stop: () => void;
}

/** kubectl for a cluster with controllers and kubelet stand-in, in real time. */
export interface KubectlEnv {
  /** That of the commands, and of no other scenario. */
  readonly namespace: string;
  /** Runs kubectl to its end; `input` goes to its standard input. */
  readonly run: (args: readonly string[], input?: string) => Promise<Ended>;
  /** The stdout of a command that must succeed. @throws with its stderr otherwise */
  readonly kubectl: (args: readonly string[], input?: string) => Promise<string>;
  readonly start: (args: readonly string[]) => Running;
  /** All changes of the namespace so far, in order. */
  readonly history: () => readonly Change[];
  readonly close: () => Promise<void>;
}

/** What kubectl is to be pointed at. */
export interface KubectlTarget {
  /** One with the rights of an administrator. */
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly history: () => readonly Change[];
  /** Ends the cluster, or what the commands left on it. */
  readonly close: (env: KubectlEnv) => Promise<void>;
}

/** Why the tests with kubectl cannot run here, or false: for the `skip` option of a test, which prints it. */
export function kubectlMissing(): string | false {
  const found = spawnSync('kubectl', ['version', '--client'], { encoding: 'utf8' });
  return found.status === 0 ? false : NO_KUBECTL;
}

/** kubectl for `target`, with no other configuration than its. */
export async function pointKubectl(target: KubectlTarget): Promise<KubectlEnv> {
  const { namespace, history } = target;
  const folder = await mkdtemp(join(tmpdir(), 'kubectl-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, target.kubeconfig, { mode: 0o600 });
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG: kubeconfig };
  const complete = (args: readonly string[]): readonly string[] => [`-n=${namespace}`, ...args];
  const run: KubectlEnv['run'] = (args, input = '') => runToEnd(complete(args), { env, input });
  const pointed: KubectlEnv = {
    namespace,
    history,
    run,
    kubectl: async (args, input) => {
      const { code, stdout, stderr } = await run(args, input);
      if (code === 0) return stdout;
      throw new Error(`kubectl ${args.join(' ')} ended with ${String(code)}:\n${stdout}${stderr}`);
    },
    start: (args) => startRunning(complete(args), env),
    close: async () => {
      await target.close(pointed);
      await rm(folder, { recursive: true });
    },
  };
  return pointed;
}

async function runToEnd(
  args: readonly string[],
  { env, input }: { readonly env: Readonly<Record<string, string>>; readonly input: string },
): Promise<Ended> {
  const child = spawn('kubectl', args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.stderr += text;
  });
  // A command that reads no input may have closed it already.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.on('error', reject).on('close', resolve);
  return { code: await promise, ...texts };
}

function startRunning(args: readonly string[], env: Readonly<Record<string, string>>): Running {
  const child = spawn('kubectl', args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const lines: string[] = [];
  const waiting: { readonly pattern: RegExp; readonly resolve: (line: string) => void }[] = [];
  const ended = new Promise<never>((_, reject) => {
    child.on('close', () => reject(new Error(`kubectl ended after:\n${lines.join('\n')}`)));
  });
  ended.catch(() => undefined);
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const { pattern, resolve } of waiting) if (pattern.test(line)) resolve(line);
  });
  return {
    line: (pattern) => {
      const seen = lines.find((line) => pattern.test(line));
      if (seen !== undefined) return Promise.resolve(seen);
      const { promise, resolve } = Promise.withResolvers<string>();
      waiting.push({ pattern, resolve });
      return Promise.race([promise, ended]);
    },
    stop: () => {
      child.kill('SIGTERM');
    },
  };
}
