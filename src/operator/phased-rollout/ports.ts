import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { Credentials } from '#check/credentials/credentials.ts';
import { OpenQuestions } from '#check/open-questions.ts';
import type { Prometheus } from '#check/prometheus/prometheus.ts';
import { SeenStates } from '#check/seen-states.ts';
import type { Config } from '#config/config.ts';
import { LetGoPods } from '#control/budget/let-go-pods.ts';
import { ConsistentReads } from '#control/consistent-read/consistent-reads.ts';
import { WatchedPods } from '#control/watch/watched-pods.ts';
import type { OpenDisruptions } from '#control/write/open-disruptions.ts';
import { PodDeletions } from '#control/write/pod-deletions.ts';
import { Refusals } from '#control/write/refusals.ts';
import { UnseenWrites } from '#control/write/unseen-writes.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { ownerAnnotation, type RolloutView } from '#phased-rollout/parse-resource.ts';
import { LiftedGates } from '#phased-rollout/reconcile/lifted-gates.ts';
import { PhasedWrites } from '#phased-rollout/reconcile/phased-writes.ts';
import { WritePaces } from '#phased-rollout/reconcile/write-paces.ts';
import type { PhasedControllerPorts } from '#phased-rollout/run-phased-rollouts.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';

/** What all terms of one process share. */
export interface PhasedPortSettings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  /** Asks Prometheus; its maker ends it. */
  readonly prometheus: Prometheus;
}

/** What reconciling PhasedRollouts shares with others in its process. */
export interface PhasedParts {
  readonly client: Client;
  readonly caches: {
    readonly rollouts: Informer<RolloutView>;
    readonly statefulSets: Informer<StatefulSetView>;
    readonly pods: Informer<PodView>;
  };
  readonly events: EventRecorder;
  readonly queue: WorkQueue;
  /** Deletions of ours that the cache may not show yet, no matter who sends them. */
  readonly open: OpenDisruptions;
}

/** What only the process that leads knows. */
type OfTheTerm = 'predecessor' | 'leads' | 'term' | 'budgets' | 'owners' | 'onBudgetChange';

/** Returns what a term works with, and that knows nothing of its Lease. */
export function phasedPorts(
  { config, clock, log, prometheus }: PhasedPortSettings,
  { client, caches, events, queue, open }: PhasedParts,
): Omit<PhasedControllerPorts, OfTheTerm> {
  const { rollouts, pods, statefulSets } = caches;
  const shared = { client, clock, log };
  const freshness = { pods: pods.freshness, statefulSets: statefulSets.freshness };
  const unseenSets = new UnseenWrites(clock, statefulSets.freshness);
  const unseenRollouts = new UnseenWrites(clock, rollouts.freshness);
  const unseen = { unseenSets, unseenRollouts };
  return {
    rollouts,
    pods,
    statefulSets,
    ...unseen,
    clock,
    log,
    events,
    queue,
    prometheus,
    open,
    reads: new ConsistentReads({ client, clock, ...freshness }),
    refusals: new Refusals(),
    writePaces: new WritePaces(),
    lifted: new LiftedGates(clock),
    letGo: new LetGoPods({
      clock,
      statefulSets,
      pods,
      open,
      isOurs: ({ annotations }) => annotations[ownerAnnotation] !== undefined,
    }),
    watched: new WatchedPods(pods, clock),
    questions: new OpenQuestions({ clock, onAnswer: (key) => queue.add(key) }),
    seen: new SeenStates(clock),
    credentials: new Credentials(client, clock),
    writes: new PhasedWrites({ ...shared, statefulSets: statefulSets.freshness, ...unseen }),
    deletions: new PodDeletions({ ...shared, pods: pods.freshness, open }),
    stuckAfter: config.rollout.stuckAfter,
  };
}
