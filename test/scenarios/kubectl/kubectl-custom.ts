/** kubectl works with custom resources (CL-6), for every cluster. */
import assert from 'node:assert/strict';
import type { KubectlSuite } from './kubectl.ts';

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
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {replicas: {type: integer, maximum: 9}}}, status: {type: object, properties: {replicas: {type: integer}}}}}}
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

/** See above. */
export const customResources: KubectlSuite = {
  name: 'kubectl works with custom resources',
  prepare: async ({ kubectl }) => {
    await kubectl(['apply', '-f', '-'], definition);
    const crd = 'crd/rings.demo.example.com';
    await kubectl(['wait', '--for=condition=Established', crd, '--timeout=20s']);
  },
  tests: {
    'apply creates, does nothing, and then merges (cluster 28)': async ({ kubectl }) => {
      const apply = (replicas: number): Promise<string> =>
        kubectl(['apply', '-f', '-'], ring(replicas));
      assert.equal(await apply(2), 'ring.demo.example.com/a created\n');
      assert.equal(await apply(2), 'ring.demo.example.com/a unchanged\n');
      assert.equal(await apply(3), 'ring.demo.example.com/a configured\n');
      assert.match(await kubectl(['get', 'rg']), /^NAME +WANTED\na +3$/m);
    },
    'a value beyond the schema is refused with its field (cluster 50)': async ({ run }) => {
      const refused = await run(['apply', '-f', '-'], ring(10));
      assert.match(refused.stderr, /spec\.replicas in body should be less than or equal to 9/);
    },
    'scale, a patch of the status, and no strategic merge (cluster 50)': async ({
      kubectl,
      run,
    }) => {
      assert.match(await kubectl(['scale', 'ring/a', '--replicas=5']), /scaled/);
      const merge = ['--subresource=status', '--type=merge', '-p', '{"status":{"replicas":1}}'];
      await kubectl(['patch', 'ring', 'a', ...merge]);
      const counts = 'jsonpath={.spec.replicas} {.status.replicas}';
      assert.equal(await kubectl(['get', 'ring', 'a', '-o', counts]), '5 1');
      const refused = await run(['patch', 'ring', 'a', '-p', '{"spec":{"replicas":2}}']);
      assert.match(refused.stderr, /strategic-merge-patch\+json is not supported/);
    },
    'delete of the definition takes the resource away (cluster 50)': async ({ kubectl, run }) => {
      await kubectl(['delete', 'crd', 'rings.demo.example.com', '--timeout=20s']);
      assert.equal((await run(['get', 'rings'])).code, 1);
    },
  },
};
