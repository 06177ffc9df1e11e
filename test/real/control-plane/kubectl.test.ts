import { after, before, describe } from 'node:test';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { NO_DRAINING } from '../../real-cluster/skip-reasons.ts';
import { shortDelays } from '../../scenarios/embedded-over-https.ts';
import { defineSuite, kubectlSuites } from '../../scenarios/kubectl/kubectl.ts';
import {
  type KubectlEnv,
  kubectlMissing,
  pointKubectl,
} from '../../scenarios/kubectl/kubectl-env.ts';

const isExisting = (process.env['TEST_KUBECONFIG'] ?? '') !== '';
const skip = isExisting ? NO_DRAINING : kubectlMissing();

describe('on a real control plane', { skip }, () => {
  let lane: RealLane;

  before(async () => {
    lane = await startRealLane({ delays: shortDelays });
  });

  after(async () => {
    await lane?.close();
  });

  async function start(): Promise<KubectlEnv> {
    const { own } = lane;
    if (own === undefined) throw new Error('kubectl needs a control plane of our own');
    const env = await lane.env({ zones: [] });
    return pointKubectl({
      kubeconfig: own.adminKubeconfig,
      namespace: env.namespace,
      history: () => env.history(),
      close: async ({ kubectl }) => {
        // What a suite leaves on the nodes would be drained by the next.
        await kubectl(['delete', 'namespace', env.namespace, '--timeout=60s']);
        await env.close();
      },
    });
  }

  for (const suite of kubectlSuites) defineSuite(suite, false, start);
});
