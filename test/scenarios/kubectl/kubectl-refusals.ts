/** What kubectl is reported where the embedded cluster alone refuses, or answers otherwise. */
import assert from 'node:assert/strict';
import { refusals } from '#cluster/errors/refusals.ts';
import type { KubectlSuite } from './kubectl.ts';

const pod = `
apiVersion: v1
kind: Pod
metadata: {name: quiet}
spec: {terminationGracePeriodSeconds: 1, containers: [{name: app, image: "app:1"}]}
`;

/** Keyed by the command as it is listed: how it is called, and a part of the sentence that answers. */
const refused: Readonly<Record<string, readonly [args: string, sentence: RegExp]>> = {
  logs: ['logs quiet', /it has no logs; "kubectl describe pod" and "kubectl events" tell/],
  exec: ['exec quiet -- ls', /there is no process to reach in it; "kubectl describe pod"/],
  cp: ['cp quiet:/a /tmp/none', /there is no process to reach in it/],
  attach: ['attach quiet', /there is no process to reach in it/],
  'port-forward': ['port-forward quiet 8080:80', /nothing listens in it; what answers to/],
  debug: ['debug quiet --image=app:1 --profile=general', /there is nothing to look into;/],
  'create token': ['create token default', /no tokens of ServiceAccounts are issued; .* "--as=/],
  'auth can-i --list': ['auth can-i --list', /no rules to list; "kubectl auth can-i VERB KIND"/],
  'create deployment': ['create deployment a --image=b', /on a Deployment.*none of them is served/],
  'create job': ['create job a --image=b', /Job.*none of them is served; a StatefulSet rolls/],
  'create cronjob': [
    'create cronjob a --image=b --schedule=@daily',
    /CronJob.*none of them is served/,
  ],
  'create ingress': ['create ingress a --rule=b/c=d:80', /Ingress, so none of them is served/],
  // Newer versions of kubectl try an older version after any refusal, and tell of that failure alone.
  autoscale: [
    'autoscale sts/web --max=3',
    /HorizontalPodAutoscaler.*none of them is served|failed to create autoscaling\/v2 HPA/,
  ],
  'apply --server-side': [
    'apply --server-side -f -',
    /Server-side apply not available on the server: .*there is no server-side apply; "kubectl apply" without/,
  ],
};

const manifests: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  ReplicaSet: 'apps/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  Job: 'batch/v1',
  Ingress: 'networking.k8s.io/v1',
};

const refusedCommands = Object.entries(refused).map(
  ([name, [args, sentence]]): [string, KubectlSuite['tests'][string]] => [
    `${name} is refused with what to do instead (SU-11)`,
    async ({ run }) => {
      const { code, stderr } = await run(args.split(' '), pod);
      assert.match(stderr, sentence);
      assert.equal(code, 1);
    },
  ],
);

const refusedKinds = Object.entries(manifests).map(
  ([kind, apiVersion]): [string, KubectlSuite['tests'][string]] => [
    `a ${kind}, which nothing would run, is refused in kubectl's own words`,
    async ({ run }) => {
      const manifest = JSON.stringify({ apiVersion, kind, metadata: { name: 'idle' } });
      for (const verb of ['apply', 'create']) {
        const { code, stderr } = await run([verb, '-f', '-'], manifest);
        assert.match(stderr, /resource mapping not found for name: "idle"/);
        assert.ok(stderr.includes(`no matches for kind "${kind}" in version "${apiVersion}"`));
        assert.equal(code, 1);
      }
    },
  ],
);

/** See above. */
export const ownAnswers: KubectlSuite = {
  name: 'kubectl is refused loudly what the embedded cluster does not do',
  prepare: async ({ kubectl }) => {
    await kubectl(['apply', '-f', '-'], pod);
    await kubectl(['wait', '--for=condition=Ready', 'pod/quiet', '--timeout=20s']);
    const web = '{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"web"},';
    const template = '"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[]}}';
    const spec = `"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},${template}}}`;
    await kubectl(['create', '-f', '-'], web + spec.replace('[]', '[{"name":"a","image":"a:1"}]'));
  },
  tests: {
    'every command that is listed as refused has its test here': () => {
      const listed = refusals.flatMap(({ commands }) => commands);
      assert.deepEqual(Object.keys(refused).toSorted(), listed.toSorted());
      return Promise.resolve();
    },
    ...Object.fromEntries(refusedCommands),
    ...Object.fromEntries(refusedKinds),
    'a part of a pod that is not there is refused as on a real cluster': async ({ run }) => {
      const { stderr } = await run(['get', '--raw', '/api/v1/namespaces/default/pods/none/log']);
      assert.equal(stderr, 'Error from server (NotFound): pods "none" not found\n');
    },
    'a protobuf body of a kind that is not decoded is refused with a hint (cluster 29)': async ({
      run,
    }) => {
      const copy = ['debug', 'quiet', '--image=a:1', '--copy-to=loud', '--profile=general'];
      const { stderr } = await run(copy);
      assert.match(stderr, /set the ContentType of the client to application\/json, or give/);
    },
    'a Role is stored with the warning that it is not enforced': async ({ run }) => {
      const stored = await run(['create', 'role', 'idle', '--verb=get', '--resource=pods']);
      assert.equal(stored.code, 0);
      assert.match(stored.stderr, /Warning: embedded cluster: rules is stored but has no effect/);
    },
  },
};
