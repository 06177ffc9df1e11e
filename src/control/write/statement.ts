import type { LogFields } from '#base/logger.ts';
import type { Monotonic } from '#base/units.ts';
import { ageOf, type Basis, type TypeBasis } from '../consistent-read/basis.ts';
import type { DeletePod, Scale } from '../decision/decision.ts';

/**
 * Returns what a disruptive request rests on, for the log: it is there before the request leaves, so that others can
 * check it from the server's side (D-7).
 */
export function statementOf(
  decision: DeletePod | Scale,
  basis: Basis | undefined,
  now: Monotonic,
): LogFields {
  const { set, because } = decision;
  const subject =
    decision.kind === 'delete-pod'
      ? { pod: decision.pod.name, statefulset: set.name, uid: decision.pod.uid }
      : { name: set.name, replicas: decision.to, currentReplicas: decision.from, uid: set.uid };
  return {
    ...subject,
    reason: because.reason,
    because: because.message,
    ...(basis === undefined ? {} : basisFields(basis, now)),
  };
}

function basisFields(basis: Basis, now: Monotonic): LogFields {
  return {
    view_pods: viewText(basis.pods),
    view_statefulsets: viewText(basis.statefulSets),
    ...(basis.pods.newer !== undefined && { view_pods_newer: textOf(basis.pods.newer) }),
    ...(basis.statefulSets.newer !== undefined && {
      view_statefulsets_newer: textOf(basis.statefulSets.newer),
    }),
    proof_pods: basis.pods.proof,
    proof_statefulsets: basis.statefulSets.proof,
    ...(basis.term !== undefined && { term: basis.term }),
    age_ms: Math.round(ageOf(basis, now)),
  };
}

function viewText({ view }: TypeBasis): string {
  return typeof view === 'string' ? view : textOf(view);
}

function textOf(revisions: Readonly<Record<string, string>>): string {
  return Object.entries(revisions)
    .map(([name, revision]) => `${name}=${revision}`)
    .join(',');
}
