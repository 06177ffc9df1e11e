import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webhookConfigurations, webhookService } from './webhook-configurations.ts';

test('webhookConfigurations() is what the peer ships', () => {
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
  assert.deepEqual(webhookConfigurations({ namespace: 'cells' }), [
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
