import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsAt } from '#cluster/json/read-json.ts';
import { webhookConfigurations, webhookService } from './webhook-configurations.ts';

test('webhookConfigurations() is what the peer ships for servers without match conditions', () => {
  const labels = {
    'grafana.com/inject-rollout-operator-ca': 'true',
    'grafana.com/namespace': 'cells',
  };
  const common = {
    rules: [
      {
        operations: ['UPDATE'],
        apiGroups: ['apps'],
        apiVersions: ['v1'],
        resources: ['statefulsets', 'statefulsets/scale'],
        scope: 'Namespaced',
      },
    ],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'cells' } },
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    timeoutSeconds: 10,
    admissionReviewVersions: ['v1'],
  };
  const service = { name: 'rollout-operator', namespace: 'cells', port: 443 };
  assert.deepEqual(webhookConfigurations({ namespace: 'cells', isConditional: false }), [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'no-downscale-cells', labels },
      webhooks: [
        {
          ...common,
          name: 'no-downscale-cells.grafana.com',
          clientConfig: { service: { ...service, path: '/admission/no-downscale' } },
          sideEffects: 'None',
        },
      ],
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'prepare-downscale-cells', labels },
      webhooks: [
        {
          ...common,
          name: 'prepare-downscale-cells.grafana.com',
          clientConfig: { service: { ...service, path: '/admission/prepare-downscale' } },
          sideEffects: 'NoneOnDryRun',
        },
      ],
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'pod-eviction-cells', labels },
      webhooks: [
        {
          ...common,
          name: 'pod-eviction-cells.grafana.com',
          clientConfig: { service: { ...service, path: '/admission/pod-eviction' } },
          rules: [
            {
              operations: ['CREATE'],
              apiGroups: [''],
              apiVersions: ['v1'],
              resources: ['pods/eviction'],
              scope: 'Namespaced',
            },
          ],
          sideEffects: 'NoneOnDryRun',
        },
      ],
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'zpdb-validation-cells', labels },
      webhooks: [
        {
          name: 'zpdb-validation-cells.grafana.com',
          clientConfig: { service: { ...service, path: '/admission/zpdb-validation' } },
          rules: [
            {
              operations: ['CREATE', 'UPDATE'],
              apiGroups: ['rollout-operator.grafana.com'],
              apiVersions: ['v1'],
              resources: ['zoneawarepoddisruptionbudgets'],
              scope: 'Namespaced',
            },
          ],
          namespaceSelector: common.namespaceSelector,
          failurePolicy: 'Fail',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    },
  ]);
});

test('webhookService() leads from 443 to the port named https', () => {
  const { spec } = webhookService({ name: 'rollout-operator' });
  assert.deepEqual(spec, {
    type: 'ClusterIP',
    selector: { name: 'rollout-operator' },
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 'https' }],
  });
});

test('webhookConfigurations() asks about updates that may shrink a set, and no others [found R-10]', () => {
  const conditional = webhookConfigurations({ namespace: 'cells' });
  const plain = webhookConfigurations({ namespace: 'cells', isConditional: false });
  const matchConditions = [
    {
      name: 'may-shrink',
      expression:
        '!has(object.spec) || !has(oldObject.spec) || ' +
        '(has(object.spec.replicas) ? object.spec.replicas : 0) < ' +
        '(has(oldObject.spec.replicas) ? oldObject.spec.replicas : 1)',
    },
  ];
  const wanted = plain.map((each, index) => {
    const [webhook] = objectsAt(each, 'webhooks');
    return index < 2 ? { ...each, webhooks: [{ ...webhook, matchConditions }] } : each;
  });
  assert.deepEqual(conditional, wanted);
});
