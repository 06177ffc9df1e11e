/** The tools for `bedrock.yaml` as processes on a real control plane, the operator and the deploy API beside them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { freePort } from '#support/free-ports.ts';
import { bedrockFile } from '../../integration/bedrock/bedrock-stage.ts';
import { OperatorProcess } from '../../integration/stages/operator-program.ts';
import { asStatefulsetRollout } from '../../real-cluster/operator-runs.ts';
import type { RealEnv } from '../../real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { NO_INSTALLING } from '../../real-cluster/skip-reasons.ts';
import { PercentSet } from '../../scenarios/statefulset-rollout/percent-set.ts';

const isExisting = (process.env['TEST_KUBECONFIG'] ?? '') !== '';
const program = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const stage = ['-f', '-', '--service', 'kv', '--stage', 'dev', '--allow-tags'];
const rollouts = 'statefulsetrollouts.bedrock.operator.slack.com';

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

describe('bedrock on a real control plane', { skip: isExisting ? NO_INSTALLING : false }, () => {
  let lane: RealLane;
  let env: RealEnv;
  let set: PercentSet;
  let folder: string;
  let api: OperatorProcess;
  let port: number;

  before(async () => {
    lane = await startRealLane();
    ({ folder } = lane.plane.programs);
    port = await freePort();
    const receiver = [`--callback-allowed-hosts=127.0.0.1:${port}`, '--callback-permit-loopback'];
    const key = `--callback-signing-key-file=${join(folder, 'key')}`;
    env = await lane.env({
      zones: [],
      role: 'statefulset-rollout',
      program: asStatefulsetRollout([...receiver, key]),
    });
    set = await PercentSet.open(env, undefined);
    const identity = await selfSigned(lane.plane.clock.now(), ['127.0.0.1']);
    const files = {
      config: lane.own?.adminKubeconfig ?? '',
      cert: identity.cert,
      'tls-key': identity.key,
      token: 'deploy-token',
      key: 'signing key',
    };
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder, name), text, { mode: 0o600 });
    }
    await env.startOperatorWith([], { NODE_EXTRA_CA_CERTS: join(folder, 'cert') });
    const tls = ['--tls-cert', join(folder, 'cert'), '--tls-key', join(folder, 'tls-key')];
    const secrets = [
      '--token-file',
      join(folder, 'token'),
      '--signing-key-file',
      join(folder, 'key'),
    ];
    const kubeconfig = ['--kubeconfig', join(folder, 'config')];
    const listen = ['--listen', `127.0.0.1:${port}`, '--namespaces', env.namespace];
    api = new OperatorProcess(['bedrock', 'api', ...listen, ...kubeconfig, ...tls, ...secrets]);
    await api.line(/deploy API serves/);
  });

  after(async () => {
    api?.kill('SIGKILL');
    await env?.close();
    await lane?.close();
  });

  /** Runs a command on the file of the stage, in the namespace, with these changes. */
  async function bedrock(
    args: readonly string[],
    change: (file: string) => string = (file) => file,
  ): Promise<Ended> {
    const child = spawn(process.execPath, [program, 'bedrock', ...args]);
    const said = { out: '', err: '' };
    child.stdout.on('data', (text: Buffer) => void (said.out += text.toString()));
    child.stderr.on('data', (text: Buffer) => void (said.err += text.toString()));
    child.stdin.end(change(bedrockFile.replace('namespace: demo', `namespace: ${env.namespace}`)));
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { code, ...said };
  }

  const onCluster = (): readonly string[] => ['--kubeconfig', join(folder, 'config'), '--yes'];
  const image = (tag: string): readonly string[] => ['--image', `kv=kv:${tag}`];

  /** Percentages and pods of all rollouts that have ended since `mark`, in order. */
  function ended(mark: number): readonly (readonly [percent: number, target: number])[] {
    const all = env
      .history()
      .slice(mark)
      .flatMap(({ resource, after: is }) => {
        if (resource !== rollouts || textAt(is, 'status', 'phase') !== 'RolloutDone') return [];
        const seen = numberAt(is, 'status', 'observedGeneration');
        if (seen !== numberAt(is, 'metadata', 'generation')) return [];
        const target = numberAt(is, 'status', 'rollout', 'targetReplicas') ?? -1;
        return [[numberAt(is, 'spec', 'percent') ?? -1, target] as const];
      });
    return all.filter(([percent], at) => percent !== all[at - 1]?.[0]);
  }

  function images(): readonly string[] {
    return ['kv-dev-0', 'kv-dev-1'].map((pod) =>
      textAt(objectsAt(env.stored('pods', pod), 'spec', 'containers')[0], 'image'),
    );
  }

  test('convert writes what the API server takes, field by field [H-18]', async () => {
    const { code, out, err } = await bedrock(['convert', ...stage, ...image('1')]);
    assert.deepEqual([code, err], [0, '']);
    const objects = parseAllDocuments(out).map((each) => each.toJS() as JsonObject);
    assert.equal(objects.length, 2);
    for (const object of objects) {
      const isBudget = object['kind'] === 'PodDisruptionBudget';
      const type = isBudget
        ? resourceTypes.podDisruptionBudgets
        : resourceTypes.statefulsetRollouts;
      const path = `${set.path(type)}?dryRun=All&fieldValidation=Strict`;
      const answer = await env.ask('POST', path, object);
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
    }
  });

  test('run applies budget and resource, and goes through 1, 50 and 100 percent [T-101]', async () => {
    const first = await bedrock(['run', ...stage, ...image('1'), ...onCluster()]);
    assert.deepEqual([first.code, first.err], [0, '']);
    assert.deepEqual(images(), ['kv:1', 'kv:1']);
    const budget = env.stored('poddisruptionbudgets.policy', 'kv-dev');
    assert.equal(objectAt(budget, 'spec')['maxUnavailable'], '50%');
    const mark = env.history().length;
    const second = await bedrock(['run', ...stage, ...image('2'), ...onCluster()]);
    assert.deepEqual([second.code, second.err], [0, '']);
    assert.deepEqual(ended(mark), [
      [1, 1],
      [50, 1],
      [100, 2],
    ]);
    assert.deepEqual(images(), ['kv:2', 'kv:2']);
  });

  test('run --api has the deploy API go through the phases by three callbacks over TLS, each signed [T-101]', async () => {
    const mark = env.history().length;
    const through = ['--api', `https://127.0.0.1:${port}`, '--ca-file', join(folder, 'cert')];
    const token = ['--token-file', join(folder, 'token'), '--yes'];
    const args = ['run', ...stage, ...image('3'), ...through, ...token];
    const { code, out, err } = await bedrock(args);
    assert.deepEqual([code, err], [0, ''], out);
    assert.deepEqual(images(), ['kv:3', 'kv:3']);
    const asked = env
      .history()
      .slice(mark)
      .flatMap(({ resource, after: is }) => {
        const percent = numberAt(is, 'spec', 'percent') ?? -1;
        const stageId = textAt(is, 'spec', 'bapi', 'stageId');
        return resource === rollouts && stageId !== '' ? [`${percent} ${stageId}`] : [];
      });
    const stages = [...new Set(asked)];
    assert.deepEqual(
      stages.map((each) => each.split(' ')[0]),
      ['1', '50', '100'],
    );
    const last = stages.at(-1)?.split(' ')[1];
    const told = (): JsonObject => objectAt(env.stored(rollouts, 'kv-dev'), 'status');
    await env.until('it is told how it ended', () => told()['lastCallbackStageId'] === last);
    // Each was told by its own callback, whose answer may be later than the next phase.
    assert.deepEqual(await set.messages('CallbackSuperseded'), []);
  });

  test('run ends with exit code 4 where the API server refuses the set, and no further phase is asked for [T-102]', async () => {
    const mark = env.history().length;
    const wrong = (file: string): string =>
      file.replace('{image: kv}', '{image: kv, ports: [{containerPort: 99999}]}');
    const { code, err } = await bedrock(['run', ...stage, ...image('4'), ...onCluster()], wrong);
    assert.equal(code, 4, err);
    assert.match(err, /^The rollout has failed at 1%: RolloutFailed: .*containerPort.*99999/);
    const percents = env
      .history()
      .slice(mark)
      .flatMap(({ resource, after: is }) =>
        resource === rollouts ? [numberAt(is, 'spec', 'percent')] : [],
      );
    // The stage of the deploy before is taken away first.
    assert.deepEqual([...new Set(percents)], [100, 1]);
    assert.deepEqual(images(), ['kv:3', 'kv:3']);
  });
});
