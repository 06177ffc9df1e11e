import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { millis } from '#base/units.ts';
import {
  type Controllers,
  type ControllersOptions,
  startControllers,
} from '#embedded-cluster/controllers/start-controllers.ts';
import { createCluster, type EmbeddedCluster } from '#embedded-cluster/create-cluster.ts';
import { type Kubelet, startKubelet } from '#embedded-cluster/kubelet/start-kubelet.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { KeptLog } from './virtual-environment.ts';

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

/** An embedded cluster over HTTP, in real time, with controllers and kubelet stand-in, and kubectl for it. */
export interface KubectlEnv {
  readonly cluster: EmbeddedCluster;
  readonly kubelet: Kubelet;
  /** Runs kubectl to its end; `input` goes to its standard input. */
  readonly run: (args: readonly string[], input?: string) => Promise<Ended>;
  /** The stdout of a command that must succeed. @throws with its stderr otherwise */
  readonly kubectl: (args: readonly string[], input?: string) => Promise<string>;
  readonly start: (args: readonly string[]) => Running;
  readonly close: () => Promise<void>;
}

/** Why the tests with kubectl cannot run here, or false: for the `skip` option of a test, which prints it. */
export function kubectlMissing(): string | false {
  const found = spawnSync('kubectl', ['version', '--client'], { encoding: 'utf8' });
  if (found.status === 0) return false;
  return 'kubectl is not installed: its wire conversations are tested in kubectl-wire.test.ts';
}

/** Starts everything; pods are ready after a fraction of a second. */
export async function startKubectlEnv(): Promise<KubectlEnv> {
  const clock = systemClock();
  const seed = 1;
  const log = new KeptLog();
  const cluster = await createCluster({ clock, seed });
  const transportFor: ControllersOptions['transportFor'] = (user) =>
    cluster.transport({ user, client: user.name });
  const controllers: Controllers = startControllers({ transportFor, clock, seed, log });
  const kubelet = startKubelet({
    transportFor,
    clock,
    seed,
    log,
    // kubectl delete misses a pod that is replaced between its two first reads: a real kubelet takes longer too.
    delays: { stop: millis(500), bind: millis(10), start: millis(20), ready: millis(20) },
  });
  await Promise.all([controllers.ready, kubelet.ready]);
  const listener = await cluster.listen({ isTls: true });
  const folder = await mkdtemp(join(tmpdir(), 'kubectl-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, listener.kubeconfig(), { mode: 0o600 });
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG: kubeconfig };
  const run: KubectlEnv['run'] = (args, input = '') => runToEnd(args, { env, input });
  return {
    cluster,
    kubelet,
    run,
    kubectl: async (args, input) => {
      const { code, stdout, stderr } = await run(args, input);
      if (code === 0) return stdout;
      throw new Error(`kubectl ${args.join(' ')} ended with ${String(code)}:\n${stdout}${stderr}`);
    },
    start: (args) => startRunning(args, env),
    close: async () => {
      await controllers.stop();
      await kubelet.stop();
      await cluster.close();
      await rm(folder, { recursive: true });
    },
  };
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
