import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import { Alarms } from '#check/cloudwatch/alarms.ts';
import { openCloudWatch } from '#check/cloudwatch/cloud-watch.ts';
import { createPrometheus } from '#check/prometheus/prometheus.ts';
import type { Commit } from '#cluster/event-log.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import type { NodeConfig } from '#cluster/kubelet/node-fleet-options.ts';
import { readZoneAwareConfig, sharedZoneAwareConfig } from '#config/zone-aware-config.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { runZoneAwareControllers } from '#operator/zone-aware/zone-aware-controllers.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createReadiness } from '#telemetry/http/readiness.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { UpdateMetrics } from '#telemetry/metrics/update-metrics.ts';
import { ZoneBudgetMetrics } from '#telemetry/metrics/zone-budget-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { zoneAwareUpdateDefinition } from '#zone-aware-update/definition.ts';
import { zoneDisruptionBudgetDefinition } from '#zone-disruption-budget/definition.ts';
import { createAll, install, readManifests } from '../cluster/apply-manifests.ts';
import { demoNamespace } from '../cluster/demo-namespace.ts';
import { FollowedCluster } from '../cluster/followed-cluster.ts';
import { type LocalCluster, startLocalCluster } from '../cluster/local-cluster.ts';
import type { LinesOptions, LinesPorts } from '../lines-demo.ts';
import { type DemoCloudWatch, startDemoCloudWatch } from './demo-cloud-watch.ts';
import { StepsProof, type StepsWanted } from './steps-proof.ts';
import { UpdateNarrator } from './update-narrator.ts';

/** What is played of zone-aware updates; `pods` are those of each zone. */
export type ExponentialDemoOptions = LinesOptions<'exponential'>;

const folder = join(import.meta.dirname, '../../examples/zone-aware-update');
const set = 'ingester';
const newImage = 'ghcr.io/example/ingester:2.0.0';
const alarm = 'PauseDeployment.Ingesters';
const zones = ['zone-a', 'zone-b', 'zone-c'];
/** One each, as pods are spread over nodes: so every zone has as many. */
const nodes = zones.map((zone): NodeConfig => ({ name: `node-${zone.slice(-1)}`, zone }));
const ringsFor = seconds(5);

/**
 * Plays the update of a set over three zones in ever larger steps, with an alarm that rings once in the middle, on a cluster of
 * this process and a stand-in for CloudWatch that is asked through the SDK of AWS.
 *
 * @returns the exit code: 0 when all was updated, no two zones were down at once, and no pod went while the alarm rang
 */
export async function playExponential(
  options: ExponentialDemoOptions,
  ports: LinesPorts,
  signal: AbortSignal,
): Promise<number> {
  const { clock, log, say } = ports;
  const pace = (span: number): Millis => millis(span / options.speed);
  const delays = { stop: pace(100), bind: pace(100), start: pace(1_000), ready: pace(2_000) };
  const cluster = await startLocalCluster({ clock, log, delays, nodes });
  const cloudWatch = await startDemoCloudWatch(alarm);
  try {
    say(`cluster at ${cluster.url}, kubeconfig ${cluster.kubeconfig}`);
    say(`a stand-in for CloudWatch at ${cloudWatch.url}, with the composite alarm ${alarm}`);
    const { objects, wanted } = await manifests(options);
    const { speed } = options;
    const play = new ExponentialPlay({ ...ports, cluster, cloudWatch, speed, wanted });
    return await play.run(objects, signal);
  } finally {
    await Promise.all([cloudWatch.close(), cluster.close()]);
  }
}

/** Returns the manifests of the example, as large as `options` say, and with the alarm. */
async function manifests({
  pods,
  maxUnavailable,
}: ExponentialDemoOptions): Promise<{ objects: readonly JsonObject[]; wanted: StepsWanted }> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: demoNamespace } };
  let [replicas, cap] = [0, 0];
  const objects = (await readManifests(folder)).map((object): JsonObject => {
    const spec = objectAt(object, 'spec');
    switch (textAt(object, 'kind')) {
      case 'ZoneAwareUpdate':
        cap = maxUnavailable ?? numberAt(spec, 'maxUnavailable') ?? 1;
        return { ...object, spec: { ...spec, maxUnavailable: cap, pauseRolloutAlarm: alarm } };
      case 'StatefulSet':
        replicas = pods === undefined ? (numberAt(spec, 'replicas') ?? 0) : pods * zones.length;
        return { ...object, spec: { ...spec, replicas } };
      default:
        return object;
    }
  });
  const zonesOfNodes = new Map(nodes.map(({ name, zone = '' }) => [name, zone]));
  const wanted = { set, replicas, maxUnavailable: cap, zones: zonesOfNodes };
  return { objects: [namespace, ...objects], wanted };
}

interface PlayPorts extends LinesPorts {
  readonly cluster: LocalCluster;
  readonly cloudWatch: DemoCloudWatch;
  readonly speed: number;
  readonly wanted: StepsWanted;
}

/** One rollout, its alarm, and its end. */
class ExponentialPlay {
  readonly #ports: PlayPorts;
  readonly #proof: StepsProof;
  readonly #narrator = new UpdateNarrator();
  readonly #followed: FollowedCluster;

  constructor(ports: PlayPorts) {
    this.#ports = ports;
    this.#proof = new StepsProof(ports.wanted);
    this.#followed = new FollowedCluster(ports, (commit) => this.#tell(commit));
  }

  async run(objects: readonly JsonObject[], signal: AbortSignal): Promise<number> {
    const { cluster, cloudWatch, clock, speed, wanted } = this.#ports;
    const definitions = [zoneAwareUpdateDefinition, zoneDisruptionBudgetDefinition];
    await install(cluster.client, definitions, clock);
    const { replicas, maxUnavailable } = wanted;
    this.#followed.say(
      `installing examples/zone-aware-update: ${replicas} pods over ${zones.join(', ')}, at most ${maxUnavailable} at once`,
    );
    await createAll(cluster.client, objects);
    const ending = new AbortController();
    const operator = this.#operate(AbortSignal.any([signal, ending.signal]));
    try {
      await this.#until(operator, () => this.#isUpdated() && this.#proof.isWhole, signal);
      await this.#roll();
      const isTaken = (): boolean => this.#proof.isFirstZoneTaken && this.#isStepStored();
      await this.#until(operator, isTaken, signal);
      this.#proof.forbid(true);
      cloudWatch.turn('ALARM', 'too many errors');
      this.#followed.say(`the alarm ${alarm} rings: no further step may begin`);
      await this.#until(operator, () => this.#isPaused(), signal);
      await clock.sleep(millis(ringsFor / speed), { signal });
      this.#proof.forbid(false);
      cloudWatch.turn('OK', '');
      this.#followed.say('the alarm is OK again; it is asked 10 s after the last time');
      await this.#until(operator, () => this.#isUpdated() && this.#isDone(), signal);
      this.#followed.say(`  ${this.#proof.picture()}`);
      return this.#judge();
    } finally {
      ending.abort();
      await operator.catch(() => undefined);
    }
  }

  #judge(): number {
    const { say, wanted } = this.#ports;
    const faults = this.#proof.faults();
    say('');
    for (const fault of faults) say(`broken: ${fault}`);
    if (faults.length === 0) {
      say('never two zones were down: at most 1 zone had unavailable pods at any time');
      say(
        `most pods unavailable at once: ${this.#proof.mostAway} of ${wanted.maxUnavailable} allowed`,
      );
      say('no pod went while the alarm rang');
    }
    say(`the steps took ${this.#proof.steps.join(', ')} pods`);
    return faults.length === 0 ? 0 : 1;
  }

  #tell(commit: Commit): readonly string[] {
    this.#proof.see(commit);
    const { resource, after } = commit;
    if (resource !== 'zoneawareupdates.zonecontrol.k8s.aws' || after === undefined) return [];
    return this.#narrator
      .tell(after)
      .flatMap((line) =>
        line.startsWith('Step ') ? [line, `  ${this.#proof.picture()}`] : [line],
      );
  }

  get #update(): JsonObject | undefined {
    return this.#followed.stored('zoneawareupdates.zonecontrol.k8s.aws', set);
  }

  #isUpdated(): boolean {
    const [condition] = objectsAt(this.#update, 'status', 'conditions');
    return textAt(condition, 'reason') === 'Updated';
  }

  /** Reports whether the status counts the last step, so that it was shown. */
  #isStepStored(): boolean {
    return numberAt(this.#update, 'status', 'updateStep') === this.#proof.steps.length;
  }

  #isPaused(): boolean {
    return objectAt(this.#update, 'status')['pausedRollout'] === true;
  }

  /** Reports whether all pods are new, and the set says so. */
  #isDone(): boolean {
    const status = objectAt(this.#followed.stored('statefulsets.apps', set), 'status');
    const isPromoted = textAt(status, 'currentRevision') === textAt(status, 'updateRevision');
    const taken = this.#proof.steps.reduce((sum, size) => sum + size, 0);
    return isPromoted && taken === this.#ports.wanted.replicas && this.#proof.isWhole;
  }

  async #roll(): Promise<void> {
    const legend = '● runs it, ○ is not ready, · is from before';
    this.#followed.say(`the template gets ${newImage}: ${legend}`);
    const containers = [{ name: 'ingester', image: newImage }];
    const document = { spec: { template: { spec: { containers } } } };
    await this.#ports.cluster.client.patch(
      resourceTypes.statefulSets,
      { namespace: demoNamespace, name: set },
      { body: { kind: 'strategic', document } },
    );
  }

  /** Runs the program as the peer's Deployment starts it, but for webhooks, probes and metrics. */
  async #operate(signal: AbortSignal): Promise<void> {
    const { cluster, clock, log } = this.#ports;
    const off = ['--health-probe-bind-address=0', '--metrics-bind-address=0'];
    const outcome = readZoneAwareConfig([...off, '--leader-elect'], { CONTROLLERS: 'zau' });
    if (outcome.kind === 'exit') throw new Error(outcome.stderr);
    const registry = createMetricsRegistry();
    const transport = cluster.connect();
    const alarms = this.#alarms();
    const prometheus = createPrometheus({ clock, env: {}, permitsLoopback: true });
    try {
      await runZoneAwareControllers(
        {
          door: outcome.config,
          config: sharedZoneAwareConfig(outcome.config, demoNamespace),
          clock,
          log,
          registry,
          transport,
          alarms: { ask: (name, asking) => alarms.ask(name, { ...asking, ...sinceNow(clock) }) },
          prometheus,
          metrics: createOperatorMetrics(registry),
          budgetMetrics: new BudgetMetrics(registry),
          updateMetrics: new UpdateMetrics(registry),
          zoneBudgetMetrics: new ZoneBudgetMetrics(registry),
          httpMetrics: createHttpServerMetrics(registry),
          readiness: createReadiness(),
          identity: 'demo',
        },
        signal,
      );
    } finally {
      await Promise.all([alarms.close(), prometheus.close(), transport.close()]);
    }
  }

  /** Steps of the demo are short: each has the alarm asked again, where else an answer serves for 10 s. */
  #alarms(): Alarms {
    const { cloudWatch, clock, log, speed } = this.#ports;
    const source = openCloudWatch({
      clock,
      log,
      env: { AWS_REGION: 'eu-west-1' },
      endpoint: cloudWatch.url,
      credentials: { accessKeyId: 'demo', secretAccessKey: 'demo' },
    });
    const [period, gather] = [millis(1_000 / speed), millis(10 / speed)];
    return new Alarms({ clock, source, period, gather });
  }

  /** Waits briefly. @throws what the operator ends with, when it does first; the reason of `signal` when that aborts */
  async #until(operator: Promise<void>, holds: () => boolean, signal: AbortSignal): Promise<void> {
    const ended = operator.then(() => {
      throw new Error('The operator ended before the rollout did');
    });
    await Promise.race([this.#followed.until(holds, signal), ended]);
  }
}

function sinceNow(clock: Clock): { readonly notBefore: ReturnType<Clock['monotonic']> } {
  return { notBefore: clock.monotonic() };
}
