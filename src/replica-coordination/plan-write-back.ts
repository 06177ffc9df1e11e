import type { Decision, Scale, WriteBack } from '#control/decision.ts';
import { because, setRef } from '#control/refs.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { referenceId, referenceOf, writesBack } from './api.ts';
import type { CoordinationSnapshot, ReferenceState } from './snapshot.ts';

type KnownReference = Extract<ReferenceState, { kind: 'known' }>;

/**
 * What is reported to mirrored resources: one write a resource, the maximum over all sets that mirror it and report at
 * all (SC-40, D-20), `chosen` counted as done.
 */
export function planWriteBacks(
  snapshot: CoordinationSnapshot,
  chosen: Scale | undefined,
): readonly Decision[] {
  return [...snapshot.references].flatMap(([id, state]) => {
    if (state.kind !== 'known' || !isReportable(state)) return [];
    const writers = snapshot.sets.map(({ set }) => set).filter((set) => reportsTo(id, set));
    const [first] = writers;
    if (first === undefined) return [];
    const others = state.others.filter((set) => reportsTo(id, set));
    const counts = [...writers, ...others].map((set) => countOf(set, chosen));
    const replicas = Math.max(...counts);
    return replicas === state.reported ? [] : [writeBack(first, state, replicas)];
  });
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

function writeBack(set: StatefulSetView, { ref }: KnownReference, replicas: number): WriteBack {
  const message = `${ref.type.kind} "${ref.name}" is told that the sets which mirror it have ${replicas} replicas`;
  return {
    kind: 'write-back',
    set: setRef(set),
    reference: ref,
    replicas,
    because: because('ReplicasWrittenBack', message),
  };
}
