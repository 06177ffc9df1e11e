import { join } from 'node:path';
import type { JsonObject } from '#base/json.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import { createPrometheus } from '#check/prometheus/prometheus.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { readPhasedRolloutConfig, sharedConfigOf } from '#config/phased-config.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { runPhasedRollout } from '#operator/phased-rollout/phased-rollout.ts';
import { phasedRolloutDefinition } from '#phased-rollout/definition.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createReadiness } from '#telemetry/http/readiness.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { createAll, readManifests } from '../cluster/apply-manifests.ts';
import { demoNamespace } from '../cluster/demo-namespace.ts';
import { FollowedCluster } from '../cluster/followed-cluster.ts';
import { type LocalCluster, startLocalCluster } from '../cluster/local-cluster.ts';
import type { LinesOptions, LinesPorts } from '../lines-demo.ts';
import { type DemoMetric, startDemoPrometheus } from './demo-prometheus.ts';
import { PhasedNarrator } from './phased-narrator.ts';

/** What is played of phased rollouts. */
export type PhasedDemoOptions = Omit<LinesOptions<'phased'>, 'maxUnavailable'>;

/** What is in `spec.check` but for the query, in whole seconds. */
interface Check {
  readonly initialDelaySeconds: number;
  readonly periodSeconds: number;
  readonly successThreshold: number;
}

const folder = join(import.meta.dirname, '../../examples/phased-rollout');
const set = 'store-gateway-zone-a';
const newImage = 'registry.example/store-gateway:2.0.0';
/** Instead of those of the manifest, for which no viewer would wait. */
const checkAt = (speed: number): Check => ({
  initialDelaySeconds: Math.round(2 / speed),
  periodSeconds: 1,
  successThreshold: speed < 4 ? 3 : 2,
});
const expr = 'errors < 5';
const badFor = seconds(5);

/**
 * Plays a phased rollout whose query turns bad in the middle and good again, on a cluster of this process and, where one
 * is installed, a real Prometheus.
 *
 * @returns the exit code: 0 when no pod went while the query found nothing, and all went in the end
 */
export async function playPhased(
  options: PhasedDemoOptions,
  ports: LinesPorts,
  signal: AbortSignal,
): Promise<number> {
  const { clock, log, say } = ports;
  const metric: DemoMetric = { name: 'errors', value: 1 };
  const pace = (span: number): Millis => millis(span / options.speed);
  const delays = { stop: pace(100), bind: pace(100), start: pace(1_000), ready: pace(2_000) };
  const cluster = await startLocalCluster({ clock, log, delays });
  const prometheus = await startDemoPrometheus(metric);
  try {
    say(`cluster at ${cluster.url}, kubeconfig ${cluster.kubeconfig}`);
    say(prometheus.says);
    const objects = await manifests(options, prometheus.url);
    return await new PhasedPlay({ ...ports, cluster, metric, speed: options.speed }).run(
      objects,
      signal,
    );
  } finally {
    await Promise.all([prometheus.close(), cluster.close()]);
  }
}

/** Reads the manifests of the example, asked of `url` at a pace that people watch. */
async function manifests(
  { pods, speed }: PhasedDemoOptions,
  url: string,
): Promise<readonly JsonObject[]> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: demoNamespace } };
  const objects = await readManifests(folder);
  const ready = objects.map((object): JsonObject => {
    const spec = objectAt(object, 'spec');
    switch (textAt(object, 'kind')) {
      case 'PhasedRollout':
        return { ...object, spec: { ...spec, check: { ...checkAt(speed), query: { expr, url } } } };
      case 'StatefulSet':
        return { ...object, spec: { ...spec, ...(pods !== undefined && { replicas: pods }) } };
      default:
        return object;
    }
  });
  return [namespace, ...ready];
}

interface PlayPorts extends LinesPorts {
  readonly cluster: LocalCluster;
  readonly metric: DemoMetric;
  readonly speed: number;
}

/** One rollout, its turn to the bad, and its end. */
class PhasedPlay {
  readonly #ports: PlayPorts;
  readonly #narrator: PhasedNarrator;
  readonly #followed: FollowedCluster;

  constructor(ports: PlayPorts) {
    this.#ports = ports;
    this.#narrator = new PhasedNarrator(set, checkAt(ports.speed).initialDelaySeconds);
    this.#followed = new FollowedCluster(ports, (commit) =>
      this.#narrator.tell(commit, ports.clock.now()),
    );
  }

  async run(objects: readonly JsonObject[], signal: AbortSignal): Promise<number> {
    const { cluster, metric, clock, speed } = this.#ports;
    const { client } = cluster;
    const body = phasedRolloutDefinition;
    await client.create(resourceTypes.customResourceDefinitions, {}, { body });
    await this.#followed.until(() => this.#isServed(), signal);
    this.#followed.say('installing examples/phased-rollout');
    await createAll(client, objects);
    const ending = new AbortController();
    const operator = this.#operate(AbortSignal.any([signal, ending.signal]));
    try {
      await this.#followed.until(() => this.#phase === 'Updated' && this.#areReady(), signal);
      await this.#roll();
      await this.#followed.until(
        () => this.#narrator.partitions.at(-1) === this.#replicas - 1,
        signal,
      );
      metric.value = 9;
      this.#followed.say('now each pod has 9 errors: the query finds nothing, and no pod may go');
      await this.#followed.until(() => this.#failures > 0, signal);
      const held = this.#narrator.partitions.length;
      await clock.sleep(millis(badFor / speed), { signal });
      const isKept = this.#narrator.partitions.length === held;
      metric.value = 1;
      this.#followed.say('back to 1 error');
      await this.#followed.until(() => this.#isDone(), signal);
      return this.#judge(isKept);
    } finally {
      ending.abort();
      await operator;
    }
  }

  #judge(isKept: boolean): number {
    const { say } = this.#ports;
    say('');
    say(
      isKept
        ? 'kept: no pod went while the query found nothing, and each went after its checks'
        : 'broken: a pod went while the query found nothing',
    );
    say(`the partition: ${this.#narrator.partitions.join(', ')}`);
    return isKept ? 0 : 1;
  }

  get #phase(): string {
    return textAt(this.#rollout, 'status', 'phase');
  }

  get #failures(): number {
    const step = objectAt(this.#rollout, 'status', 'rollingPodStatus');
    return numberAt(step, 'consecutiveFailedChecks') ?? 0;
  }

  get #replicas(): number {
    return numberAt(this.#followed.stored('statefulsets.apps', set), 'spec', 'replicas') ?? 0;
  }

  get #rollout(): JsonObject | undefined {
    return this.#followed.stored('phasedrollouts.sts.plus', set);
  }

  #areReady(): boolean {
    const stored = this.#followed.stored('statefulsets.apps', set);
    return numberAt(stored, 'status', 'readyReplicas') === this.#replicas;
  }

  #isDone(): boolean {
    return this.#phase === 'Updated' && this.#narrator.partitions.includes(0);
  }

  #isServed(): boolean {
    const name = 'phasedrollouts.sts.plus';
    const stored = this.#followed.stored('customresourcedefinitions.apiextensions.k8s.io', name);
    return objectsAt(stored, 'status', 'conditions').some(
      (each) => textAt(each, 'type') === 'Established',
    );
  }

  async #roll(): Promise<void> {
    this.#followed.say(`the template gets ${newImage}`);
    const containers = [{ name: 'store-gateway', image: newImage }];
    const document = { spec: { template: { spec: { containers } } } };
    await this.#ports.cluster.client.patch(
      resourceTypes.statefulSets,
      { namespace: demoNamespace, name: set },
      { body: { kind: 'strategic', document } },
    );
  }

  /** Runs the program as the peer's Deployment starts it, but for webhooks, probes and the Lease. */
  async #operate(signal: AbortSignal): Promise<void> {
    const { cluster, clock, log } = this.#ports;
    const args = ['--health-probe-bind-address=0', '--leader-elect'];
    const outcome = readPhasedRolloutConfig(args, { ENABLE_WEBHOOKS: 'false' });
    if (outcome.kind === 'exit') throw new Error(outcome.stderr);
    const registry = createMetricsRegistry();
    const transport = cluster.connect();
    const prometheus = createPrometheus({ clock, env: {}, permitsLoopback: true });
    const shared = { clock, log, registry, transport, prometheus };
    try {
      await runPhasedRollout(
        {
          ...shared,
          door: outcome.config,
          config: sharedConfigOf(outcome.config, demoNamespace),
          metrics: createOperatorMetrics(registry),
          budgetMetrics: new BudgetMetrics(registry),
          httpMetrics: createHttpServerMetrics(registry),
          readiness: createReadiness(),
          identity: 'demo',
        },
        signal,
      );
    } finally {
      await Promise.all([prometheus.close(), transport.close()]);
    }
  }
}
