import type { Problem } from '#base/parsed.ts';
import type { Decision } from '#control/decision/decision.ts';
import type { Reason } from '#control/decision/reasons.ts';
import { because, setRef } from '#control/decision/refs.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import {
  forcedReplicasOf,
  lastDownscaleOf,
  referenceId,
  referenceOf,
  sourceOf,
  writesBack,
} from '../api.ts';
import type { CoordinationSnapshot } from '../snapshot.ts';

/** Warns of input that cannot be used as it is, while work goes on (KW-27, KW-29). */
export function planWarnings(snapshot: CoordinationSnapshot): readonly Decision[] {
  const isTimed = snapshot.sets.some(({ set }) => sourceOf(set).kind !== 'none');
  return snapshot.sets.flatMap(({ set }) => {
    const lastDownscale = isTimed ? lastDownscaleOf(set) : undefined;
    const timed = problemOf(lastDownscale);
    return [
      ...(timed === undefined ? [] : [warn(set, 'InvalidLastDownscale', timed)]),
      ...ofSource(set, snapshot),
    ];
  });
}

function ofSource(set: StatefulSetView, snapshot: CoordinationSnapshot): readonly Decision[] {
  const source = sourceOf(set).kind;
  // Without a source the annotations have no effect at all (SC-5).
  if (source === 'none') return [];
  const forced = problemOf(forcedReplicasOf(set));
  const writeBack = source === 'reference' ? problemOf(writesBack(set)) : undefined;
  return [
    ...(forced === undefined ? [] : [warn(set, 'InvalidForceReplicas', forced)]),
    ...(writeBack === undefined ? [] : [warn(set, 'InvalidWriteBack', writeBack)]),
    ...forbidden(set, snapshot),
    ...ringed(set, snapshot),
  ];
}

function forbidden(
  set: StatefulSetView,
  { references }: CoordinationSnapshot,
): readonly Decision[] {
  const reference = referenceOf(set);
  if (reference === undefined) return [];
  const state = references.get(referenceId(set.namespace, reference));
  if (state?.kind !== 'known' || !state.isWriteBackForbidden) return [];
  const switched = writesBack(set);
  if (switched.kind === 'invalid' || !switched.value) return [];
  const { type } = state.ref;
  const message =
    `the replicas of ${set.name} are not reported to ${reference.kind} "${reference.name}", ` +
    `as the Role does not permit patching ${type.plural}/status`;
  const why = because('WriteBackForbidden', message);
  return [{ kind: 'warn', set: setRef(set), because: why }];
}

/** Warns of a set that follows itself, by way of others or not: no set of such a ring leads. */
function ringed(set: StatefulSetView, { sets }: CoordinationSnapshot): readonly Decision[] {
  const leaders = new Map(sets.map(({ set: each }) => [each.name, leaderOf(each)]));
  const ring = [set.name];
  let next = leaderOf(set);
  while (next !== undefined && !ring.includes(next)) {
    ring.push(next);
    next = leaders.get(next);
  }
  if (next !== set.name) return [];
  const path = [...ring.slice(1), set.name].join(', which follows ');
  const message = `StatefulSet "${set.name}" follows ${path}: none of them leads, and each takes over the replicas of the next`;
  return [{ kind: 'warn', set: setRef(set), because: because('FollowsItself', message) }];
}

function leaderOf(set: StatefulSetView): string | undefined {
  const source = sourceOf(set);
  return source.kind === 'leader' ? source.leader : undefined;
}

function problemOf(
  parsed:
    | { readonly kind: 'valid' }
    | { readonly kind: 'invalid'; readonly problem: Problem }
    | undefined,
): Problem | undefined {
  return parsed?.kind === 'invalid' ? parsed.problem : undefined;
}

const effects = {
  InvalidForceReplicas: 'nothing is forced',
  InvalidWriteBack: 'nothing is written back',
  InvalidLastDownscale: 'no other follower of the group shrinks',
} as const;

function warn(
  set: StatefulSetView,
  reason: keyof typeof effects & Reason,
  problem: Problem,
): Decision {
  const message = `StatefulSet "${set.name}": ${problem.path} ${problem.message}; ${effects[reason]}`;
  return { kind: 'warn', set: setRef(set), because: because(reason, message) };
}
