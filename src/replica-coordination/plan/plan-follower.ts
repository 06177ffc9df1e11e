import { quoted } from '#base/text/quoted.ts';
import { because } from '#control/decision/refs.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { forcedReplicasOf, waitsForLeader } from '../api.ts';
import { type CoordinationMoment, hold, scaleTo, settled, type Wish } from '../plan-wish.ts';
import { waitForMinimumTime } from './plan-minimum-time.ts';

/** Returns what a set wants that follows `leader`, a set of its own group (SC-10…SC-17). */
export function planFollower(
  snapshot: SetSnapshot,
  leader: string,
  moment: CoordinationMoment,
): Wish {
  const { set } = snapshot;
  const found = moment.group.sets.find((each) => each.set.name === leader)?.set;
  if (found === undefined) {
    const message =
      `StatefulSet "${set.name}" follows ${quoted(leader)}, and its rollout group has no such StatefulSet; ` +
      'its replicas are left alone';
    return hold(set, because('LeaderNotFound', message));
  }
  const forced = forcedReplicasOf(set);
  if (forced?.kind === 'valid') return force(snapshot, forced.value);
  if (found.spec.replicas > set.spec.replicas) return grow(snapshot, found);
  if (found.spec.replicas < set.spec.replicas) return shrink(snapshot, found, moment);
  return settled;
}

function force(snapshot: SetSnapshot, to: number): Wish {
  const { set } = snapshot;
  if (to === set.spec.replicas) return settled;
  const message = `${set.name} goes from ${set.spec.replicas} to ${to} replicas, which its annotation forces`;
  return scaleTo(snapshot, to, { because: because('ScaledByForce', message), isFollower: true });
}

function grow(snapshot: SetSnapshot, leader: StatefulSetView): Wish {
  const { set } = snapshot;
  const { readyReplicas } = leader.status;
  if (waitsForLeader(set) && readyReplicas !== leader.spec.replicas) {
    const message =
      `${set.name} stays at ${set.spec.replicas} replicas until its leader ${leader.name} is ready: ` +
      `${readyReplicas} of ${leader.spec.replicas} pods are`;
    return hold(set, because('LeaderNotReady', message));
  }
  return followed(snapshot, leader);
}

function shrink(snapshot: SetSnapshot, leader: StatefulSetView, moment: CoordinationMoment): Wish {
  const wait = waitForMinimumTime(snapshot.set, moment, 'missing time is an error');
  return wait ?? followed(snapshot, leader);
}

function followed(snapshot: SetSnapshot, leader: StatefulSetView): Wish {
  const { set } = snapshot;
  const to = leader.spec.replicas;
  const message = `${set.name} goes from ${set.spec.replicas} to ${to} replicas, as its leader ${leader.name} has ${to}`;
  return scaleTo(snapshot, to, { because: because('ScaledToLeader', message), isFollower: true });
}
