/** The resource that Slack's article shows, with all its fields and no other, on the embedded cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { FakeConsul } from '#support/external-services/fake-consul.ts';
import { PercentStage } from './percent-stage.ts';

const [name, namespace] = ['bedrock-example-prod', 'demo'];
const marks: JsonObject = {
  annotations: {
    'slack.com/bedrock.git.branch': 'main',
    'slack.com/bedrock.git.origin': 'git@git.example:example/bedrock-example.git',
  },
  labels: { app: name, 'app.kubernetes.io/version': 'v1.custom-1709074522' },
};

/** Of the published shape: the set names no Service, and nothing in it is ours. */
const published: JsonObject = {
  apiVersion: 'bedrock.operator.slack.com/v1',
  kind: 'StatefulsetRollout',
  metadata: { ...marks, name, namespace },
  spec: {
    bapi: { bapiUrl: 'http://bedrock-api.example', stageId: '2V6U3YXVO8OGtjQFEO9GJpQk1Xy' },
    channel: '#devel-rollouts',
    minPodEvictionIntervalSeconds: 10,
    pauseRequested: false,
    percent: 25,
    rolloutIdentity: 'GbTdWjQYgiiToKdoWDLN',
    serviceDiscovery: { dc: 'dc1', serviceNames: [name] },
    statefulset: {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { ...marks, name, namespace },
      spec: {
        replicas: 4,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { ...marks },
          spec: { containers: [{ name: 'bedrock-example', image: imageOf('1') }] },
        },
        updateStrategy: { type: 'OnDelete' },
      },
    },
  },
};

function imageOf(digit: string): string {
  return `registry.example/bedrock-example@sha256:${digit.repeat(64)}`;
}

/** The stage, with a Consul in which each pod passes once it is ready. */
async function opened(): Promise<PercentStage> {
  const stage = await PercentStage.open();
  const consul = new FakeConsul(stage.env.clock);
  stage.consul = consul.opened;
  stage.env.cluster.eventLog.onCommit(({ resource, name: pod, after }) => {
    const isReady = objectsAt(after, 'status', 'conditions').some(
      (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
    );
    if (resource !== 'pods' || !isReady) return;
    consul.register(name, pod, { address: textAt(after, 'status', 'podIP') });
  });
  await stage.createBudget('50%', name, name);
  stage.start();
  return stage;
}

async function ended(stage: PercentStage): Promise<void> {
  const generation = (): number => numberAt(stage.rollout(name), 'metadata', 'generation') ?? 0;
  await stage.until('it has ended', () => {
    const seen = numberAt(stage.status(name), 'observedGeneration');
    return seen === generation() && stage.phase(name) === 'RolloutDone';
  });
}

/** Images of its pods, by ordinal. */
function images(stage: PercentStage): readonly string[] {
  return [0, 1, 2, 3].map((ordinal) => stage.env.imageOf(`${name}-${ordinal}`));
}

test("the article's own example resource is accepted unchanged, and rolls [T-01]", async () => {
  const stage = await opened();
  const { client, cluster } = stage.env;
  const created = await client.create(
    resourceTypes.statefulsetRollouts,
    { namespace },
    { body: published },
  );
  assert.deepEqual(objectAt({ ...created }, 'spec'), published['spec']);
  await ended(stage);
  const [old, next] = [imageOf('1'), imageOf('2')];
  assert.deepEqual(images(stage), [old, old, old, old]);
  assert.equal(numberAt(stage.status(name), 'percentDeployed'), 25);
  assert.equal(numberAt(stage.status(name), 'readyReplicasRotor'), 4);

  const template = { spec: { containers: [{ name: 'bedrock-example', image: next }] } };
  await stage.edit({ rolloutIdentity: 'anew', statefulset: { spec: { template } } }, name);
  await ended(stage);
  assert.deepEqual(images(stage), [old, old, old, next]);
  const bapi = { stageId: '2V6U3YXVO8OGtjQFEO9GJpQk1Xz' };
  await stage.edit({ percent: 100, bapi }, name);
  await ended(stage);
  assert.deepEqual(images(stage), [next, next, next, next]);
  assert.deepEqual(
    stage.evictions(),
    [3, 2, 1, 0].map((ordinal) => `${name}-${ordinal}`),
  );
  const times = cluster.eventLog.calls
    .filter(({ subresource }) => subresource === 'eviction')
    .map(({ startedAt }) => startedAt);
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
  assert.ok(Math.min(...gaps) >= 10_000, `${gaps.join(', ')} ms`);

  const told = stage.receiver.calls.map(({ url, told: body }) => [url, body['result']]);
  const first = 'http://bedrock-api.example/v1/stages/2V6U3YXVO8OGtjQFEO9GJpQk1Xy/callback';
  const last = 'http://bedrock-api.example/v1/stages/2V6U3YXVO8OGtjQFEO9GJpQk1Xz/callback';
  assert.deepEqual(
    told,
    [first, first, last].map((url) => [url, 'success']),
  );
  await stage.until('Slack shows the end', () =>
    /^Done: bedrock-example-prod .*\(100 %\)/.test(
      stage.slack.calls.findLast(({ call }) => call.page === 0)?.call.message.text ?? '',
    ),
  );
  assert.equal(stage.slack.posts()[0]?.call.channel, '#devel-rollouts');
  const build = objectAt(stage.status(name), 'buildMetadata');
  assert.equal(build['branch'], 'main');
  assert.equal(build['origin'], 'git@git.example:example/bedrock-example.git');
  await stage.close();
});
