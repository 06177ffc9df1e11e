import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { defaultMutatingWebhooks } from '../defaults/default-webhook.ts';
import { validateWebhooks } from './validate-webhook.ts';

const rule = {
  operations: ['CREATE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['pods'],
};
const good: JsonObject = {
  name: 'a.test.example',
  clientConfig: { url: 'https://a.example/x' },
  rules: [rule],
  sideEffects: 'None',
  admissionReviewVersions: ['v1', 'v1beta1'],
};

function causesOf(...webhooks: readonly JsonObject[]): readonly string[] {
  const causes = validateWebhooks({ metadata: { name: 'a' }, webhooks });
  return causes.map(({ field, message }) => `${field}: ${message}`);
}

test('validateWebhooks() accepts a complete webhook', () => {
  assert.deepEqual(causesOf(good), []);
});

const cases: Record<string, { readonly given: JsonObject; readonly want: readonly string[] }> = {
  'a name of two segments': {
    given: { name: 'a.example' },
    want: [
      'webhooks[0].name: Invalid value: "a.example": should be a domain with at least three segments separated by dots',
    ],
  },
  'side effects': {
    given: { sideEffects: 'Unknown' },
    want: [
      'webhooks[0].sideEffects: Unsupported value: "Unknown": supported values: "None", "NoneOnDryRun"',
    ],
  },
  'an unknown failure policy': {
    given: { failurePolicy: 'Maybe' },
    want: [
      'webhooks[0].failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"',
    ],
  },
  'a timeout of 31 s': {
    given: { timeoutSeconds: 31 },
    want: [
      'webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
    ],
  },
  'neither URL nor Service': {
    given: { clientConfig: {} },
    want: ['webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
  },
  'a URL without TLS': {
    given: { clientConfig: { url: 'http://a.example' } },
    want: [
      'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
    ],
  },
  'a path with an empty segment': {
    given: { clientConfig: { service: { name: 'a', namespace: 'b', path: '/a//b' } } },
    want: [
      'webhooks[0].clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty',
    ],
  },
  'an operation that there is not': {
    given: { rules: [{ ...rule, operations: ['GET'] }] },
    want: [
      'webhooks[0].rules[0].operations[0]: Unsupported value: "GET": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
    ],
  },
  'a rule without resources': {
    given: { rules: [{ ...rule, resources: [] }] },
    want: ['webhooks[0].rules[0].resources: Required value'],
  },
  'resources beside all of them': {
    given: { rules: [{ ...rule, resources: ['*/*', 'pods'] }] },
    want: [
      'webhooks[0].rules[0].resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not specify other resources',
    ],
  },
  'conditions, which nothing here evaluates': {
    given: { matchConditions: [{ name: 'a', expression: 'true' }] },
    want: [
      'webhooks[0].matchConditions: Forbidden: the embedded cluster evaluates no CEL expressions',
    ],
  },
  'an old version of reviews before the new one': {
    given: { admissionReviewVersions: ['v1beta1', 'v1'] },
    want: [
      'webhooks[0].admissionReviewVersions: Forbidden: the embedded cluster sends admission.k8s.io/v1 reviews only: put "v1" first',
    ],
  },
};
for (const [fact, { given, want }] of Object.entries(cases)) {
  test(`validateWebhooks() refuses ${fact}`, () => {
    assert.deepEqual(causesOf({ ...good, ...given }), want);
  });
}

test('validateWebhooks() refuses a name that is taken', () => {
  assert.deepEqual(causesOf(good, good), ['webhooks[1].name: Duplicate value: "a.test.example"']);
});

test('defaultMutatingWebhooks() completes webhooks, rules and Services', () => {
  const clientConfig = { service: { name: 'a', namespace: 'b' } };
  assert.deepEqual(defaultMutatingWebhooks({ webhooks: [{ clientConfig, rules: [{}] }] }), {
    webhooks: [
      {
        clientConfig: { service: { name: 'a', namespace: 'b', port: 443 } },
        rules: [{ scope: '*' }],
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        timeoutSeconds: 10,
        reinvocationPolicy: 'Never',
      },
    ],
  });
});
