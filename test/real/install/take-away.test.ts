/** The command of the README that frees resources whose operator is gone, as it is there, on a real control plane. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { phasedRolloutDefinition } from '#phased-rollout/definition.ts';
import { finalizer as phasedFinalizer } from '#phased-rollout/parse-resource.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import { finalizer as percentFinalizer } from '#statefulset-rollout/parse-resource.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { features } from '../../scenarios/env.ts';
import { kubectlMissing } from '../../scenarios/kubectl/kubectl-env.ts';
import { MovingStage } from '../migration/moving-stage.ts';

const readme = fileURLToPath(new URL('../../../README.md', import.meta.url));

/** The one block of shell commands of its section about taking the operator away. */
async function freeing(): Promise<string> {
  const [, section = ''] = (await readFile(readme, 'utf8')).split('### Take it away\n');
  const [, block] = /```sh\n(.*?)```/s.exec(section.split('\n### ')[0] ?? '') ?? [];
  assert.ok(block !== undefined, 'the section has no block of sh');
  return block;
}

const resources = `
apiVersion: sts.plus/v1alpha1
kind: PhasedRollout
metadata: { name: web, finalizers: ["${phasedFinalizer}"] }
spec: { targetRef: web, check: { query: { expr: "up", url: "http://prometheus" } } }
---
apiVersion: bedrock.operator.slack.com/v1
kind: StatefulsetRollout
metadata: { name: kv, finalizers: ["${percentFinalizer}"] }
spec:
  percent: 100
  statefulset:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: { name: kv, labels: { app: kv } }
    spec:
      replicas: 1
      selector: { matchLabels: { app: kv } }
      template: { metadata: { labels: { app: kv } }, spec: { containers: [{ name: main, image: "kv:1" }] } }
      updateStrategy: { type: OnDelete }
`;

describe('the commands of the README that take the operator away', {
  skip: kubectlMissing(),
}, () => {
  let lane: RealLane;

  before(async () => {
    lane = await startRealLane();
  });

  after(async () => {
    await lane?.close();
  });

  test('end a namespace that is deleted, and whose resources have no operator any more [found R-11]', {
    timeout: 180_000,
  }, async (context) => {
    if (lane.own === undefined) {
      context.skip(features.disturbance);
      return;
    }
    const stage = await MovingStage.open(lane, lane.own);
    const away = `NAMESPACE=${stage.env.namespace}-away`;
    const definitions = [phasedRolloutDefinition, statefulsetRolloutDefinition];
    const list = { apiVersion: 'v1', kind: 'List', items: definitions };
    await stage.sh('kubectl apply --server-side -f -', JSON.stringify(list));
    await stage.sh(`${away}; kubectl create namespace "$NAMESPACE"`);
    await stage.made('kubectl wait --for=condition=Established crd --all --timeout=30s');
    await stage.sh(`${away}; kubectl -n "$NAMESPACE" apply -f -`, resources);
    const deletion = `${away}; kubectl delete namespace "$NAMESPACE" --wait=false`;
    await stage.sh(deletion);
    const remaining = `jsonpath='{.status.conditions[?(@.type=="NamespaceFinalizersRemaining")].status}'`;
    const wait = `kubectl wait "namespace/$NAMESPACE" --for=${remaining}=True --timeout=60s`;
    await stage.sh(`${away}; ${wait}`);
    await stage.sh(`${away}; ${await freeing()}`);
    await stage.sh(`${away}; kubectl wait --for=delete "namespace/$NAMESPACE" --timeout=90s`);
    await stage.close();
  });
});
