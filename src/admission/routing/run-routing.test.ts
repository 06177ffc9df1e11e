import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant, millis, seconds } from '#base/units.ts';
import type { PolicyRule } from '#cluster/auth/authorizer.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { FaultyTransport } from '#support/api-server/faulty-transport.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { RecordingLogger } from '#support/telemetry/recording.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { runRouting } from './run-routing.ts';

const namespace = 'test';
const POD = 'rollout-operator-7d';
const LEADER = 'rollout-operator.grafana.com/leader';
const user = 'operator';

const listPods: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['list'] };
const patchPods: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['patch'] };
const getServices: PolicyRule = { apiGroups: [''], resources: ['services'], verbs: ['get'] };

/** A replica in a pod of its own, behind a Service with `selector`, under `rules`. */
class RoutingBed {
  readonly log = new RecordingLogger();
  readonly registry = createMetricsRegistry();
  readonly api: FaultyTransport;
  readonly clock: FakeClock;
  readonly #cluster: EmbeddedCluster;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  private constructor(cluster: EmbeddedCluster, clock: FakeClock) {
    this.#cluster = cluster;
    this.clock = clock;
    this.api = new FaultyTransport(cluster.transport(user));
  }

  static async open(
    selector: Readonly<Record<string, string>>,
    rules: readonly PolicyRule[],
  ): Promise<RoutingBed> {
    const clock = new FakeClock(instant(0));
    const cluster = await createCluster({ clock, seed: 1 });
    const bed = new RoutingBed(cluster, clock);
    const { admin } = bed;
    await admin.create(resourceTypes.namespaces, {}, { body: { metadata: { name: namespace } } });
    const ports = [{ port: 443 }];
    const service = { metadata: { name: 'rollout-operator' }, spec: { selector, ports } };
    await admin.create(resourceTypes.services, { namespace }, { body: service });
    const metadata = { name: POD, labels: { name: 'rollout-operator' } };
    const spec = { containers: [{ name: 'rollout-operator', image: 'x' }] };
    await admin.create(resourceTypes.pods, { namespace }, { body: { metadata, spec } });
    bed.permit(rules);
    return bed;
  }

  get admin(): ReturnType<typeof createClient> {
    const plain = { clock: this.clock, timeout: millis(0), userAgent: 'test' };
    return createClient({ ...plain, transport: this.#cluster.transport() });
  }

  permit(rules: readonly PolicyRule[]): void {
    this.#cluster.authorizer.restrict([{ user, namespace, rules }]);
  }

  start(names: { readonly podName?: string; readonly hostname?: string }): void {
    const { clock, log, registry, api } = this;
    const plain = { clock, timeout: millis(0), userAgent: 'operator' };
    const client = createClient({ ...plain, transport: api });
    const { podName, hostname } = names;
    const common = { client, clock, log, registry, namespace, service: 'rollout-operator' };
    this.#running = runRouting({ ...common, podName, hostname }, this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async label(): Promise<string | undefined> {
    const pod = await this.admin.get(resourceTypes.pods, { namespace, name: POD });
    return pod.metadata.labels?.[LEADER];
  }

  /** The series of the gauge that are 1. */
  async shown(): Promise<readonly string[]> {
    const text = await this.registry.expose();
    return text.split('\n').filter((line) => line.startsWith('rollout_operator_webhook_reviews'));
  }

  said(): readonly string[] {
    return this.log.lines.map(({ level, message }) => `${level} ${message}`);
  }

  /** What the first line says. */
  why(): string {
    return String(this.log.lines[0]?.fields['why']);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#cluster.close();
  }
}

const peerSelector = { name: 'rollout-operator', [LEADER]: 'true' };
const notLabelled = 'rollout_operator_webhook_reviews_not_routed{reason="PodNotLabelled"} 1';

test('runRouting() labels its pod, and takes the label off at the end [found R-22]', async () => {
  await using bed = await RoutingBed.open(peerSelector, [listPods, patchPods]);
  bed.start({ podName: POD });
  await bed.clock.settle();
  assert.equal(await bed.label(), 'true');
  assert.deepEqual([bed.said(), await bed.shown()], [[], []]);
  await bed.stop();
  assert.equal(await bed.label(), undefined);
});

test('runRouting() says which rule is missing, and labels its pod once that is added [found R-22]', async () => {
  await using bed = await RoutingBed.open(peerSelector, [listPods]);
  bed.start({ podName: POD });
  await bed.clock.settle();
  assert.deepEqual(await bed.shown(), [notLabelled]);
  assert.match(
    bed.why(),
    /add the rule \{apiGroups: \[''\], resources: \[pods\], verbs: \[patch\]\}$/,
  );
  await bed.clock.advance(seconds(300));
  bed.permit([listPods, patchPods]);
  await bed.clock.advance(seconds(60));
  assert.equal(await bed.label(), 'true');
  assert.deepEqual(await bed.shown(), []);
  assert.deepEqual(bed.said(), [
    'warn no review reaches this replica',
    'info reviews reach this replica',
  ]);
});

test('runRouting() tries again within 5 s what had no answer, and takes off what may be there [found R-22]', async () => {
  await using bed = await RoutingBed.open(peerSelector, [listPods, patchPods, getServices]);
  bed.api.fault = ({ method }) => (method === 'PATCH' ? { status: 503 } : undefined);
  bed.start({ podName: POD });
  await bed.clock.settle();
  assert.deepEqual(await bed.shown(), [notLabelled]);
  bed.api.fault = () => undefined;
  await bed.clock.advance(seconds(5));
  assert.equal(await bed.label(), 'true');
  assert.deepEqual(await bed.shown(), []);
});

test('runRouting() writes to no pod that only the host name tells, and says what to set [found R-22]', async () => {
  await using bed = await RoutingBed.open(peerSelector, [listPods, patchPods, getServices]);
  bed.start({ hostname: POD });
  await bed.clock.settle();
  assert.equal(await bed.label(), undefined);
  assert.deepEqual(await bed.shown(), [notLabelled]);
  assert.match(bed.why(), /set the environment variable POD_NAME from metadata\.name$/);
});

test('runRouting() shows a Service that selects what the pod lacks [found R-22]', async () => {
  await using bed = await RoutingBed.open({ app: 'operator' }, [listPods, getServices]);
  bed.start({ hostname: POD });
  await bed.clock.settle();
  assert.deepEqual(await bed.shown(), [
    'rollout_operator_webhook_reviews_not_routed{reason="ServiceSelectsOthers"} 1',
  ]);
});

test('runRouting() leaves alone another pod of the same name that came meanwhile [found R-22]', async () => {
  await using bed = await RoutingBed.open(peerSelector, [listPods, patchPods]);
  bed.start({ podName: POD });
  await bed.clock.settle();
  const key = { namespace, name: POD };
  await bed.admin.delete(resourceTypes.pods, key, { preconditions: {}, gracePeriodSeconds: 0 });
  const metadata = { name: POD, labels: peerSelector };
  const spec = { containers: [{ name: 'rollout-operator', image: 'x' }] };
  await bed.admin.create(resourceTypes.pods, { namespace }, { body: { metadata, spec } });
  await bed.stop();
  assert.equal(await bed.label(), 'true');
  assert.deepEqual(bed.said(), ['info the label of the pod stays']);
});

test('runRouting() sends nothing that its Role does not permit, and nothing outside of a cluster [found R-22]', async () => {
  await using bed = await RoutingBed.open(peerSelector, [listPods]);
  bed.start({});
  await bed.clock.settle();
  assert.deepEqual([bed.api.requests.length, bed.said()], [0, []]);
  bed.start({ hostname: POD });
  await bed.clock.settle();
  assert.deepEqual(
    bed.api.requests.map((request) => request.split('?')[0]),
    [
      'GET /api/v1/namespaces/test/pods',
      'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    ],
  );
  assert.deepEqual(bed.said(), ['info cannot find out whether reviews reach this replica']);
});
