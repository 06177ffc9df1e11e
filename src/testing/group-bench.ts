import { type Millis, seconds } from '#base/units.ts';
import type { Plan } from '#control/decision.ts';
import { Fence } from '#control/fence.ts';
import { OpenDisruptions } from '#control/open-disruptions.ts';
import { GroupReconciler, type GroupReconcilerPorts } from '#control/reconcile-group.ts';
import type { PassResult } from '#control/run-controller.ts';
import { ScaleWrites } from '#control/scale-writes.ts';
import { ScalableKinds } from '#kubernetes/discovery.ts';
import { TransportError } from '#kubernetes/transport.ts';
import { PodPreparations } from '#replica-coordination/prepare-pods.ts';
import { ReplicaCoordination } from '#replica-coordination/reconcile.ts';
import { References } from '#replica-coordination/references.ts';
import { RolloutGroups } from '#rollout-group/reconcile.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { createOperatorMetrics } from '#telemetry/operator-metrics.ts';
import { FakePodHttp } from './fake-pod-http.ts';
import { GroupWorld } from './group-world.ts';
import { type GroupOptions, ingesterGroup } from './objects.ts';
import { PodFleet } from './pod-fleet.ts';
import { RecordingEvents, RecordingLogger } from './recording.ts';

/** The key of the group that a bench has. */
export const KEY = 'test/ingester';

/** A group whose sets want `new-hash` while all pods run `last-hash`. */
export function outdatedGroup(options: GroupOptions = {}): ReturnType<typeof ingesterGroup> {
  return ingesterGroup({ zones: ['a', 'b'], updateRevision: 'new-hash', ...options });
}

/** A reconciler in a {@link GroupWorld}; outdated pods in two zones, unless told otherwise. */
export class GroupBench {
  readonly world: GroupWorld;
  readonly log = new RecordingLogger();
  readonly events = new RecordingEvents();
  readonly registry = createMetricsRegistry();
  readonly stopping = new AbortController();
  readonly ports: GroupReconcilerPorts;
  readonly reconciler: GroupReconciler;
  /** Why budgets forbid to roll. */
  budget: string | undefined;
  /** The plan of the newest pass. */
  plan: Plan | undefined;

  /** Keys that scaling asked to have planned again. */
  readonly woken: string[] = [];
  readonly fleet: PodFleet;

  constructor(
    options: GroupOptions & {
      readonly canTouchPods?: boolean;
      /** Name of the ConfigMap of zone-tracker mode. @default the mode is off */
      readonly zoneTracker?: string;
      /** How often what cannot be watched is read. @default 5 s */
      readonly interval?: Millis;
    } = {},
  ) {
    const { canTouchPods = true, zoneTracker: _, interval: __, ...group } = options;
    this.world = new GroupWorld(outdatedGroup(group));
    const { client, clock, pods, statefulSets } = this.world;
    this.fleet = new PodFleet(clock);
    const { log, events } = this;
    const common = { client, clock, pods, statefulSets, log, events };
    const fence = new Fence({ ...common, pods: pods.freshness, identity: 'me', canTouchPods });
    const budgetOver = (): string | undefined => this.budget;
    const metrics = createOperatorMetrics(this.registry);
    const shared = { ...common, fence, open: new OpenDisruptions() };
    const rollout = new RolloutGroups({ ...shared, budgetOver });
    const wake = (key: string): void => void this.woken.push(key);
    const references = new References({
      ...common,
      metrics,
      kinds: new ScalableKinds(client, clock),
      statefulSets: statefulSets.lister,
      interval: options.interval ?? seconds(5),
      retry: seconds(5),
      signal: this.stopping.signal,
      wake,
    });
    const scaling = new ReplicaCoordination({
      ...shared,
      references,
      zoneTracker: options.zoneTracker,
      writes: new ScaleWrites(clock, statefulSets.freshness),
      preparations: new PodPreparations({
        clock,
        log,
        podHttp: new FakePodHttp({ fleet: this.fleet, clock }),
        clusterDomain: 'cluster.local.',
        wake: () => undefined,
      }),
      retry: seconds(5),
      wake,
    });
    this.ports = {
      ...common,
      metrics,
      capabilities: [scaling, rollout],
      onPlan: (_, plan) => {
        this.plan = plan;
      },
    };
    this.reconciler = new GroupReconciler(this.ports);
  }

  /** One pass over {@link KEY}, or another key. */
  pass(key = KEY): Promise<PassResult> {
    return this.reconciler.reconcile(key, this.stopping.signal);
  }

  /** A pass whose outcome does not matter, so that the group is fenced, and all it did seen and proven. */
  async fenced(): Promise<this> {
    const { world } = this;
    const { before } = world;
    world.before = ({ verb }) => {
      if (verb === 'delete') throw new TransportError('this pass only fences', 'not-sent');
    };
    await this.pass();
    world.before = before;
    await world.clock.advance(1);
    world.show();
    world.prove();
    world.taken();
    return this;
  }

  /** The reasons of the newest plan's holds. */
  holds(): readonly string[] {
    return (this.plan?.decisions ?? [])
      .filter((decision) => decision.kind === 'hold')
      .map(({ because }) => because.reason);
  }

  /** The samples of metrics whose name has `word` in it, without buckets. */
  async samples(word: string): Promise<readonly string[]> {
    const lines = (await this.registry.expose()).split('\n');
    return lines.filter((line) => !line.startsWith('#') && line.split('{')[0]?.includes(word));
  }
}
