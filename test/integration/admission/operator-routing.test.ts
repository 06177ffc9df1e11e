/** The manifests of the peer since v0.40.0, whose Service selects a label that only the program gives its pod. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PolicyRule } from '#cluster/auth/authorizer.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import {
  peerCertificateRules,
  peerClusterRules,
  peerRules,
} from '../../../scripts/install/peer-role.ts';
import { WebhookStage } from '../stages/webhook-stage.ts';

const namespace = 'test';
const LEADER = 'rollout-operator.grafana.com/leader';
const user = { name: 'rollout-operator', groups: ['system:authenticated'] };
const leases: PolicyRule = {
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  verbs: ['get', 'create', 'update'],
};

describe("the operator under the peer's manifests of v0.40.0", () => {
  let stage: WebhookStage;

  before(async () => {
    stage = await WebhookStage.open(user);
    const inNamespace = [
      ...peerRules,
      ...peerCertificateRules('rollout-operator-self-signed-certificate'),
      leases,
    ];
    stage.cluster.authorizer.restrict([
      { user: user.name, namespace, rules: inNamespace },
      { user: user.name, rules: peerClusterRules },
    ]);
    const document = { spec: { selector: { name: 'rollout-operator', [LEADER]: 'true' } } };
    const key = { namespace, name: 'rollout-operator' };
    await stage.admin.patch(resourceTypes.services, key, { body: { kind: 'merge', document } });
  });

  after(async () => {
    await stage.close();
  });

  /** What the label of a replica's pod was, one after the other. */
  function labelsOf(name: string): readonly string[] {
    return stage.cluster.eventLog.commits
      .filter(({ resource, name: pod }) => resource === 'pods' && pod === name)
      .map(({ after }) => textAt(after, 'metadata', 'labels', LEADER));
  }

  async function replica(name: string): ReturnType<WebhookStage['operator']> {
    const metadata = { name, labels: { name: 'rollout-operator' } };
    const spec = { containers: [{ name: 'rollout-operator', image: 'x' }] };
    await stage.admin.create(resourceTypes.pods, { namespace }, { body: { metadata, spec } });
    const labelled = new Promise<void>((resolve) => {
      stage.cluster.eventLog.onCommit(({ resource, name: pod, after }) => {
        const isIt = resource === 'pods' && pod === name;
        if (isIt && textAt(after, 'metadata', 'labels', LEADER) === 'true') resolve();
      });
    });
    const started = await stage.operator(['-leader-election.enabled=true'], { POD_NAME: name });
    await labelled;
    return started;
  }

  test('labels the pod of every replica that answers reviews, and takes the label off as it ends [found R-22]', async () => {
    const leading = await replica('rollout-operator-1');
    const waiting = await replica('rollout-operator-2');
    for (const { process } of [leading, waiting]) {
      process.kill('SIGTERM');
      assert.equal(await process.exitCode(), 0);
    }
    assert.deepEqual(labelsOf('rollout-operator-1'), ['', 'true', '']);
    assert.deepEqual(labelsOf('rollout-operator-2'), ['', 'true', '']);
  });
});
