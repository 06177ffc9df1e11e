/** `bedrock run --api`, with the operator running and its callbacks played, in virtual time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { numberAt, textAt } from '#cluster/json/read-json.ts';
import type { ApiAccess } from '#command/bedrock/drive-ports.ts';
import { DeployApi, routeOf } from '#command/bedrock-api/deploy-api.ts';
import { callbackHeaders, callbackOf } from './bedrock-api-stage.ts';
import { BedrockStage } from './bedrock-stage.ts';

const signingKey = 'signing key';
const apiArgs = ['--api', 'https://b.example', '--token-file', 't'];

/** The API in this process, asked without a network. */
function apiOf(bed: BedrockStage): DeployApi {
  const { client, clock } = bed.stage.env;
  return new DeployApi({
    client,
    clock,
    token: 'token',
    signingKey: Buffer.from(signingKey),
    publicUrl: 'https://b.example',
    randomIdentity: () => 'k3Jd82hsQmZpL0aXw9Ty',
    namespaces: ['demo'],
  });
}

function accessTo(api: () => DeployApi): ApiAccess {
  return {
    call: async ({ method, path, body }) => {
      const route = routeOf({ method, path });
      assert.ok(typeof route === 'object');
      const headers = { authorization: 'Bearer token' };
      assert.equal(api().refused({ headers }, route), undefined);
      const text = body === undefined ? '' : JSON.stringify(body);
      return api().answer({ method, path, headers, body: Buffer.from(text) }, route);
    },
    close: () => Promise.resolve(),
  };
}

/** How the rollout of the present generation has ended; undefined while it has not. */
function resultOf(object: JsonObject | undefined): 'success' | 'failure' | undefined {
  const generation = numberAt(object, 'metadata', 'generation');
  if (numberAt(object, 'status', 'observedGeneration') !== generation) return undefined;
  const phase = textAt(object, 'status', 'phase');
  if (phase === 'RolloutDone') return 'success';
  return phase === 'RolloutFailed' ? 'failure' : undefined;
}

/** Sends a callback of each rollout that has ended under a stage id, as the operator is going to. */
function callBack(bed: BedrockStage, api: () => DeployApi): readonly (readonly [number, string])[] {
  const told: (readonly [number, string])[] = [];
  const { cluster, clock } = bed.stage.env;
  cluster.eventLog.onCommit(({ after }) => {
    const result = resultOf(after);
    const stageId = textAt(after, 'spec', 'bapi', 'stageId');
    if (after === undefined || result === undefined || stageId === '') return;
    if (told.some(([, id]) => id === stageId)) return;
    told.push([numberAt(after, 'spec', 'percent') ?? -1, stageId]);
    const callback = callbackOf(after, result, clock.now());
    const path = `/v1/stages/${stageId}/callback`;
    const headers = callbackHeaders(signingKey, callback, clock.now());
    const request = { method: 'POST', path, headers, body: Buffer.from(callback.body) };
    void api()
      .answer(request, { kind: 'callback', stageId })
      .then(({ status }) => assert.equal(status, 200));
  });
  return told;
}

test('bedrock run --api has the API go through 1, 50 and 100 percent by three callbacks, each under its own stage id [T-101]', async () => {
  const bed = await BedrockStage.open();
  await bed.deploy('1', ['--yes']);
  // A new one each time: it remembers nothing.
  const api = (): DeployApi => apiOf(bed);
  const told = callBack(bed, api);
  const openApi = (): Promise<ApiAccess> => Promise.resolve(accessTo(api));
  const { code, out, err } = await bed.deploy('2', [...apiArgs, '--yes'], { openApi });
  assert.deepEqual([code, err], [0, '']);
  assert.deepEqual(
    told.map(([percent]) => percent),
    [1, 50, 100],
  );
  assert.equal(new Set(told.map(([, stageId]) => stageId)).size, 3);
  assert.deepEqual(bed.targets().slice(-3), [
    [1, 1],
    [50, 1],
    [100, 2],
  ]);
  assert.deepEqual(bed.images(), ['kv:2', 'kv:2']);
  assert.match(out, /^deploy [a-z0-9]{20}\n/);
  assert.match(out, /^kv-dev 100%: RolloutDone, 100% deployed/m);
  await bed.stage.close();
});

test('bedrock run --api asks before each further phase, and tells the API to advance', async () => {
  const bed = await BedrockStage.open();
  await bed.deploy('1', ['--yes']);
  const api = (): DeployApi => apiOf(bed);
  const openApi = (): Promise<ApiAccess> => Promise.resolve(accessTo(api));
  let asked = 0;
  const confirm = (): Promise<boolean> => {
    asked += 1;
    return Promise.resolve(true);
  };
  // Without callbacks: the status tells the end, too.
  const { code, err } = await bed.deploy('2', apiArgs, { openApi, confirm });
  assert.deepEqual([code, err, asked], [0, '', 2]);
  assert.deepEqual(bed.images(), ['kv:2', 'kv:2']);
  await bed.stage.close();
});

test('bedrock run --api stops with exit code 4 where a phase fails [T-102]', async () => {
  const bed = await BedrockStage.open();
  await bed.deploy('1', ['--yes']);
  const before = bed.percents().length;
  await bed.stage.createBudget(1, 'second', 'kv-dev');
  const api = (): DeployApi => apiOf(bed);
  const told = callBack(bed, api);
  const openApi = (): Promise<ApiAccess> => Promise.resolve(accessTo(api));
  const { code, err } = await bed.deploy('2', [...apiArgs, '--yes'], { openApi });
  assert.equal(code, 4);
  assert.match(err, /^The rollout has failed at 1%: RolloutFailed: no progress/);
  assert.deepEqual(bed.percents().slice(before), [1]);
  assert.equal(told.length, 1);
  await bed.stage.close();
});
