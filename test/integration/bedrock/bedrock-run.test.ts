/** `bedrock run`, `status`, `pause`, `resume` and `retry` on the embedded cluster, with the operator running. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { BedrockStage, bedrockFile } from './bedrock-stage.ts';

const key = { namespace: 'demo', name: 'kv-dev' };

/** With `kv:1` in all pods. */
async function deployed(): Promise<BedrockStage> {
  const bed = await BedrockStage.open();
  const { code, err } = await bed.deploy('1', ['--yes']);
  assert.deepEqual([code, err], [0, '']);
  return bed;
}

test('bedrock run takes two pods through 1, 50 and 100 percent, which are 1, 1 and 2 of them [T-101]', async () => {
  const bed = await deployed();
  const { code, out, err } = await bed.deploy('2', ['--yes']);
  assert.deepEqual([code, err], [0, '']);
  assert.deepEqual(bed.targets().slice(-3), [
    [1, 1],
    [50, 1],
    [100, 2],
  ]);
  assert.deepEqual(bed.images(), ['kv:2', 'kv:2']);
  assert.match(out, /^kv-dev 1%: RolloutDone, 1% deployed/m);
  assert.match(out, /^kv-dev 50%: RolloutDone, 50% deployed/m);
  assert.match(out, /^kv-dev 100%: RolloutDone, 100% deployed/m);
  const lines = out.split('\n');
  assert.deepEqual(
    lines.filter((line, index) => line === lines[index - 1]),
    [],
  );
  await bed.stage.close();
});

test('bedrock run stops with exit code 4 where a phase fails, and applies no further one [T-102]', async () => {
  const bed = await BedrockStage.open();
  const readInput = (): Promise<string> =>
    Promise.resolve(bedrockFile.replace('replicas: 2', 'replicas: 4'));
  await bed.deploy('1', ['--yes'], { readInput });
  const before = bed.percents().length;
  const confirm = async (): Promise<boolean> => {
    // With a second budget about the same pods the API server lets none of them go.
    await bed.stage.createBudget(1, 'second', 'kv-dev');
    return true;
  };
  const { code, err } = await bed.deploy('2', [], { readInput, confirm });
  assert.equal(code, 4, err);
  assert.match(err, /^The rollout has failed at 50%: RolloutFailed: no progress .*MultipleBudgets/);
  assert.deepEqual(bed.percents().slice(before), [1, 50]);
  assert.deepEqual(bed.images(), ['kv:1', 'kv:1']);
  await bed.stage.close();
});

test('bedrock run asks before each further phase, and stops at a no', async () => {
  const bed = await deployed();
  const asked: string[] = [];
  const confirm = (question: string): Promise<boolean> => {
    asked.push(question);
    return Promise.resolve(asked.length < 2);
  };
  const { code, err } = await bed.deploy('2', [], { confirm });
  assert.equal(code, 1);
  assert.deepEqual(asked, ['1% is done. Go on with 50%?', '50% is done. Go on with 100%?']);
  assert.match(err, /^Stopped before 100%\n/);
  assert.match(err, /with --from 100 --rollout-identity k3Jd82hsQmZpL0aXw9Ty$/m);
  assert.deepEqual(bed.images(), ['kv:1', 'kv:2']);
  const rest = await bed.deploy('2', ['--from', '100']);
  assert.equal(rest.code, 0, rest.err);
  assert.deepEqual(bed.images(), ['kv:2', 'kv:2']);
  await bed.stage.close();
});

test('bedrock run refuses to begin where it cannot ask a user, and writes nothing', async () => {
  const bed = await BedrockStage.open();
  const { code, err } = await bed.deploy('1');
  assert.equal(code, 2);
  assert.match(err, /^There is no terminal to ask at/);
  assert.deepEqual(bed.percents(), []);
  await bed.stage.close();
});

test('bedrock run --timeout and Ctrl-C end the wait and not the rollout, and say how to go on', async () => {
  const bed = await deployed();
  const late = await bed.deploy('2', ['--yes', '--timeout', '2s']);
  assert.equal(late.code, 1);
  assert.match(
    late.err,
    /^The time is over: no longer waiting for 1%\n.*bedrock status kv-dev -n demo\n/,
  );
  const stop = new AbortController();
  bed.stage.env.clock.timer(seconds(3), () => stop.abort());
  const interruption = (): { signal: AbortSignal; release: () => void } => ({
    signal: stop.signal,
    release: () => undefined,
  });
  const ended = await bed.deploy('2', ['--yes'], { interruption });
  assert.equal(ended.code, 1);
  assert.match(ended.err, /^Interrupted: no longer waiting for \d+%\n/);
  const again = await bed.deploy('2', ['--yes']);
  assert.equal(again.code, 0, again.err);
  await bed.stage.close();
});

test('bedrock run keeps a pause that a user asked for between two phases', async () => {
  const bed = await deployed();
  let asked = 0;
  const confirm = async (): Promise<boolean> => {
    asked += 1;
    const body = { kind: 'merge', document: { spec: { pauseRequested: true } } } as const;
    await bed.stage.env.client.patch(resourceTypes.statefulsetRollouts, key, { body });
    return true;
  };
  const { code, out } = await bed.deploy('2', ['--timeout', '3m'], { confirm });
  assert.deepEqual([code, asked], [1, 1]);
  assert.match(out, /^kv-dev 50%: Paused, /m);
  assert.equal(
    (await bed.run(['resume', 'kv-dev', '-n', 'demo'])).out,
    'demo/kv-dev: no pause requested\n',
  );
  await bed.stage.until('resumed', () => bed.stage.phase('kv-dev') === 'RolloutDone');
  await bed.stage.close();
});

test('bedrock run sees that another deploy has taken its place', async () => {
  const bed = await deployed();
  const { clock, client } = bed.stage.env;
  clock.timer(seconds(2), () => {
    const body = { kind: 'merge', document: { spec: { percent: 7 } } } as const;
    void client.patch(resourceTypes.statefulsetRollouts, key, { body });
  });
  const { code, err } = await bed.deploy('2', ['--yes']);
  assert.equal(code, 1);
  assert.equal(err, 'Cannot wait for 1% any more: another deploy has taken its place\n');
  await bed.stage.close();
});

test('bedrock run ends with exit code 1 where there is no cluster, and where the namespace is not there', async () => {
  const bed = await BedrockStage.open();
  const gone = await bed.deploy('1', ['--yes', '--kubeconfig', 'k'], {
    openCluster: () => Promise.reject(new Error('Cannot use kubeconfig "k": it does not exist')),
  });
  assert.deepEqual([gone.code, gone.err], [1, 'Cannot use kubeconfig "k": it does not exist\n']);
  const readInput = (): Promise<string> =>
    Promise.resolve(bedrockFile.replace('namespace: demo', 'namespace: nowhere'));
  const { code, err } = await bed.deploy('1', ['--yes'], { readInput });
  assert.equal(code, 1);
  assert.match(
    err,
    /^Cannot create PodDisruptionBudget "nowhere\/kv-dev"|namespaces "nowhere" not found/,
  );
  await bed.stage.close();
});

test('bedrock status, pause, resume and retry are about one rollout', async () => {
  const bed = await deployed();
  const status = await bed.run(['status', 'kv-dev']);
  assert.equal(status.code, 0);
  assert.match(status.out, /^demo\/kv-dev 100%: RolloutDone, 100% deployed/);
  assert.match(status.out, /^ {2}pods: {6}2 of 2 ready, 2 updated of 2 that are to be$/m);
  assert.match(status.out, /^ {2}set: {7}kv-dev, as it is wanted$/m);
  const paused = await bed.run(['pause', '-n', 'demo', 'kv-dev']);
  assert.deepEqual([paused.code, paused.out], [0, 'demo/kv-dev: pause requested\n']);
  assert.equal(
    textAt(bed.stage.rollout('kv-dev'), 'spec', 'rolloutIdentity'),
    'k3Jd82hsQmZpL0aXw9Ty',
  );
  await bed.run(['resume', 'kv-dev']);
  const retried = await bed.run(['retry', 'kv-dev'], { randomIdentity: () => 'another' });
  assert.equal(retried.out, 'demo/kv-dev: begins again as another\n');
  assert.equal(textAt(bed.stage.rollout('kv-dev'), 'spec', 'rolloutIdentity'), 'another');
  const none = await bed.run(['status', 'gone']);
  assert.equal(none.code, 1);
  assert.match(none.err, /^Cannot get StatefulsetRollout "demo\/gone"/);
  await bed.stage.close();
});
