/** Two releases of the chart in one cluster: objects of which both were would be those of the one that came last. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { pathOf, Renderer } from '../../real-cluster/rendered.ts';

interface Release {
  readonly release: string;
  readonly namespace: string;
  readonly values?: JsonObject;
}

const monitored = { serviceMonitor: { enabled: true, namespace: 'monitoring' } };
const definition = 'CustomResourceDefinition';

/** Of two namespaces, and with names that run into one another. */
const pairs: Readonly<Record<string, readonly [Release, Release]>> = {
  'of the usual name': [
    { release: 'rollout-operator', namespace: 'cells' },
    { release: 'rollout-operator', namespace: 'other' },
  ],
  'whose names and namespaces are the same text together': [
    { release: 'rollout-operator', namespace: 'eu-cells' },
    { release: 'rollout-operator-eu', namespace: 'cells' },
  ],
  'of other names, whose names and namespaces are the same text together': [
    { release: 'a', namespace: 'b-c', values: { fullnameOverride: 'a' } },
    { release: 'a-b', namespace: 'c', values: { fullnameOverride: 'a-b' } },
  ],
  'of which one is named like the usual one with a namespace': [
    { release: 'rollout-operator', namespace: 'cells' },
    { release: 'x', namespace: 'other', values: { fullnameOverride: 'rollout-operator-cells' } },
  ],
};

describe('two releases of the chart', () => {
  let renderer: Renderer;

  before(async () => {
    const say = (line: string): void => void process.stderr.write(`${line}\n`);
    renderer = await Renderer.create({ env: process.env, say });
  });

  after(() => renderer?.close());

  /** Paths at the API server of all that a release has, but for definitions, which are the same for all. */
  async function pathsOf({ release, namespace, values }: Release): Promise<readonly string[]> {
    const objects = await renderer.chart({ ...monitored, ...values }, { release, namespace });
    const own = objects.filter((each) => textAt(each, 'kind') !== definition);
    return own.map((each) => pathOf(each, namespace));
  }

  for (const [which, [one, other]] of Object.entries(pairs)) {
    test(`in two namespaces have no object in common: those ${which}`, async () => {
      const [ours, theirs] = [await pathsOf(one), await pathsOf(other)];
      assert.ok(ours.length > 10);
      assert.deepEqual(
        ours.filter((path) => theirs.includes(path)),
        [],
      );
    });
  }

  test('in one namespace have in common only what makes them one operator: reviews, certificate, claims, times', async () => {
    const ours = await pathsOf({ release: 'rollout-operator', namespace: 'cells' });
    const theirs = await pathsOf({ release: 'mimir', namespace: 'cells' });
    assert.deepEqual(ours.filter((path) => theirs.includes(path)).toSorted(), [
      '/api/v1/namespaces/cells/configmaps/rollout-operator-claims',
      '/api/v1/namespaces/cells/configmaps/rollout-operator-zone-tracker',
      '/api/v1/namespaces/cells/secrets/rollout-operator-self-signed-certificate',
      '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/prepare-downscale-cells',
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/no-downscale-cells',
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/pod-eviction-cells',
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/zpdb-validation-cells',
    ]);
  });

  test("of the usual name have the names of the peer's chart", async () => {
    const paths = await pathsOf({ release: 'rollout-operator', namespace: 'cells' });
    const ofCluster = paths.filter((path) => !path.includes('/namespaces/'));
    assert.deepEqual(ofCluster.toSorted(), [
      '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/prepare-downscale-cells',
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/no-downscale-cells',
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/pod-eviction-cells',
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/zpdb-validation-cells',
      '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/rollout-operator-cells-webhook-cert-secret-rolebinding',
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/rollout-operator-cells-webhook-cert-update-role',
    ]);
  });
});
