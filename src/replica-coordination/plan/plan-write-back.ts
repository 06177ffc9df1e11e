import type { Instant } from '#base/units.ts';
import type { Decision, Scale, WriteBack } from '#control/decision/decision.ts';
import { because, setRef } from '#control/decision/refs.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { referenceId, referenceOf, writesBack } from '../api.ts';
import { type CoordinationMoment, timeOf } from '../plan-wish.ts';
import type { CoordinationSnapshot, ReferenceState } from '../snapshot.ts';

type KnownReference = Extract<ReferenceState, { kind: 'known' }>;

/**
 * Returns what is reported to mirrored resources: one write a resource, the maximum over all sets that mirror it and report
 * at all (SC-40, D-20), `chosen` counted as done.
 */
export function planWriteBacks(
  snapshot: CoordinationSnapshot,
  chosen: Scale | undefined,
  now: Instant,
): readonly Decision[] {
  const moment = { group: snapshot, now };
  return [...snapshot.references].flatMap(([id, state]) => {
    if (state.kind !== 'known' || !isReportable(state)) return [];
    const writers = snapshot.sets.map(({ set }) => set).filter((set) => reportsTo(id, set));
    const [first] = writers;
    if (first === undefined) return [];
    const others = state.others.filter((set) => reportsTo(id, set));
    const counts = [...writers, ...others].map((set) => countOf(set, chosen));
    const replicas = Math.max(...counts);
    if (replicas === state.reported) return [];
    return [held(first, replicas, { state, moment }) ?? writeBack(first, state, replicas)];
  });
}

/** Returns why the report waits: it was refused, or another client reports something else again and again. */
function held(
  set: StatefulSetView,
  replicas: number,
  { state, moment }: { readonly state: KnownReference; readonly moment: CoordinationMoment },
): Decision | undefined {
  const { pace } = state;
  if (pace === undefined || pace.to !== replicas || pace.until <= moment.group.takenAt) {
    return undefined;
  }
  const { because, until } = pace;
  return { kind: 'hold', set: setRef(set), until: timeOf(moment, until), because };
}

/** The status of built-in workloads is their own controller's: the two would overwrite each other for ever. */
function isReportable({ ref, isWriteBackForbidden }: KnownReference): boolean {
  return !isWriteBackForbidden && ref.type.group !== 'apps' && ref.type.group !== '';
}

function reportsTo(id: string, set: StatefulSetView): boolean {
  const reference = referenceOf(set);
  if (reference === undefined || set.isDeleting) return false;
  if (referenceId(set.namespace, reference) !== id) return false;
  const switched = writesBack(set);
  return switched.kind === 'valid' && switched.value;
}

function countOf(set: StatefulSetView, chosen: Scale | undefined): number {
  return chosen?.set.uid === set.uid ? chosen.to : set.spec.replicas;
}

function writeBack(
  set: StatefulSetView,
  { ref, reported }: KnownReference,
  replicas: number,
): WriteBack {
  const message = `status.replicas of ${ref.type.kind} "${ref.name}" becomes ${replicas}, the greatest count of the sets that mirror it`;
  return {
    kind: 'write-back',
    set: setRef(set),
    reference: ref,
    from: reported,
    replicas,
    because: because('ReplicasWrittenBack', message),
  };
}
