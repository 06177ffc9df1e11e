import { type Millis, minutes, seconds } from '#base/units.ts';
import { type GroupBudgets, noBudgets } from '#control/budget/group-budgets.ts';
import type { Plan } from '#control/decision/decision.ts';
import { type PredecessorEnd, PredecessorWait } from '#control/plan/predecessor-wait.ts';
import { GroupReconciler, type GroupReconcilerPorts } from '#control/reconcile-group.ts';
import type { PassResult } from '#control/run-controller.ts';
import { noOtherOwners } from '#control/watch/owners-of-sets.ts';
import { WatchedPods } from '#control/watch/watched-pods.ts';
import { OpenDisruptions } from '#control/write/open-disruptions.ts';
import { ScaleWrites } from '#control/write/scale-writes.ts';
import { ScalableKinds } from '#kubernetes/discovery.ts';
import { PodPreparations } from '#replica-coordination/delayed-downscale/prepare-pods.ts';
import { ReplicaCoordination } from '#replica-coordination/reconcile.ts';
import { References } from '#replica-coordination/references/references.ts';
import { RolloutGroups } from '#rollout-group/reconcile.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { type GroupOptions, ingesterGroup } from '../objects/objects.ts';
import { FakePodHttp } from '../pods/fake-pod-http.ts';
import { PodFleet } from '../pods/pod-fleet.ts';
import { RecordingEvents, RecordingLogger } from '../telemetry/recording.ts';
import { GroupWorld } from './group-world.ts';

/** The key of the group that a bench has. */
export const KEY = 'test/ingester';

/** Returns a group whose sets want `new-hash` while all pods run `last-hash`. */
export function outdatedGroup(options: GroupOptions = {}): ReturnType<typeof ingesterGroup> {
  return ingesterGroup({ zones: ['a', 'b'], updateRevision: 'new-hash', ...options });
}

/** A reconciler in a {@link GroupWorld}; outdated pods in two zones, unless set otherwise. */
export class GroupBench {
  readonly world: GroupWorld;
  readonly log = new RecordingLogger();
  readonly events = new RecordingEvents();
  readonly registry = createMetricsRegistry();
  readonly stopping = new AbortController();
  readonly ports: GroupReconcilerPorts;
  readonly reconciler: GroupReconciler;
  /** Whether the Lease is held. */
  leads = true;
  /** The plan of the newest pass. */
  plan: Plan | undefined;

  /** What was asked of the queue outside of passes, such as `test/ingester after 5`. */
  readonly queued: string[] = [];
  /** Keys that scaling asked to have planned again. */
  readonly woken: string[] = [];
  readonly fleet: PodFleet;
  readonly scaling: ReplicaCoordination;

  constructor(
    options: GroupOptions & {
      /** @default it ended in good order */
      readonly predecessor?: PredecessorEnd;
      /** Name of the ConfigMap of zone-tracker mode. @default the mode is off */
      readonly zoneTracker?: string;
      /** How often what cannot be watched is read. @default 5 s */
      readonly interval?: Millis;
      readonly budgets?: Partial<GroupBudgets>;
    } = {},
  ) {
    const { predecessor: _, zoneTracker: __, interval: ___, budgets: ____, ...group } = options;
    this.world = new GroupWorld(outdatedGroup(group));
    const { client, clock, pods, statefulSets } = this.world;
    this.fleet = new PodFleet(clock);
    const { log, events } = this;
    const common = { client, clock, pods, statefulSets, log, events };
    const predecessor = new PredecessorWait({
      clock,
      predecessor: options.predecessor ?? { kind: 'ended' },
      horizon: seconds(120),
      startedAt: clock.monotonic(),
    });
    const metrics = createOperatorMetrics(this.registry);
    const writes = new ScaleWrites(clock, statefulSets.freshness);
    const watched = new WatchedPods(pods, clock);
    const rollout = new RolloutGroups({
      ...common,
      watched,
      statefulSets: statefulSets.freshness,
      stuckAfter: minutes(30),
    });
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
    this.scaling = new ReplicaCoordination({
      ...common,
      references,
      stuckAfter: minutes(30),
      zoneTracker: options.zoneTracker,
      writes,
      watched,
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
      writes,
      predecessor,
      leads: () => this.leads,
      budgets: { ...noBudgets, ...options.budgets },
      queue: {
        add: (key) => void this.queued.push(`${key} now`),
        addAfter: (key, delay) => void this.queued.push(`${key} after ${delay}`),
      },
      capabilities: [this.scaling, rollout],
      owners: noOtherOwners,
      open: new OpenDisruptions(),
      onPlan: (_, plan) => {
        this.plan = plan;
      },
    };
    this.reconciler = new GroupReconciler(this.ports);
  }

  /** Runs one pass over {@link KEY}, or another key, and all that it began. */
  async pass(key = KEY): Promise<PassResult> {
    const result = await this.reconciler.reconcile(key, this.stopping.signal);
    await this.reconciler.idle();
    return result;
  }

  /** Does the same, with all proven just now. */
  async proven(): Promise<this> {
    const { world } = this;
    await world.clock.advance(1);
    world.show();
    world.prove();
    world.taken();
    return this;
  }

  /** Returns the reasons of the newest plan's holds. */
  holds(): readonly string[] {
    return (this.plan?.decisions ?? [])
      .filter((decision) => decision.kind === 'hold')
      .map(({ because }) => because.reason);
  }

  /** Returns the samples of metrics whose name has `word` in it, without buckets. */
  async samples(word: string): Promise<readonly string[]> {
    const lines = (await this.registry.expose()).split('\n');
    return lines.filter((line) => !line.startsWith('#') && line.split('{')[0]?.includes(word));
  }
}
