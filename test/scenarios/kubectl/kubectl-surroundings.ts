/** What a person looks at beside sets and pods, as it is on a cluster that has controllers for it. */
import assert from 'node:assert/strict';
import type { KubectlSuite } from './kubectl.ts';

const shop = `
apiVersion: v1
kind: Service
metadata: {name: shop}
spec: {clusterIP: None, selector: {app: shop}, ports: [{port: 80, targetPort: http, name: http}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: shop}
spec:
  replicas: 2
  serviceName: shop
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: app, image: "shop:1", ports: [{name: http, containerPort: 8080}]}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}
`;

/** See above. */
export const surroundings: KubectlSuite = {
  name: 'kubectl shows volumes, addresses and versions',
  prepare: async ({ kubectl }) => {
    await kubectl(['apply', '-f', '-'], shop);
    await kubectl(['rollout', 'status', 'sts/shop', '--timeout=20s']);
  },
  tests: {
    'get nodes shows the version of the server': async ({ kubectl }) => {
      const nodes = await kubectl(['get', 'nodes', '-o', 'wide']);
      assert.match(nodes, /^node-0 +Ready +<none> +\S+ +v1\.36\.0\+embedded +192\.168\.0\.1 /m);
    },
    'get pvc, pv and sc show volumes of the default class': async ({ kubectl }) => {
      const claims = await kubectl(['get', 'pvc']);
      const claim = /^data-shop-0 +Bound +(pvc-[0-9a-f-]{36}) +2Gi +RWO +standard +<unset> /m;
      const [, volume = ''] = claim.exec(claims) ?? [];
      assert.notEqual(volume, '', claims);
      const volumes = await kubectl(['get', 'pv', volume]);
      assert.match(volumes, / 2Gi +RWO +Delete +Bound +default\/data-shop-0 +standard +<unset> /);
      assert.match(await kubectl(['get', 'sc']), /^standard \(default\) +\S+ +Delete +Immediate/m);
      assert.match(await kubectl(['describe', 'pvc', 'data-shop-0']), /^Capacity: +2Gi$/m);
    },
    'the volume of a claim goes with it': async ({ kubectl }) => {
      const claim = '{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"odd"},';
      const spec = '"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}';
      await kubectl(['create', '-f', '-'], `${claim}"spec":{${spec}}}`);
      await kubectl(['wait', '--for=jsonpath={.status.phase}=Bound', 'pvc/odd', '--timeout=20s']);
      const volume = await kubectl(['get', 'pvc', 'odd', '-o', 'jsonpath={.spec.volumeName}']);
      await kubectl(['delete', 'pvc', 'odd']);
      await kubectl(['wait', '--for=delete', `pv/${volume}`, '--timeout=20s']);
    },
    'get endpoints and describe service show where pods are reached': async ({ kubectl }) => {
      const address = 'jsonpath={.status.podIP}';
      const [first, second] = await Promise.all(
        ['shop-0', 'shop-1'].map((pod) => kubectl(['get', 'pod', pod, '-o', address])),
      );
      const reached = `${first}:8080,${second}:8080`;
      const all = 'jsonpath={.subsets[0].addresses[1].ip}';
      await kubectl(['wait', `--for=${all}=${second}`, 'endpoints/shop', '--timeout=20s']);
      assert.ok((await kubectl(['get', 'endpoints', 'shop'])).includes(` ${reached} `));
      const service = await kubectl(['describe', 'service', 'shop']);
      assert.match(service, new RegExp(`^Endpoints: +${reached}$`, 'm'));
    },
    'the addresses of a service go with it': async ({ kubectl }) => {
      await kubectl(['delete', 'service', 'shop']);
      await kubectl(['wait', '--for=delete', 'endpoints/shop', '--timeout=20s']);
      const slices = '-l=kubernetes.io/service-name=shop';
      await kubectl(['wait', '--for=delete', 'endpointslices', slices, '--timeout=20s']);
    },
  },
};
