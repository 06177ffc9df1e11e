import { join } from 'node:path';
import type { JsonObject } from '#base/json.ts';
import { type Millis, millis } from '#base/units.ts';
import { numberAt, objectAt, textAt } from '#cluster/json/read-json.ts';
import { readManifests } from '../cluster/apply-manifests.ts';
import { demoNamespace } from '../cluster/demo-namespace.ts';
import { startLocalCluster } from '../cluster/local-cluster.ts';
import type { LinesOptions, LinesPorts } from '../lines-demo.ts';
import { type DemoSlack, type StoredSlackMessage, startDemoSlack } from './demo-slack.ts';
import { PercentPlay } from './percent-play.ts';
import type { PercentWanted } from './percent-proof.ts';

/** What is played of rollouts by percentages; of 12 pods unless it is said how many. */
export type PercentDemoOptions = LinesOptions<'percent'>;

const folder = join(import.meta.dirname, '../../examples/statefulset-rollout');
const channel = '#kv-deploys';
/** So many that 1, 50 and 100 percent are far from one another. */
const usualPods = 12;
/**
 * At any speed: where a pod is gone and made again before the disruption controller has seen it go, the new one counts as
 * disrupted for two minutes, by its name, as in Kubernetes itself.
 */
const stops = millis(250);

/**
 * Plays a version that breaks at 50 percent and is taken back, and the next one from 1 to 100 percent, on a cluster of this
 * process and a stand-in for Slack that is called through the library of Slack.
 *
 * @returns the exit code: 0 when no more pods were away than the budget lets, each went once for each version, and none after
 *   the failure
 */
export async function playPercent(
  options: PercentDemoOptions,
  ports: LinesPorts,
  signal: AbortSignal,
): Promise<number> {
  const { clock, log, say } = ports;
  const { speed } = options;
  const pace = (span: number): Millis => millis(span / speed);
  const delays = { stop: stops, bind: pace(100), start: pace(1_000), ready: pace(2_000) };
  const cluster = await startLocalCluster({ clock, log, delays });
  let slack: DemoSlack | undefined;
  try {
    const told: ((message: StoredSlackMessage) => void)[] = [];
    slack = await startDemoSlack(channel, (message) => told.forEach((each) => each(message)));
    say(`cluster at ${cluster.url}, kubeconfig ${cluster.kubeconfig}`);
    say(`a stand-in for Slack at ${slack.url}, with the channel ${channel}`);
    const { objects, wanted } = await manifests(options);
    const play = new PercentPlay({ ...ports, cluster, slack, speed, wanted, objects });
    told.push((message) => play.hear(message));
    return await play.run(signal);
  } finally {
    await Promise.all([slack?.close(), cluster.close()]);
  }
}

/** Reads the manifests of the example, as large as `options` say, and with a channel. */
async function manifests({ pods = usualPods, maxUnavailable }: PercentDemoOptions): Promise<{
  readonly objects: readonly JsonObject[];
  readonly wanted: PercentWanted;
}> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: demoNamespace } };
  let [set, limit] = ['', 0];
  const objects = (await readManifests(folder)).map((object): JsonObject => {
    const spec = objectAt(object, 'spec');
    switch (textAt(object, 'kind')) {
      case 'PodDisruptionBudget':
        limit = maxUnavailable ?? numberAt(spec, 'maxUnavailable') ?? 1;
        return { ...object, spec: { ...spec, maxUnavailable: limit } };
      case 'StatefulsetRollout': {
        const statefulset = objectAt(spec, 'statefulset');
        set = textAt(statefulset, 'metadata', 'name');
        const sized = {
          ...statefulset,
          spec: { ...objectAt(statefulset, 'spec'), replicas: pods },
        };
        return { ...object, spec: { ...spec, channel, statefulset: sized } };
      }
      default:
        return object;
    }
  });
  return {
    objects: [namespace, ...objects],
    wanted: { set, replicas: pods, maxUnavailable: limit },
  };
}
