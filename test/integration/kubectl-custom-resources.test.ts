import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type KubectlEnv, kubectlMissing, startKubectlEnv } from './kubectl-env.ts';

const skip = kubectlMissing();

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rings.demo.example.com}
spec:
  group: demo.example.com
  scope: Namespaced
  names: {plural: rings, kind: Ring, shortNames: [rg]}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {replicas: {type: integer, maximum: 9}}}}}}
    additionalPrinterColumns: [{name: Wanted, type: integer, jsonPath: .spec.replicas}]
`;

function ring(replicas: number): string {
  return `
apiVersion: demo.example.com/v1
kind: Ring
metadata: {name: a}
spec: {replicas: ${replicas}}
`;
}

describe('kubectl works with custom resources', { skip }, () => {
  let env: KubectlEnv;

  before(async () => {
    env = await startKubectlEnv();
    await env.kubectl(['apply', '-f', '-'], definition);
    const crd = 'crd/rings.demo.example.com';
    await env.kubectl(['wait', '--for=condition=Established', crd, '--timeout=20s']);
  });

  after(async () => {
    await env.close();
  });

  test('apply creates, does nothing, and then merges (T28)', async () => {
    const apply = (replicas: number): Promise<string> =>
      env.kubectl(['apply', '-f', '-'], ring(replicas));
    assert.equal(await apply(2), 'ring.demo.example.com/a created\n');
    assert.equal(await apply(2), 'ring.demo.example.com/a unchanged\n');
    assert.equal(await apply(3), 'ring.demo.example.com/a configured\n');
    assert.match(await env.kubectl(['get', 'rg']), /^NAME +WANTED\na +3$/m);
  });

  test('a value beyond the schema is refused with its field (T50)', async () => {
    const refused = await env.run(['apply', '-f', '-'], ring(10));
    assert.match(refused.stderr, /spec\.replicas in body should be less than or equal to 9/);
  });

  test('delete of the definition takes the resource away (T50)', async () => {
    await env.kubectl(['delete', 'crd', 'rings.demo.example.com', '--timeout=20s']);
    assert.equal((await env.run(['get', 'rings'])).code, 1);
  });
});
