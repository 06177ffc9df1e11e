import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { serveEmbedded } from './embedded-over-https.ts';
import { defineSuite, type KubectlSuite, kubectlSuites } from './kubectl.ts';
import { type KubectlEnv, kubectlMissing, pointKubectl } from './kubectl-env.ts';

const NAMESPACE = 'default';

/** What the embedded cluster alone refuses, or does otherwise. */
const ownAnswers: KubectlSuite = {
  name: 'kubectl is refused loudly what the embedded cluster does not do',
  prepare: () => Promise.resolve(),
  tests: {
    'a protobuf body of a kind that is not decoded is refused with a hint (T29)': async ({
      run,
    }) => {
      const refused = await run(['create', 'deployment', 'other', '--image=app:1']);
      assert.match(refused.stderr, /set the ContentType of the client to application\/json/);
    },
    'server-side apply is not available (D-47)': async ({ run }) => {
      const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
      const refused = await run(['apply', '--server-side', '-f', '-'], map);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /Server-side apply not available on the server/);
    },
    'a Role is stored with the warning that nobody is held to it': async ({ run }) => {
      const stored = await run(['create', 'role', 'idle', '--verb=get', '--resource=pods']);
      assert.equal(stored.code, 0);
      assert.match(stored.stderr, /Warning: embedded cluster: rules is stored but has no effect/);
    },
  },
};

async function startEmbedded(): Promise<KubectlEnv> {
  const { cluster, kubeconfig, close } = await serveEmbedded();
  return pointKubectl({
    kubeconfig,
    namespace: NAMESPACE,
    history: () => cluster.eventLog.commits.filter(({ namespace }) => namespace === NAMESPACE),
    close,
  });
}

// Each has a cluster of its own, and most of the time is spent waiting.
describe('on the embedded cluster', { concurrency: true }, () => {
  for (const suite of [...kubectlSuites, ownAnswers]) {
    defineSuite(suite, kubectlMissing(), startEmbedded);
  }
});
