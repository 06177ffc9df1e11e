/** kubectl reads and writes objects (CL-1…CL-7, CL-10, CL-11, CL-13), for every cluster. */
import assert from 'node:assert/strict';
import type { KubectlSuite } from './kubectl.ts';

function setYaml(name: string, image = 'app:1'): string {
  return `
apiVersion: v1
kind: Service
metadata: {name: ${name}, labels: {app: ${name}}}
spec: {clusterIP: None, selector: {app: ${name}}, ports: [{port: 80, name: http}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: ${name}}
spec:
  replicas: 3
  serviceName: ${name}
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: app, image: "${image}", env: [{name: A, value: "1"}, {name: B, value: "2"}]}]
`;
}

const kinds = [
  'namespaces',
  'pods',
  'nodes',
  'services',
  'configmaps',
  'secrets',
  'events',
  'serviceaccounts',
  'persistentvolumeclaims',
  'persistentvolumes',
  'storageclasses',
  'endpoints',
  'endpointslices',
  'statefulsets',
  'controllerrevisions',
  'poddisruptionbudgets',
  'leases',
  'roles',
  'clusterroles',
  'rolebindings',
  'clusterrolebindings',
  'customresourcedefinitions',
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
];

const readings = Object.fromEntries(
  kinds.map((kind): [string, KubectlSuite['tests'][string]] => [
    `get, get -o yaml and describe work for ${kind} (cluster 2)`,
    async ({ kubectl }) => {
      await kubectl(['get', kind, '-A']);
      const yaml = await kubectl(['get', kind, '-A', '-o', 'yaml']);
      assert.match(yaml, /^kind: List$/m);
      await kubectl(['describe', kind, '-A']);
    },
  ]),
);

/** See above. */
export const objects: KubectlSuite = {
  name: 'kubectl reads and writes objects',
  prepare: async ({ kubectl }) => {
    await kubectl(['apply', '-f', '-'], setYaml('web'));
    await kubectl(['rollout', 'status', 'sts/web', '--timeout=20s']);
  },
  tests: {
    'api-resources shows what is served, with short names (cluster 2)': async ({ kubectl }) => {
      const resources = await kubectl(['api-resources']);
      assert.match(resources, /^statefulsets +sts +apps\/v1 +true +StatefulSet$/m);
      assert.match(resources, /^nodes +no +v1 +false +Node$/m);
      const extending = await kubectl(['api-resources', '--categories=api-extensions', '-o=name']);
      assert.match(extending, /^customresourcedefinitions\.apiextensions\.k8s\.io$/m);
      assert.match(extending, /^mutatingwebhookconfigurations\.admissionregistration\.k8s\.io$/m);
    },
    ...readings,
    'get shows the columns of a set, of its pods and of its scale (cluster 2)': async ({
      kubectl,
    }) => {
      const sets = await kubectl(['get', 'sts', '-o', 'wide']);
      assert.match(sets, /^NAME +READY +AGE +CONTAINERS +IMAGES$/m);
      assert.match(sets, /^web +3\/3 +\S+ +app +app:1$/m);
      const pods = await kubectl(['get', 'pods']);
      assert.match(pods, /^NAME +READY +STATUS +RESTARTS +AGE$/m);
      assert.match(pods, /^web-0 +1\/1 +Running +0 +\S+$/m);
      const scale = await kubectl(['get', 'sts', 'web', '--subresource=scale']);
      assert.match(scale, /^NAME +DESIRED +AVAILABLE +AGE\nweb +3 +3 +\S+$/m);
    },
    'get all shows pods before services before sets (cluster 2)': async ({ kubectl }) => {
      const all = await kubectl(['get', 'all', '-o=name']);
      const seen = all.split('\n').map((name) => name.split('/')[0] ?? '');
      assert.deepEqual([...new Set(seen)], ['pod', 'service', 'statefulset.apps', '']);
    },
    'get -w shows changes as they come (cluster 2)': async ({ kubectl, start }) => {
      const watch = start(['get', 'sts', 'web', '-w', '--no-headers']);
      await watch.line(/^web +3\/3/);
      await kubectl(['scale', 'sts/web', '--replicas=4']);
      await watch.line(/^web +4\/4/);
      watch.stop();
      const last = ['--replicas=3', '--current-replicas=4'];
      assert.match(await kubectl(['scale', 'sts/web', ...last]), /scaled/);
      await kubectl(['wait', '--for=delete', 'pod/web-3', '--timeout=20s']);
    },
    'get selects by label and field, and sorts (cluster 2)': async ({ kubectl, run }) => {
      const names = async (...options: readonly string[]): Promise<string> =>
        kubectl(['get', 'pods', '-o=name', ...options]);
      const running = '--field-selector=status.phase=Running,metadata.name!=web-1';
      assert.equal(await names('-l=app in (web)', running), 'pod/web-0\npod/web-2\n');
      assert.match(await names('--sort-by=.metadata.name', '--chunk-size=2'), /web-0\npod\/web-1/);
      const unknown = await run(['get', 'pods', '--field-selector=spec.unknown=1']);
      assert.match(unknown.stderr, /field label not supported: spec\.unknown/);
      assert.equal(unknown.code, 1);
    },
    'describe tells what a set did, and what a pod is made of (cluster 2)': async ({ kubectl }) => {
      const set = await kubectl(['describe', 'sts', 'web']);
      assert.match(set, /Pods Status: +3 Running \/ 0 Waiting \/ 0 Succeeded \/ 0 Failed/);
      // Versions before 1.35 begin with a small letter.
      assert.match(set, /SuccessfulCreate .* [Cc]reate Pod web-0 in StatefulSet web successful/);
      const pod = await kubectl(['describe', 'pod', 'web-0']);
      assert.match(pod, /^Controlled By: +StatefulSet\/web$/m);
    },
    'a second apply changes nothing, and diff finds nothing (cluster 28)': async ({
      kubectl,
      run,
    }) => {
      await kubectl(['apply', '-f', '-'], setYaml('twice'));
      const second = await kubectl(['apply', '-f', '-'], setYaml('twice'));
      assert.equal(second, 'service/twice unchanged\nstatefulset.apps/twice unchanged\n');
      const same = await run(['diff', '-f', '-'], setYaml('twice'));
      assert.deepEqual([same.code, same.stdout], [0, '']);
      const changed = await run(['diff', '-f', '-'], setYaml('twice', 'app:2'));
      assert.equal(changed.code, 1);
      assert.match(changed.stdout, /^\+ +image: app:2$/m);
    },
    'a server dry run answers and stores nothing (cluster 28)': async ({ kubectl, run }) => {
      const yaml = setYaml('dry');
      const text = await kubectl(['apply', '--dry-run=server', '-f', '-'], yaml);
      assert.match(text, /statefulset\.apps\/dry created \(server dry run\)/);
      assert.equal((await run(['get', 'sts', 'dry'])).code, 1);
    },
    'apply refuses an unknown field, and warns of it where validation is warn (cluster 26)':
      async ({ run }) => {
        const yaml = `
apiVersion: v1
kind: ConfigMap
metadata: {name: typo}
dta: {a: b}
`;
        const refused = await run(['apply', '-f', '-'], yaml);
        assert.match(refused.stderr, /strict decoding error: unknown field "dta"/);
        const warned = await run(['apply', '--validate=warn', '-f', '-'], yaml);
        assert.match(warned.stderr, /Warning: unknown field "dta"/);
        assert.equal(warned.code, 0);
      },
    'patch works in its three forms, and on a part': async ({ kubectl, run }) => {
      await kubectl(['apply', '-f', '-'], setYaml('patched'));
      const patch = (type: string, document: unknown, ...rest: readonly string[]) =>
        run(['patch', 'sts', 'patched', `--type=${type}`, '-p', JSON.stringify(document), ...rest]);
      const variable = { name: 'app', env: [{ name: 'A', value: '9' }] };
      const template = { spec: { containers: [variable] } };
      assert.equal((await patch('strategic', { spec: { template } })).code, 0);
      assert.equal((await patch('merge', { metadata: { labels: { m: '1' } } })).code, 0);
      const add = { op: 'add', path: '/metadata/labels/j', value: '4' };
      assert.equal((await patch('json', [add])).code, 0);
      const failed = await patch('json', [{ op: 'test', path: '/spec/replicas', value: 4 }]);
      assert.match(failed.stderr, /^The request is invalid/);
      const scaled = await patch('merge', { spec: { replicas: 2 } }, '--subresource=scale');
      assert.equal(scaled.code, 0);
      const path =
        'jsonpath={.metadata.labels} {.spec.replicas} {.spec.template.spec.containers[0].env}';
      assert.equal(
        await kubectl(['get', 'sts', 'patched', '-o', path]),
        '{"j":"4","m":"1"} 2 [{"name":"A","value":"9"},{"name":"B","value":"2"}]',
      );
      // Between its read and its write a controller must not say how far the set is: a replace is not tried again.
      await kubectl(['rollout', 'status', 'sts/patched', '--timeout=60s']);
      await kubectl(['replace', '-f', '-'], setYaml('patched', 'app:2'));
      const image = 'jsonpath={.spec.template.spec.containers[0].image}';
      assert.equal(await kubectl(['get', 'sts', 'patched', '-o', image]), 'app:2');
    },
    'label, annotate and delete act on one object': async ({ kubectl, run }) => {
      await kubectl(['apply', '-f', '-'], setYaml('small'));
      await kubectl(['label', 'sts', 'small', 'team=a']);
      const taken = await run(['label', 'sts', 'small', 'team=b']);
      assert.match(taken.stderr, /--overwrite is false/);
      await kubectl(['annotate', 'sts', 'small', 'note=b']);
      const shown = await kubectl(['get', 'sts', '-l', 'team=a', '-o', 'name']);
      assert.equal(shown, 'statefulset.apps/small\n');
      await kubectl(['delete', 'sts', 'small', '--timeout=20s']);
      assert.match((await run(['get', 'sts', 'small'])).stderr, /NotFound/);
    },
    'delete orphans, waits for dependents, and forces': async ({ kubectl, run }) => {
      await kubectl(['apply', '-f', '-'], setYaml('owner'));
      await kubectl(['rollout', 'status', 'sts/owner', '--timeout=20s']);
      await kubectl(['delete', 'sts', 'owner', '--cascade=orphan', '--timeout=20s']);
      const pods = ['get', 'pods', '-l', 'app=owner', '-o', 'name'];
      assert.equal(await kubectl(pods), 'pod/owner-0\npod/owner-1\npod/owner-2\n');
      await kubectl(['apply', '-f', '-'], setYaml('owner'));
      await kubectl(['delete', 'sts', 'owner', '--cascade=foreground', '--timeout=20s']);
      assert.equal(await kubectl(pods), '');
      await kubectl(['delete', 'pod', 'web-2', '--grace-period=0', '--force']);
      await kubectl(['wait', '--for=create', 'pod/web-2', '--timeout=20s']);
      assert.equal((await run(['delete', 'pod', 'nope'])).code, 1);
      await kubectl(['delete', 'pod', 'nope', '--ignore-not-found']);
    },
    'create with a protobuf body stores what JSON would (cluster 29)': async ({ kubectl }) => {
      await kubectl(['create', 'configmap', 'settings', '--from-literal=a=b']);
      const stored = ['get', 'configmap', 'settings', '-o', 'jsonpath={.data.a}'];
      assert.equal(await kubectl(stored), 'b');
      await kubectl(['create', 'secret', 'generic', 'hidden', '--from-literal=a=b']);
      await kubectl(['create', 'serviceaccount', 'robot']);
      await kubectl(['create', 'role', 'reader', '--verb=get', '--resource=pods']);
      const subject = '--serviceaccount=default:robot';
      await kubectl(['create', 'rolebinding', 'reader', '--role=reader', subject]);
      const budget = ['--selector=app=other', '--max-unavailable=50%'];
      await kubectl(['create', 'pdb', 'web', ...budget]);
      const limit = ['get', 'pdb', 'web', '-o', 'jsonpath={.spec.maxUnavailable}'];
      assert.equal(await kubectl(limit), '50%');
    },
    'auth whoami names the user, and can-i what he may do': async ({ kubectl }) => {
      assert.match(await kubectl(['auth', 'whoami']), /^Username +\S+\n(?:.*\n)*Groups +\[/m);
      assert.equal(await kubectl(['auth', 'can-i', 'create', 'pods/eviction']), 'yes\n');
    },
    'whoami names whom an administrator acts as': async ({ kubectl }) => {
      const whoami = async (...as: readonly string[]): Promise<string> => {
        const groups = '{.status.userInfo.username} {.status.userInfo.groups[*]}';
        return kubectl(['auth', 'whoami', ...as, '-o', `jsonpath=${groups}`]);
      };
      const all = 'system:authenticated';
      assert.equal(await whoami('--as=jane'), `jane ${all}`);
      assert.equal(await whoami('--as=jane', '--as-group=dev'), `jane dev ${all}`);
      const account = 'system:serviceaccount:demo:robot';
      const own = 'system:serviceaccounts system:serviceaccounts:demo';
      assert.equal(await whoami(`--as=${account}`), `${account} ${own} ${all}`);
    },
  },
};
