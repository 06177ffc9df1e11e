/** A Deployment of the peer, and a shell in which the commands of docs/moving.md are tried on it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { millis } from '#base/units.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import type { OwnControlPlane } from '../../real-cluster/control-plane/control-plane.ts';
import type { RealEnv } from '../../real-cluster/real-env.ts';
import type { RealLane } from '../../real-cluster/real-lane.ts';

const page = fileURLToPath(new URL('../../../docs/moving.md', import.meta.url));
/** What both programs are called here. */
export const images = { peer: 'peer:1', ours: 'ours:1' };

/**
 * The blocks of `language` below the heading that begins with `title`, one after the other. @param language commands that need a
 * kubelet are no `sh`
 */
export async function blocksUnder(
  title: string,
  language: 'sh' | 'yaml' = 'sh',
): Promise<readonly string[]> {
  const sections = (await readFile(page, 'utf8')).split(/^##+ /m);
  const section = sections.find((text) => text.startsWith(title));
  assert.ok(section !== undefined, `there is no heading ${title}`);
  const fence = new RegExp(`^ *\`\`\`${language}\\n(.*?)^ *\`\`\``, 'gms');
  return Array.from(section.matchAll(fence), ([, block = '']) => block);
}

/** The Deployment as the peer's manifests have it, and sets for it to look after. */
export const manifests = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: rollout-operator }
spec:
  replicas: 1
  strategy: { type: RollingUpdate, rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }
  selector: { matchLabels: { name: rollout-operator } }
  template:
    metadata: { labels: { name: rollout-operator } }
    spec: { containers: [{ name: rollout-operator, image: "${images.peer}" }] }
`;

/** How commands ended, and what they printed. */
interface Run {
  readonly code: number | null;
  readonly said: string;
}

/** One namespace with that Deployment, and a shell that is pointed at it. */
export class MovingStage {
  readonly env: RealEnv;
  readonly #variables: Readonly<Record<string, string>>;
  /** Where commands run; it goes with those of the control plane. */
  readonly #folder: string;

  private constructor(env: RealEnv, variables: Readonly<Record<string, string>>, folder: string) {
    this.env = env;
    this.#variables = variables;
    this.#folder = folder;
  }

  static async open(
    lane: RealLane,
    own: OwnControlPlane,
    file: string = manifests,
  ): Promise<MovingStage> {
    const env = await lane.env({ replicas: 1 });
    const { namespace } = env;
    const { folder } = own.programs;
    const KUBECONFIG = join(folder, `${namespace}-admin.kubeconfig`);
    await writeFile(KUBECONFIG, own.adminKubeconfig, { mode: 0o600 });
    const place = { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG };
    const values = { NAMESPACE: namespace, IMAGE: images.ours, PEER: images.peer };
    const work = await mkdtemp(join(folder, `${namespace}-`));
    const stage = new MovingStage(env, { ...place, ...values }, work);
    await stage.sh(
      'kubectl -n "$NAMESPACE" apply -f - && kubectl -n "$NAMESPACE" rollout status deployment/rollout-operator --timeout=60s',
      file,
    );
    assert.deepEqual(stage.running(), [images.peer]);
    return stage;
  }

  /** Writes files by their names into the folder that commands run in. */
  async write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      const path = join(this.#folder, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    }
  }

  /** Runs `commands`, none of which may fail. @returns what they print */
  async sh(commands: string, input = ''): Promise<string> {
    const { code, said } = await this.#run(commands, input);
    assert.equal(code, 0, `${commands}\n${said}`);
    return said;
  }

  /** Runs `commands` until the API server refuses them as no server answers: it learns of a configuration a moment after it is written. */
  refused(commands: string): Promise<void> {
    return this.#until(commands, ({ code, said }) => code !== 0 && said.includes('failed calling'));
  }

  /** Runs `commands` until they are not refused any more. */
  made(commands: string): Promise<void> {
    return this.#until(commands, ({ code }) => code === 0);
  }

  async #until(commands: string, isIt: (run: Run) => boolean): Promise<void> {
    let run: Run = { code: null, said: '' };
    for (let tries = 0; tries < 50; tries += 1) {
      run = await this.#run(commands, '');
      if (isIt(run)) return;
      await this.env.pass(millis(100));
    }
    throw new Error(`Waited in vain for ${commands}: ${run.said}`);
  }

  async #run(commands: string, input: string): Promise<Run> {
    const child = spawn('sh', ['-e', '-c', commands], {
      cwd: this.#folder,
      env: { ...this.#variables },
      timeout: 90_000,
    });
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => said.push(text));
    }
    child.stdin.end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, said: said.join('') };
  }

  /** The images of the operators' pods that are there, also of those that are ending. */
  running(): readonly string[] {
    return this.env
      .names('pods')
      .filter((name) => name.startsWith('rollout-operator-'))
      .map((name) => this.env.stored('pods', name) ?? {})
      .map((pod) => textAt(objectsAt(pod, 'spec', 'containers')[0] ?? {}, 'image'));
  }

  /** Whether both programs had a pod at one moment of what `act` does. */
  async hasBoth(act: () => Promise<unknown>): Promise<boolean> {
    const seen = { both: false };
    const stop = this.env.onCommit(() => {
      seen.both ||= new Set(this.running()).size > 1;
    });
    await act();
    stop();
    return seen.both;
  }

  async close(): Promise<void> {
    await this.sh('kubectl -n "$NAMESPACE" delete deployment/rollout-operator --timeout=60s');
    await this.env.close();
  }
}
