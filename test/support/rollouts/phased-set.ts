import { assertNever } from '#base/assert-never.ts';
import { seconds } from '#base/units.ts';
import type { PhasedRolloutSpec } from '#phased-rollout/api.ts';
import type { PhasedDecision } from '#phased-rollout/plan/plan-decision.ts';
import type { TargetSet } from '#phased-rollout/snapshot.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { podView, statefulSetView, unready } from '../objects/views.ts';

/** The spec of most scenarios: delay 10 s, period 5 s, two passes. */
export const usualPhasedSpec: PhasedRolloutSpec = {
  targetRef: 'web',
  standardRollingUpdate: false,
  initialDelay: seconds(10),
  period: seconds(5),
  successThreshold: 2,
  query: { expr: 'up', url: 'http://h', insecureSkipVerify: false, secretRef: undefined },
};

/** A pod of the play; `state` is `ready` unless said otherwise. */
export interface PlayedPod {
  revision: string | undefined;
  state: 'ready' | 'not-ready' | 'crashing' | 'terminating';
}

/** The fields of a set that a play changes. */
export interface PlayedSet {
  replicas: number;
  partition: number;
  current: string;
  update: string;
}

/** What else a play says of its set. */
interface SetFacts {
  readonly uid: string;
  readonly owner: string | undefined;
  readonly hasMaxUnavailable: boolean;
  readonly isObserved: boolean;
  readonly strategy: string;
  readonly ordinalsStart: number;
  readonly writers: StatefulSetView['writers'];
  readonly pods: ReadonlyMap<number, PlayedPod>;
}

/** Returns the set of a play as the planner sees it. */
export function targetOf(facts: SetFacts, stored: PlayedSet): TargetSet {
  const { replicas, partition, current, update } = stored;
  const { ordinalsStart, owner, hasMaxUnavailable, strategy: updateStrategy } = facts;
  const set = statefulSetView({
    name: 'web',
    uid: facts.uid,
    ...(facts.writers !== undefined && { writers: facts.writers }),
    generation: facts.isObserved ? 1 : 2,
    spec: { replicas, partition, hasMaxUnavailable, ordinalsStart, updateStrategy },
    status: { observedGeneration: 1, replicas, currentRevision: current, updateRevision: update },
  });
  const pods = [...facts.pods].map(([ordinal, { revision, state }]) => {
    const isReady = state === 'ready' || state === 'terminating';
    return podView({
      name: `web-${ordinal}`,
      revision,
      isTerminating: state === 'terminating',
      ...(!isReady && {
        readySince: undefined,
        unready: unready({ isBackingOff: state === 'crashing' }),
      }),
      ...(state === 'crashing' && { trouble: 'CrashLoopBackOff' }),
    });
  });
  return { set, pods, owner };
}

/** Returns `decision` in words. */
export function said(decision: PhasedDecision): string {
  switch (decision.kind) {
    case 'set-partition':
      return `partition ${decision.from} to ${decision.to}`;
    case 'release':
      return `release ${decision.set.name}, drop ${decision.drops}`;
    case 'delete-pod':
      return `delete ${decision.pod.name}`;
    case 'tell':
    case 'hold':
      return `${decision.kind} ${decision.because.reason}`;
    case 'add-finalizer':
    case 'remove-finalizer':
    case 'adopt':
    case 'ask':
      return decision.kind;
    default:
      return assertNever(decision);
  }
}
