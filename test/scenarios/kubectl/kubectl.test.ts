import { describe } from 'node:test';
import { serveEmbedded } from '../embedded-over-https.ts';
import { defineSuite, kubectlSuites } from './kubectl.ts';
import { type KubectlEnv, kubectlMissing, pointKubectl } from './kubectl-env.ts';
import { ownAnswers } from './kubectl-refusals.ts';
import { surroundings } from './kubectl-surroundings.ts';

const NAMESPACE = 'default';

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
  for (const suite of [...kubectlSuites, ownAnswers, surroundings]) {
    defineSuite(suite, kubectlMissing(), startEmbedded);
  }
});
