import { instant, type Monotonic, millis, minutes, monotonic } from '#base/units.ts';
import type { Decision } from '#control/decision/decision.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import type {
  CoordinationSnapshot,
  Preparations,
  ReferenceState,
} from '#replica-coordination/snapshot.ts';
import {
  podView,
  readySince,
  type StatefulSetOverrides,
  statefulSetView,
  T0,
  unready as unreadyBy,
} from '../objects/views.ts';

const PREFIX = 'grafana.com/';

const crashLoop = {
  trouble: 'CrashLoopBackOff',
  unready: unreadyBy({ since: readySince, isBackingOff: true }),
};

/** What a test says of one zone. */
export interface ZoneSpec {
  readonly replicas: number;
  /** `status.readyReplicas`. @default replicas */
  readonly ready?: number;
  /** `status.replicas`. @default replicas */
  readonly current?: number;
  /** Annotations, those of the peer without `grafana.com/`. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Labels without `grafana.com/`. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly set?: StatefulSetOverrides;
  /** Ordinals whose pods run, and are not ready; they were available before. */
  readonly unready?: readonly number[];
  /** Ordinals whose pods run, and were not ready since they were made. */
  readonly starting?: readonly number[];
  /** Those of them whose container crashes again and again, for an hour by its condition. */
  readonly crashing?: readonly number[];
}

function prefixed(map: Readonly<Record<string, string>> = {}): Record<string, string> {
  const named = (key: string): string => (key.includes('/') ? key : PREFIX + key);
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [named(key), value]));
}

/** Returns the set `ingester-zone-<letter>` with all its pods. */
function zoneOf(letter: string, spec: ZoneSpec): SetSnapshot {
  const { replicas, ready = replicas, current = replicas, unready = [] } = spec;
  const { crashing = [], starting = crashing } = spec;
  const name = `ingester-zone-${letter}`;
  const set = statefulSetView({
    name,
    annotations: { 'rollout-max-unavailable': '2', ...prefixed(spec.annotations) },
    labels: { 'rollout-group': 'ingester', ...prefixed(spec.labels) },
    ...spec.set,
    spec: { replicas, ...spec.set?.spec },
    status: { replicas: current, readyReplicas: ready, ...spec.set?.status },
  });
  const start = set.spec.ordinalsStart;
  const pods = Array.from({ length: current }, (_, index) => {
    const pod = { name: `${name}-${start + index}`, controllerUid: set.uid };
    const ordinal = start + index;
    const unreadyAfter = starting.includes(ordinal) ? millis(0) : minutes(60);
    const isReady = !unready.includes(ordinal) && !starting.includes(ordinal);
    const broken = { ...pod, readySince: undefined, areContainersReady: false, unreadyAfter };
    if (isReady) return podView(pod);
    return podView(crashing.includes(ordinal) ? { ...broken, ...crashLoop } : broken);
  });
  return { set, pods, orphans: [] };
}

/** Returns the annotations of a set that follows zone `leader`. */
export function follows(
  leader: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { 'rollout-downscale-leader': `ingester-zone-${leader}`, ...more };
}

/** Returns the annotations of a set that mirrors the custom resource `test`. */
export function mirrors(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    'rollout-mirror-replicas-from-resource-name': 'test',
    'rollout-mirror-replicas-from-resource-kind': 'CustomResource',
    'rollout-mirror-replicas-from-resource-api-version': 'my.group/v1',
    ...more,
  };
}

/** The id of the resource of {@link mirrors}. */
export const REFERENCE = 'test/my.group/CustomResource/test';

/** Returns the resource of {@link mirrors}, which asks for `wanted` replicas. */
export function reference(wanted: number, reported: number): ReferenceState {
  const type = {
    group: 'my.group',
    version: 'v1',
    plural: 'customresources',
    kind: 'CustomResource',
    isNamespaced: true,
  };
  const ref = { type, namespace: 'test', name: 'test' };
  const rest = { hasChanged: false, others: [], isWriteBackForbidden: false };
  return { kind: 'known', ref, wanted, reported, ...rest };
}

/** When {@link coordination} takes its snapshots. */
export const TAKEN_AT: Monotonic = monotonic(5_000_000);

/** The URL of {@link delays}. */
const PREPARE_URL = 'http://pod/prepare';

/** Returns the annotations of a set that asks its pods an hour before they go. */
export function delays(): Record<string, string> {
  return {
    'rollout-delayed-downscale': '1h',
    'rollout-prepare-delayed-downscale-url': PREPARE_URL,
  };
}

/** What a pod of zone `letter` said. */
interface Said {
  /** Since when it is prepared to go; undefined: it stays. */
  readonly since: number | undefined;
  /** When it said so. @default {@link TAKEN_AT} */
  readonly answeredAt?: number;
}

/** Returns what pods of zone `letter` said when they were called as {@link delays} wants, by ordinal. */
export function heard(
  letter: string,
  said: Readonly<Record<number, Said>>,
): ReadonlyMap<string, readonly Preparations[]> {
  const name = `ingester-zone-${letter}`;
  const slots = Object.entries(said).map(([ordinal, { since, answeredAt = TAKEN_AT }]) => {
    const state =
      since === undefined
        ? ({ kind: 'cancelled', repeatAt: undefined } as const)
        : ({
            kind: 'prepared',
            uid: `${name}-${ordinal}-uid`,
            since: instant(since),
            answeredAt: monotonic(answeredAt),
            elapsedThen: millis(Math.max(0, T0 - since - (TAKEN_AT - answeredAt))),
          } as const);
    return [Number(ordinal), { calling: undefined, state }] as const;
  });
  return new Map([[`${name}-uid`, [{ url: PREPARE_URL, slots: new Map(slots) }]]]);
}

/** Returns a snapshot of `zones`, nothing else known unless overridden. */
export function coordination(
  zones: Readonly<Record<string, ZoneSpec>>,
  rest: Partial<CoordinationSnapshot> = {},
): CoordinationSnapshot {
  return {
    takenAt: TAKEN_AT,
    sets: Object.entries(zones).map(([letter, spec]) => zoneOf(letter, spec)),
    leaving: new Set(),
    conflicts: new Map(),
    references: new Map(),
    zoneTracker: { kind: 'off' },
    seenDownscales: new Map(),
    preparations: new Map(),
    notes: new Map(),
    paces: new Map(),
    stuckAfter: minutes(30),
    watched: {
      now: TAKEN_AT,
      since: new Map(),
      witnessed: new Set(),
      served: new Set<string>(),
      gone: new Map(),
      begun: monotonic(0),
    },
    unanswered: new Map(),
    ...rest,
  };
}

/** Returns what `decisions` do, such as `b: 3 → 2`, `test := 5`, `b: POST 2`, `b: hold Paused`, `b: warn InvalidWriteBack`. */
export function deeds(decisions: readonly Decision[]): readonly string[] {
  return decisions.map((decision) => {
    const zone = decision.set.name.replace('ingester-zone-', '');
    switch (decision.kind) {
      case 'scale':
        return `${zone}: ${decision.from} → ${decision.to}`;
      case 'write-back':
        return `${decision.reference.name} := ${decision.replicas}`;
      case 'note-prepared':
        return `${zone}: note ${decision.urls.join(' ')}`;
      case 'call-pod':
        return `${zone}: ${decision.method} ${decision.ordinal}`;
      default:
        return `${zone}: ${decision.kind} ${decision.because.reason}`;
    }
  });
}
