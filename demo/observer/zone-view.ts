import type { JsonObject } from '#base/json.ts';
import { numberAt, textAt } from '#cluster/json/read-json.ts';
import {
  defaultMaxUnavailable,
  limitOf,
  parseMaxUnavailable,
} from '#rollout-group/max-unavailable.ts';
import {
  controllerUid,
  type PodState,
  podState,
  revisionOf,
  troubleOf,
} from '../cluster/pod-state.ts';

/** One place of a zone. */
export interface PodCell {
  readonly pod: string;
  readonly state: PodState;
  /** Whether the pod runs what its set wants; false while there is no pod. */
  readonly isUpdated: boolean;
  /** Why it is broken; empty when it is not. */
  readonly trouble: string;
}

/** One StatefulSet of the group and its pods, as stored. */
export interface ZoneView {
  readonly set: string;
  /** For people: the label `zone` of its pods, else the name of the set. */
  readonly zone: string;
  readonly cells: readonly PodCell[];
  /** `status.currentRevision` and `status.updateRevision`. */
  readonly current: string;
  readonly target: string;
  /** Whether status is about the newest spec. */
  readonly isObserved: boolean;
  /** Pods that may be unavailable at once, by the annotation. */
  readonly limit: number;
  /** Places without a pod that is Ready and stays. */
  readonly unavailable: number;
  /** Places without a pod of the wanted revision. */
  readonly outdated: number;
}

/** Returns the zone of the stored `set`; `podOf` finds a stored pod by its name. */
export function zoneView(
  set: JsonObject,
  podOf: (name: string) => JsonObject | undefined,
): ZoneView {
  const name = textAt(set, 'metadata', 'name');
  const uid = textAt(set, 'metadata', 'uid');
  const target = textAt(set, 'status', 'updateRevision');
  const replicas = numberAt(set, 'spec', 'replicas') ?? 1;
  const first = numberAt(set, 'spec', 'ordinals', 'start') ?? 0;
  const cells = Array.from({ length: replicas }, (_, index) => {
    const pod = podOf(`${name}-${first + index}`);
    const owned = pod !== undefined && controllerUid(pod) === uid ? pod : undefined;
    return cellOf(`${name}-${first + index}`, owned, target);
  });
  return {
    set: name,
    zone: textAt(set, 'spec', 'template', 'metadata', 'labels', 'zone') || name,
    cells,
    current: textAt(set, 'status', 'currentRevision'),
    target,
    isObserved:
      numberAt(set, 'metadata', 'generation') === numberAt(set, 'status', 'observedGeneration'),
    limit: limitOfSet(set, replicas),
    unavailable: cells.filter(({ state }) => state !== 'ready').length,
    outdated: cells.filter(({ isUpdated }) => !isUpdated).length,
  };
}

function cellOf(name: string, pod: JsonObject | undefined, target: string): PodCell {
  if (pod === undefined) return { pod: name, state: 'gone', isUpdated: false, trouble: '' };
  const state = podState(pod);
  return {
    pod: name,
    state,
    isUpdated: revisionOf(pod) === target,
    trouble: state === 'broken' ? troubleOf(pod) : '',
  };
}

function limitOfSet(set: JsonObject, replicas: number): number {
  const raw = textAt(set, 'metadata', 'annotations', 'rollout-max-unavailable');
  const parsed = parseMaxUnavailable(raw, 'rollout-max-unavailable');
  return limitOf(parsed.kind === 'valid' ? parsed.value : defaultMaxUnavailable, replicas);
}

/** Reports whether every pod of `zone` is available. */
export function isComplete(zone: ZoneView): boolean {
  return zone.cells.length > 0 && zone.unavailable === 0;
}

/** Reports whether every pod of `zone` is available and runs what the newest spec wants. */
export function isRolled(zone: ZoneView): boolean {
  return isComplete(zone) && zone.isObserved && zone.target !== '' && zone.outdated === 0;
}

/** Reports whether a rollout of `zone` has ended, its status included. */
export function isSettled(zone: ZoneView): boolean {
  return isRolled(zone) && zone.current === zone.target;
}

/** Returns what comes next in a group, in words; zones go in the order of the names of their sets. */
export function nextStep(zones: readonly ZoneView[]): string {
  const current = zones.find(({ unavailable }) => unavailable > 0) ?? zones.find(isBehind);
  if (current === undefined) return 'nothing: every pod runs what its set wants';
  const pod = current.cells.find(({ isUpdated, state }) => !isUpdated && state === 'ready')?.pod;
  const later = zones.filter((zone) => zone !== current && isBehind(zone)).map(({ zone }) => zone);
  const steps = [...(pod === undefined ? [] : [pod]), ...later];
  const [first, ...others] = steps;
  if (first === undefined) return `the last pods of ${current.zone} become ready`;
  return others.length === 0 ? first : `${first}, then ${others.join(', ')}`;
}

function isBehind({ outdated }: ZoneView): boolean {
  return outdated > 0;
}
