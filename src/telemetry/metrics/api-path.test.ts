import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupLabel, pathLabel } from './api-path.ts';

const paths: Record<string, string> = {
  '': '',
  '/': '/',
  '/api': '/api',
  '/api/v1': '/api/v1',
  '/apis': '/apis',
  '/apis/apps': '/apis/apps',
  '/apis/apps/v1': '/apis/apps/v1',
  '/version': '/version',
  '/healthz': '/healthz',
  '/openapi/v2': '/openapi/v2',
  '/api/v1/pods': 'core/v1/pods collection',
  '/api/v1/namespaces/n/pods': 'core/v1/pods collection',
  '/api/v1/namespaces/n/pods?limit=500&watch=true': 'core/v1/pods collection',
  '/api/v1/namespaces/n/pods/p': 'core/v1/pods object',
  '/api/v1/namespaces/n/pods/p/eviction': 'core/v1/pods object eviction subresource',
  '/api/v1/namespaces/n/pods/p/proxy/metrics': '/api/v1/namespaces/n/pods/p/proxy/metrics',
  '/api/v1/nodes': 'core/v1/nodes collection',
  '/api/v1/nodes/a': 'core/v1/nodes object',
  '/api/v1/namespaces': 'core/v1/namespaces collection',
  '/api/v1/namespaces/n': 'core/v1/namespaces object',
  '/apis/apps/v1/statefulsets': 'apps/v1/statefulsets collection',
  '/apis/apps/v1/namespaces/n/statefulsets': 'apps/v1/statefulsets collection',
  '/apis/apps/v1/namespaces/n/statefulsets/s': 'apps/v1/statefulsets object',
  '/apis/apps/v1/namespaces/n/statefulsets/s/status':
    'apps/v1/statefulsets object status subresource',
  '/apis/example.com/v1beta1/namespaces/n/widgets/w': 'example.com/v1beta1/widgets object',
  '/apis/example.com/v1beta1/namespaces/n/widgets/w/scale':
    'example.com/v1beta1/widgets object scale subresource',
  '/apis/example.com/v1beta1/namespaces/n/widgets/w/status':
    'example.com/v1beta1/widgets object status subresource',
  '/apis/coordination.k8s.io/v1/namespaces/n/leases/l': 'coordination.k8s.io/v1/leases object',
  '/api/v1/namespaces/n/pods/': '/api/v1/namespaces/n/pods/',
};
for (const [path, label] of Object.entries(paths)) {
  test(`[scenario 75] pathLabel() of "${path}" is "${label}" (ME-12)`, () => {
    assert.equal(pathLabel(path), label);
  });
}

const groups: Record<string, string> = {
  '': '/',
  '/': '/',
  '/api': 'core',
  '/api/v1': 'core',
  '/api/v1/namespaces/n/pods/p': 'core',
  '/apis': 'apis',
  '/apis/': 'apis',
  '/apis/apps': 'apps',
  '/apis/apps/v1/namespaces/n/statefulsets': 'apps',
  '/apis/example.com/v1/namespaces/n/widgets/w/scale': 'example.com',
  '/version': '/version',
  '/version?timeout=5s': '/version',
  '/healthz': '/healthz',
  '/openapi/v2': '/openapi',
};
for (const [path, label] of Object.entries(groups)) {
  test(`[scenario 75] groupLabel() of "${path}" is "${label}" (ME-13)`, () => {
    assert.equal(groupLabel(path), label);
  });
}
