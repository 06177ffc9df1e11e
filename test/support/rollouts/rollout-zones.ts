import { after, millis, minutes, monotonic, seconds } from '#base/units.ts';
import type { Decision } from '#control/decision/decision.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import type { GroupSnapshot } from '#rollout-group/snapshot.ts';
import type { PodView } from '#statefulset/view.ts';
import {
  podView,
  type StatefulSetOverrides,
  statefulSetView,
  T0,
  unready,
} from '../objects/views.ts';

/** What is in the place of one ordinal: a current pod, an outdated one, and so on. */
export type PodState =
  | 'current'
  | 'old'
  | 'old-unready'
  | 'old-stuck'
  | 'old-stuck-by-time'
  | 'old-stuck-terminating'
  | 'old-terminating'
  | 'old-unready-terminating'
  | 'old-settling'
  | 'unready'
  | 'stuck'
  | 'out-of-reach'
  | 'terminating'
  | 'unready-terminating'
  | 'settling'
  | 'missing'
  | 'unlabelled'
  | 'unlabelled-stuck';

const old = { revision: 'prev-hash' };
const broken = { readySince: undefined, areContainersReady: false };
/** In a crash loop, and never ready since it was made. */
const stuck = {
  ...broken,
  unready: unready({ isBackingOff: true }),
  unreadyAfter: millis(0),
  trouble: 'CrashLoopBackOff',
};
/** Runs, and is not ready for an hour. */
const stuckByTime = { ...broken, unready: unready({ since: after(T0, minutes(-60)) }) };

const overrides: Record<Exclude<PodState, 'missing'>, Partial<PodView>> = {
  current: {},
  old,
  'old-unready': { ...old, ...broken },
  'old-stuck': { ...old, ...stuck },
  'old-stuck-by-time': { ...old, ...stuckByTime },
  'old-stuck-terminating': { ...old, ...stuck, isTerminating: true },
  'old-terminating': { ...old, isTerminating: true },
  'old-unready-terminating': { ...old, ...broken, isTerminating: true },
  'unready-terminating': { ...broken, isTerminating: true },
  'old-settling': { ...old, readySince: after(T0, seconds(-5)) },
  unready: broken,
  stuck,
  'out-of-reach': { ...broken, unready: unready({ condition: 'Unknown', isOutOfReach: true }) },
  terminating: { isTerminating: true },
  settling: { readySince: after(T0, seconds(-5)) },
  unlabelled: { revision: undefined },
  'unlabelled-stuck': { revision: undefined, ...stuck },
};

/** What a test says of one zone. */
export interface ZoneSpec extends StatefulSetOverrides {
  /** One state an ordinal, from 0. @default three current pods */
  readonly pods?: readonly PodState[];
  /** Further pods as they are. */
  readonly extra?: readonly PodView[];
}

/** Returns the set `ingester-zone-<letter>` with its pods. */
export function zone(letter: string, spec: ZoneSpec = {}): SetSnapshot {
  const name = spec.name ?? `ingester-zone-${letter}`;
  const states = spec.pods ?? ['current', 'current', 'current'];
  const set = statefulSetView({
    ...spec,
    name,
    spec: { replicas: states.length, ...spec.spec },
    status: { replicas: states.length, readyReplicas: states.length, ...spec.status },
  });
  const pods = states.flatMap((state, index) =>
    state === 'missing'
      ? []
      : [podView({ name: `${name}-${index}`, controllerUid: set.uid, ...overrides[state] })],
  );
  return { set, pods: [...pods, ...(spec.extra ?? [])], orphans: [] };
}

/** Returns a snapshot of `sets` at T0; this process has seen their pods that are not ready for two hours. */
export function group(
  sets: readonly SetSnapshot[],
  rest: Partial<GroupSnapshot> = {},
): GroupSnapshot {
  const uids = sets.flatMap(({ pods }) =>
    pods.filter((pod) => pod.unready !== undefined).map(({ uid }) => uid),
  );
  return {
    namespace: 'test',
    group: 'ingester',
    sets,
    leaving: new Set(),
    conflicts: new Map(),
    stuckAfter: minutes(30),
    watched: {
      now: monotonic(7_200_000),
      since: new Map(uids.map((uid) => [uid, monotonic(0)])),
      witnessed: new Set(),
      served: new Set<string>(),
      gone: new Map(),
      begun: monotonic(0),
    },
    ...rest,
  };
}

/** Returns a decision in one line: what, for which object, why; settings of no interest left out. */
export function line(decision: Decision): string {
  const { reason } = decision.because;
  switch (decision.kind) {
    case 'delete-pod':
      return `delete ${decision.pod.name.replace('ingester-zone-', '')} ${reason}`;
    case 'set-current-revision':
      return `promote ${decision.set.name.replace('ingester-zone-', '')} ${decision.to}`;
    default:
      return `${decision.kind} ${decision.set.name.replace('ingester-zone-', '')} ${reason}`;
  }
}
