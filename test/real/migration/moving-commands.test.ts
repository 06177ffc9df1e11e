/** The commands of docs/moving.md, as they are there, on a real control plane. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { seconds } from '#base/units.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import type { OwnControlPlane } from '../../real-cluster/control-plane/control-plane.ts';
import type { RealEnv } from '../../real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { features } from '../../scenarios/env.ts';
import { kubectlMissing } from '../../scenarios/kubectl/kubectl-env.ts';

const page = fileURLToPath(new URL('../../../docs/moving.md', import.meta.url));
const images = { peer: 'peer:1', ours: 'ours:1' };

/** The commands below the heading that begins with `title`, block by block; those that need a kubelet are no `sh`. */
async function commandsUnder(title: string): Promise<readonly string[]> {
  const sections = (await readFile(page, 'utf8')).split(/^## /m);
  const section = sections.find((text) => text.startsWith(title));
  assert.ok(section !== undefined, `there is no heading ${title}`);
  return Array.from(section.matchAll(/^ *```sh\n(.*?)^ *```/gms), ([, block = '']) => block);
}

/** The Deployment as the peer's manifests have it, and sets for it to look after. */
const manifests = `
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

/** One namespace with that Deployment, and a shell that is pointed at it. */
class Stage {
  readonly #env: RealEnv;
  readonly #variables: Readonly<Record<string, string>>;

  private constructor(env: RealEnv, variables: Readonly<Record<string, string>>) {
    this.#env = env;
    this.#variables = variables;
  }

  static async open(lane: RealLane, own: OwnControlPlane): Promise<Stage> {
    const env = await lane.env({ replicas: 1 });
    const { namespace } = env;
    const { folder } = own.programs;
    const KUBECONFIG = join(folder, `${namespace}-admin.kubeconfig`);
    await writeFile(KUBECONFIG, own.adminKubeconfig, { mode: 0o600 });
    const place = { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG };
    const values = { NAMESPACE: namespace, IMAGE: images.ours, PEER: images.peer };
    const stage = new Stage(env, { ...place, ...values });
    await stage.sh(
      'kubectl -n "$NAMESPACE" apply -f - && kubectl -n "$NAMESPACE" rollout status deployment/rollout-operator --timeout=60s',
      manifests,
    );
    assert.deepEqual(stage.running(), [images.peer]);
    return stage;
  }

  /** Runs `commands`, none of which may fail. @returns what they print */
  async sh(commands: string, input = ''): Promise<string> {
    const child = spawn('sh', ['-e', '-c', commands], {
      env: { ...this.#variables },
      timeout: 90_000,
    });
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => said.push(text));
    }
    child.stdin.end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 0, `${commands}\n${said.join('')}`);
    return said.join('');
  }

  /** The images of the operators' pods that are there, also of those that are ending. */
  running(): readonly string[] {
    return this.#env
      .names('pods')
      .filter((name) => name.startsWith('rollout-operator-'))
      .map((name) => this.#env.stored('pods', name) ?? {})
      .map((pod) => textAt(objectsAt(pod, 'spec', 'containers')[0] ?? {}, 'image'));
  }

  /** Whether both programs had a pod at one moment of what `act` does. */
  async hasBoth(act: () => Promise<unknown>): Promise<boolean> {
    const seen = { both: false };
    const stop = this.#env.onCommit(() => {
      seen.both ||= new Set(this.running()).size > 1;
    });
    await act();
    stop();
    return seen.both;
  }

  async close(): Promise<void> {
    await this.sh('kubectl -n "$NAMESPACE" delete deployment/rollout-operator --timeout=60s');
    await this.#env.close();
  }
}

describe('the commands of docs/moving.md', { skip: kubectlMissing() }, () => {
  let lane: RealLane;

  before(async () => {
    // A pod takes its time to end: starting another one before that is seen.
    lane = await startRealLane({ delays: { stop: seconds(2) } });
  });

  after(async () => {
    await lane?.close();
  });

  async function open(context: TestContext): Promise<Stage | undefined> {
    if (lane.own !== undefined) return Stage.open(lane, lane.own);
    context.skip(features.disturbance);
    return undefined;
  }

  test('move the Deployment to this program and back by hand, and one pod is gone before the other one starts', {
    timeout: 180_000,
  }, async (context) => {
    const stage = await open(context);
    if (stage === undefined) return;
    const [end = '', change = '', ...rest] = await commandsUnder('From the peer');
    assert.equal(rest.length, 1);
    const back = await commandsUnder('From this program');
    assert.equal(back.length, 4);
    const hasBoth = await stage.hasBoth(async () => {
      await stage.sh(end);
      assert.deepEqual(stage.running(), []);
      // Nobody is lost where it is done twice.
      await stage.sh(end);
      await stage.sh(change);
      assert.deepEqual(stage.running(), [images.ours]);
      for (const block of back) await stage.sh(block);
      assert.deepEqual(stage.running(), [images.peer]);
    });
    assert.equal(hasBoth, false);
    await stage.close();
  });

  test('move it by its image alone where its strategy is Recreate, which that of the peer does not', {
    timeout: 180_000,
  }, async (context) => {
    const stage = await open(context);
    if (stage === undefined) return;
    const recreate = (await commandsUnder('From the peer')).at(-1) ?? '';
    assert.match(recreate, /Recreate/);
    const change = (image: string): string =>
      `kubectl -n "$NAMESPACE" set image deployment/rollout-operator rollout-operator=${image} &&
      kubectl -n "$NAMESPACE" rollout status deployment/rollout-operator --timeout=60s`;
    assert.equal(await stage.hasBoth(() => stage.sh(change(images.ours))), true);
    await stage.sh(change(images.peer));
    assert.equal(await stage.hasBoth(() => stage.sh(recreate)), false);
    assert.deepEqual(stage.running(), [images.ours]);
    await stage.close();
  });

  test('show how far the sets are', { timeout: 180_000 }, async (context) => {
    const stage = await open(context);
    if (stage === undefined) return;
    const [status = '', ...rest] = await commandsUnder('Rules that');
    assert.deepEqual(rest, []);
    const shown = await stage.sh(status);
    assert.match(shown, /^NAME +READY +FROM +TO$/m);
    assert.match(shown, /^ingester-zone-a +1 +(ingester-zone-a-\w+) +\1$/m);
    assert.match(shown, /^ingester-zone-a-0 +1\/1 +Running .* ingester-zone-a-\w+$/m);
    await stage.close();
  });
});
