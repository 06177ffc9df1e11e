import { ReplicaClaims } from '#admission/claim/replica-claims.ts';
import { noDownscale } from '#admission/downscale/no-downscale.ts';
import {
  annotationRecord,
  type DownscaleRecord,
  zoneTrackerRecord,
} from '#admission/prepare-downscale/downscale-record.ts';
import { GroupLocks } from '#admission/prepare-downscale/group-locks.ts';
import { prepareDownscale } from '#admission/prepare-downscale/prepare-downscale.ts';
import { ZoneTracker } from '#admission/prepare-downscale/zone-tracker.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import { type RunningDeadline, spanOf, startDeadline } from '#admission/review/deadline.ts';
import type { AdmissionRequest, ReviewDecision, Webhook } from '#admission/review/review.ts';
import { sharedReads } from '#admission/review/shared-reads.ts';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { Logger } from '#base/logger.ts';
import { after, type Instant, instant, type Millis, millis, seconds } from '#base/units.ts';
import type { PolicyRule } from '#cluster/auth/authorizer.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { FaultyTransport } from '../api-server/faulty-transport.ts';
import { FakeClock } from '../clocks/fake-clock.ts';
import { formatRfc3339 } from '../oracles/rfc3339.ts';
import { FakePodHttp } from '../pods/fake-pod-http.ts';
import { PodFleet } from '../pods/pod-fleet.ts';
import { silentLogger } from '../telemetry/silent-logger.ts';
import { updateRequest } from './admission-requests.ts';
import { type BedSet, storeSet } from './bed-set.ts';

/** When the tests of webhooks take place. */
const T0: Instant = instant(1_767_225_600_000);

/** Settings of {@link AdmissionBed.open}. */
export interface AdmissionBedOptions {
  /** Whether the times are kept in the ConfigMap. @default false */
  readonly isZoneTracked?: boolean;
  /** `-pods.client-timeout`. @default 5 s */
  readonly podTimeout?: Millis;
  /** `-server-tls.request-timeout`. @default 10 s */
  readonly requestTimeout?: Millis;
  /** Reviews that may make calls, at once. @default 100 */
  readonly limit?: number;
}

/** One more replica of the operator. */
export interface Replica {
  /** Between it and the API server. */
  readonly api: FaultyTransport;
  readonly prepareDownscale: Webhook;
}

/** Both down-scale webhooks in front of an embedded cluster, with pods that answer; time stands still. */
export class AdmissionBed {
  readonly clock: FakeClock;
  readonly fleet: PodFleet;
  /** Work that goes on after an answer. */
  readonly background: Promise<void>[] = [];
  /** Between the webhooks and the API server. */
  readonly api: FaultyTransport;
  readonly admin: Client;
  readonly noDownscale: Webhook;
  readonly prepareDownscale: Webhook;
  readonly #cluster: EmbeddedCluster;
  readonly #options: AdmissionBedOptions;

  private constructor(cluster: EmbeddedCluster, clock: FakeClock, options: AdmissionBedOptions) {
    this.clock = clock;
    this.fleet = new PodFleet(clock);
    this.#cluster = cluster;
    this.#options = options;
    const plain = { clock, timeout: millis(0), userAgent: 'test' };
    this.admin = createClient({ ...plain, transport: cluster.transport() });
    this.api = new FaultyTransport(cluster.transport());
    const client = createClient({ ...plain, transport: this.api });
    const log = silentLogger;
    const limit = new ConcurrencyLimit(options.limit ?? 100);
    this.noDownscale = noDownscale({ client: sharedReads(client, clock), clock, log, limit });
    this.prepareDownscale = this.#preparing(client, { limit, clock, log, identity: 'replica-1' });
  }

  /** Returns prepare-downscale as another replica of the operator serves it; `clock` is that of its machine. */
  replica(identity: string, clock: Clock = this.clock, log: Logger = silentLogger): Replica {
    const api = new FaultyTransport(this.#cluster.transport(identity));
    const client = createClient({ clock, timeout: millis(0), userAgent: 'test', transport: api });
    const ports = { limit: new ConcurrencyLimit(100), clock, log, identity };
    return { api, prepareDownscale: this.#preparing(client, ports) };
  }

  /** Lets the replica `identity` do only what `rules` grant in the namespace. */
  restrict(identity: string, rules: readonly PolicyRule[]): void {
    this.#cluster.authorizer.restrict([{ user: identity, namespace: 'test', rules }]);
  }

  #preparing(
    client: Client,
    {
      identity,
      ...ports
    }: {
      readonly limit: ConcurrencyLimit;
      readonly clock: Clock;
      readonly log: Logger;
      readonly identity: string;
    },
  ): Webhook {
    const { clock, log } = ports;
    const { podTimeout: timeout = seconds(5) } = this.#options;
    return prepareDownscale({
      ...ports,
      client: sharedReads(client, clock),
      locks: new GroupLocks(),
      groupClaims: new ReplicaClaims({ client, clock, log, namespace: 'test', identity }),
      podHttp: new FakePodHttp({ fleet: this.fleet, clock: this.clock, timeout }),
      record: this.#record(client),
      clusterDomain: 'cluster.local.',
      onBackground: (work) => void this.background.push(work),
    });
  }

  /** Returns a bed with an empty namespace `test`. */
  static async open(options: AdmissionBedOptions = {}): Promise<AdmissionBed> {
    const clock = new FakeClock(T0);
    const cluster = await createCluster({ clock, seed: 1 });
    const bed = new AdmissionBed(cluster, clock, options);
    const body = { metadata: { name: 'test' } };
    await bed.admin.create(resourceTypes.namespaces, {}, { body });
    return bed;
  }

  async close(): Promise<void> {
    await this.#cluster.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #record(client: Client): DownscaleRecord {
    const { clock } = this;
    const options = { client, clock, log: silentLogger };
    if (this.#options.isZoneTracked !== true) return annotationRecord(options);
    return zoneTrackerRecord(new ZoneTracker({ client, clock, configMapName: 'tracker' }), options);
  }

  /** Answers every request of the webhooks with `object`. */
  answerWith(object: JsonObject): void {
    const metadata = { ...(object['metadata'] as JsonObject), uid: 'u', resourceVersion: '1' };
    this.api.fault = () => ({ status: 200, object: { ...object, metadata } });
  }

  /** Stores a set with its status and pods. */
  store(set: BedSet = {}): Promise<JsonObject> {
    return storeSet(this.admin, set, T0);
  }

  /** Returns what a webhook says, once everything has settled that does not wait for time. */
  async review(webhook: Webhook, request: AdmissionRequest, query = ''): Promise<ReviewDecision> {
    const { decision } = this.begin(webhook, request, query);
    return decision;
  }

  /** Begins a review. */
  begin(
    webhook: Webhook,
    request: AdmissionRequest,
    query = '',
  ): { readonly decision: Promise<ReviewDecision>; readonly leave: () => void } {
    const { clock } = this;
    const { requestTimeout = seconds(10) } = this.#options;
    const span = spanOf({ requestTimeout, patience: webhook.patience, query });
    let deadline: RunningDeadline | undefined;
    const get = (): RunningDeadline => (deadline ??= startDeadline(clock, clock.monotonic(), span));
    const judged = Promise.resolve(webhook.judge(request, { deadline: get }));
    const decision = judged.finally(() => deadline?.release());
    return { decision, leave: () => get().abort('the caller left') };
  }

  /** Returns reviews the down-scale of `name` from `from` to `to`, as an update of the stored object. */
  async downscale(name: string, from: number, to: number): Promise<ReviewDecision> {
    return this.review(this.prepareDownscale, await this.downscaleRequest(name, from, to));
  }

  /** Returns the request that {@link downscale} reviews. */
  async downscaleRequest(name: string, from: number, to: number): Promise<AdmissionRequest> {
    const stored = await this.admin.get(resourceTypes.statefulSets, { namespace: 'test', name });
    const withReplicas = (replicas: number): JsonObject => ({
      ...stored,
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      spec: { ...(stored['spec'] as JsonObject), replicas },
    });
    return updateRequest(withReplicas(from), withReplicas(to), { name });
  }

  /** Returns the annotation of the last down-scale of a stored set. */
  async lastDownscale(name: string): Promise<string | undefined> {
    const stored = await this.admin.get(resourceTypes.statefulSets, { namespace: 'test', name });
    return stored.metadata.annotations?.['grafana.com/last-downscale'];
  }

  /** Returns the data of the ConfigMap of the claims; undefined when there is none. */
  async claims(): Promise<JsonObject | undefined> {
    return this.#dataOf('rollout-operator-claims');
  }

  /** Returns the data of the zone tracker's ConfigMap; undefined when there is none. */
  async zones(): Promise<JsonObject | undefined> {
    return this.#dataOf('tracker');
  }

  async #dataOf(name: string): Promise<JsonObject | undefined> {
    const { items } = await this.admin.list(resourceTypes.configMaps, { namespace: 'test' });
    const map = items.find(({ metadata }) => metadata.name === name);
    return map === undefined ? undefined : ((map['data'] ?? {}) as JsonObject);
  }

  /** Stores the ConfigMap of the claims. */
  async storeClaims(data: Readonly<Record<string, string>>): Promise<void> {
    const body = { metadata: { name: 'rollout-operator-claims' }, data };
    await this.admin.create(resourceTypes.configMaps, { namespace: 'test' }, { body });
  }

  /** Stores the ConfigMap of the zone tracker. */
  async storeZones(
    data: Readonly<Record<string, string>>,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const body = { metadata: { name: 'tracker', labels }, data };
    await this.admin.create(resourceTypes.configMaps, { namespace: 'test' }, { body });
  }
}

/** Returns `span` milliseconds before {@link T0}, as the annotation has it. */
export function ago(span: number): string {
  return formatRfc3339(after(T0, millis(-span)));
}
