import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type KubectlEnv, kubectlMissing, startKubectlEnv } from './kubectl-env.ts';

const skip = kubectlMissing();

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

describe('kubectl reads and writes objects', { skip }, () => {
  let env: KubectlEnv;

  before(async () => {
    env = await startKubectlEnv();
    await env.kubectl(['apply', '-f', '-'], setYaml('web'));
    await env.kubectl(['rollout', 'status', 'sts/web', '--timeout=20s']);
  });

  after(async () => {
    await env.close();
  });

  test('api-resources shows what is served, with short names (T02)', async () => {
    const resources = await env.kubectl(['api-resources']);
    assert.match(resources, /^statefulsets +sts +apps\/v1 +true +StatefulSet$/m);
    assert.match(resources, /^nodes +no +v1 +false +Node$/m);
  });

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
    'statefulsets',
    'controllerrevisions',
    'poddisruptionbudgets',
    'leases',
    'deployments',
    'replicasets',
    'roles',
    'clusterroles',
    'rolebindings',
    'clusterrolebindings',
  ];
  for (const kind of kinds) {
    test(`get, get -o yaml and describe work for ${kind} (T02)`, async () => {
      await env.kubectl(['get', kind, '-A']);
      const yaml = await env.kubectl(['get', kind, '-A', '-o', 'yaml']);
      assert.match(yaml, /^kind: List$/m);
      await env.kubectl(['describe', kind, '-A']);
    });
  }

  test('get shows the columns of a set and of its pods (T02)', async () => {
    const sets = await env.kubectl(['get', 'sts', '-o', 'wide']);
    assert.match(sets, /^NAME +READY +AGE +CONTAINERS +IMAGES$/m);
    assert.match(sets, /^web +3\/3 +\S+ +app +app:1$/m);
    const pods = await env.kubectl(['get', 'pods']);
    assert.match(pods, /^NAME +READY +STATUS +RESTARTS +AGE$/m);
    assert.match(pods, /^web-0 +1\/1 +Running +0 +\d+s$/m);
  });

  test('get -w shows changes as they come (T02)', async () => {
    const watch = env.start(['get', 'sts', 'web', '-w', '--no-headers']);
    await watch.line(/^web +3\/3/);
    await env.kubectl(['scale', 'sts/web', '--replicas=4']);
    await watch.line(/^web +4\/4/);
    watch.stop();
    const last = ['--replicas=3', '--current-replicas=4'];
    assert.match(await env.kubectl(['scale', 'sts/web', ...last]), /scaled/);
  });

  test('a second apply changes nothing, and diff finds nothing (T28)', async () => {
    await env.kubectl(['apply', '-f', '-'], setYaml('twice'));
    const second = await env.kubectl(['apply', '-f', '-'], setYaml('twice'));
    assert.equal(second, 'service/twice unchanged\nstatefulset.apps/twice unchanged\n');
    const same = await env.run(['diff', '-f', '-'], setYaml('twice'));
    assert.deepEqual([same.code, same.stdout], [0, '']);
    const changed = await env.run(['diff', '-f', '-'], setYaml('twice', 'app:2'));
    assert.equal(changed.code, 1);
    assert.match(changed.stdout, /^\+ +image: app:2$/m);
  });

  test('a server dry run answers and stores nothing (T28)', async () => {
    const yaml = setYaml('dry');
    const text = await env.kubectl(['apply', '--dry-run=server', '-f', '-'], yaml);
    assert.match(text, /statefulset\.apps\/dry created \(server dry run\)/);
    assert.equal((await env.run(['get', 'sts', 'dry'])).code, 1);
  });

  test('apply refuses an unknown field, and warns of it where validation is warn (T26)', async () => {
    const yaml = `
apiVersion: v1
kind: ConfigMap
metadata: {name: typo}
dta: {a: b}
`;
    const refused = await env.run(['apply', '-f', '-'], yaml);
    assert.match(refused.stderr, /strict decoding error: unknown field "dta"/);
    const warned = await env.run(['apply', '--validate=warn', '-f', '-'], yaml);
    assert.match(warned.stderr, /Warning: unknown field "dta"/);
    assert.equal(warned.code, 0);
  });

  test('label, annotate and delete act on one object', async () => {
    await env.kubectl(['apply', '-f', '-'], setYaml('small'));
    await env.kubectl(['label', 'sts', 'small', 'team=a']);
    await env.kubectl(['annotate', 'sts', 'small', 'note=b']);
    const shown = await env.kubectl(['get', 'sts', '-l', 'team=a', '-o', 'name']);
    assert.equal(shown, 'statefulset.apps/small\n');
    await env.kubectl(['delete', 'sts', 'small', '--timeout=20s']);
    assert.match((await env.run(['get', 'sts', 'small'])).stderr, /NotFound/);
  });

  test('create with a protobuf body stores what JSON would (T29)', async () => {
    await env.kubectl(['create', 'namespace', 'other']);
    await env.kubectl(['create', 'configmap', 'settings', '--from-literal=a=b']);
    const data = ['get', 'configmap', 'settings', '-o', 'jsonpath={.data.a}'];
    assert.equal(await env.kubectl(data), 'b');
    await env.kubectl(['create', 'secret', 'generic', 'hidden', '--from-literal=a=b']);
    await env.kubectl(['create', 'serviceaccount', 'robot']);
    await env.kubectl(['create', 'role', 'reader', '--verb=get', '--resource=pods']);
    const budget = ['--selector=app=web', '--max-unavailable=50%'];
    await env.kubectl(['create', 'pdb', 'web', ...budget]);
    const limit = ['get', 'pdb', 'web', '-o', 'jsonpath={.spec.maxUnavailable}'];
    assert.equal(await env.kubectl(limit), '50%');
  });

  test('a protobuf body of a kind that is not decoded is refused with a hint (T29)', async () => {
    const refused = await env.run(['create', 'deployment', 'other', '--image=app:1']);
    assert.match(refused.stderr, /set the ContentType of the client to application\/json/);
  });
});
