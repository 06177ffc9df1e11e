import { podsAre } from '#base/text/pods-text.ts';
import { after, millis } from '#base/units.ts';
import { setRef } from '#control/decision/refs.ts';
import { type Slot, settledAt, slotsOf } from '#statefulset/slot.ts';
import { stuckness } from '#statefulset/stuck.ts';
import type { PodView } from '#statefulset/view.ts';
import { mergedCounts } from '../status.ts';
import { planGates } from './plan-gates.ts';
import { acts, held, type Outcome, type Pass, refreshed } from './plan-outcome.ts';
import { type Candidates, planStep } from './plan-step.ts';

type FilledSlot = Exclude<Slot, { kind: 'missing' }>;

/** A pod that does not run the update revision. */
type OldSlot = FilledSlot & { readonly zone: string | undefined };

/** Returns what the pods of the set allow: nothing, stuck pods of one zone, or the next step of the first zone. */
export function planPods(pass: Pass): Outcome {
  const slots = slotsIn(pass);
  const away = slots.filter(({ kind }) => kind === 'missing' || kind === 'terminating');
  if (away.length > 0) return awaiting(pass, away, 'away');
  const labelled = slots.filter(isLabelled);
  const { updateRevision } = pass.target.set.status;
  const fresh = labelled.filter(
    ({ kind, pod }) => pod.revision === updateRevision && kind !== 'available',
  );
  if (fresh.length > 0) return awaiting(pass, fresh, 'not available');
  const old = labelled
    .filter(({ pod }) => pod.revision !== updateRevision)
    .map((slot): OldSlot => ({ ...slot, zone: pass.target.zones.get(slot.pod.uid) }))
    .toSorted((one, other) => other.ordinal - one.ordinal);
  if (old.length === 0) return planEnd(pass);
  const unready = old.filter(({ kind }) => kind !== 'available');
  return unready.length > 0 ? planUnready(pass, old, unready) : planReady(pass, old);
}

/** Reports whether the pod of `slot` has a revision: one without is neither old nor new, and holds nothing up (ZAU-14.2). */
function isLabelled(slot: Slot): slot is FilledSlot {
  return slot.kind !== 'missing' && slot.pod.revision !== undefined;
}

/** Returns the slots of the set; a step that is being sent is judged by what the others have become. */
function slotsIn({ snapshot, target, now }: Pass): readonly Slot[] {
  const { leaving, watched, begun } = snapshot;
  const slots = slotsOf({ set: target.set, pods: target.pods, leaving, watched }, now);
  return slots.map((slot) => {
    const pod = begun.get(`${target.set.name}-${slot.ordinal}`);
    return pod === undefined ? slot : { kind: 'available', ordinal: slot.ordinal, pod };
  });
}

function awaiting(pass: Pass, slots: readonly Slot[], what: string): Outcome {
  const { name } = pass.target.set;
  const names = slots.slice(0, 3).map(({ ordinal }) => `${name}-${ordinal}`);
  const message = `${podsAre(slots.length)} ${what}: ${names.join(', ')}`;
  return held('AwaitingPods', message, settledAt(slots));
}

/** Returns the pods by zone, before anything is deleted; those without a known zone are in none (ZAU-27). */
function countsOf(old: readonly OldSlot[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { zone } of old) if (zone !== undefined) counts.set(zone, (counts.get(zone) ?? 0) + 1);
  return counts;
}

/** Plans the end, where every pod runs the update revision. */
function planEnd(pass: Pass): Outcome {
  const { snapshot, target, spec } = pass;
  const { set } = target;
  const { currentRevision, updateRevision } = set.status;
  const isPromoted = currentRevision === updateRevision || spec.isDryRun;
  const message = `Every pod of ${set.name} runs ${updateRevision}`;
  const status = refreshed(pass, {
    ...(!spec.isDryRun && { currentRevision: updateRevision }),
    updateStep: 0,
    deletedReplicas: 0,
    isPaused: false,
    oldReplicas: mergedCounts(snapshot.resource.status.oldReplicas, new Map()),
  });
  const because = { reason: 'SetUpdated', message } as const;
  const promotion = {
    kind: 'set-current-revision',
    set: setRef(set),
    from: currentRevision,
    to: updateRevision,
    because,
  } as const;
  return acts(isPromoted ? [] : [promotion], { reason: 'Updated', message }, () => status);
}

/**
 * Plans for old pods that are not ready: those that cannot become ready by themselves are replaced first, one zone after the other
 * (W-01, D-48), and no alarm is asked for that; anything else is waited for.
 */
function planUnready(pass: Pass, old: readonly OldSlot[], unready: readonly OldSlot[]): Outcome {
  const sights = unready.map((slot) => ({ slot, found: stucknessOf(pass, slot) }));
  const stuck = sights.flatMap(({ slot, found }) => (found.isStuck ? [slot] : []));
  if (stuck.length === 0) return awaitingZones(pass, unready, sights);
  const placed = stuck.filter((slot) => slot.zone !== undefined || hasNoNode(slot));
  if (placed.length === 0) return zoneUnknown(pass, stuck);
  const [zone] = placed.map((slot) => slot.zone).toSorted(byBytes);
  return planStep(pass, {
    zone: zone ?? 'none yet',
    pods: placed.filter((slot) => slot.zone === zone).map(podOf),
    counts: countsOf(old),
    areStuck: true,
  });
}

/** Waits for pods that may yet become ready; of more than one zone that is an alarm, as two have lost some. */
function awaitingZones(
  pass: Pass,
  unready: readonly OldSlot[],
  sights: readonly { readonly found: Sight }[],
): Outcome {
  const zones = [...new Set(unready.map(({ zone }) => zone))].toSorted(byBytes);
  const waiting = awaitingUnready(pass, unready, sights);
  if (zones.length < 2) return waiting;
  const names = zones.map((each) => each ?? 'an unknown one').join(', ');
  const message = `Pods of ${zones.length} zones are not available: ${names}`;
  return { ...held('ZonesNotReady', message), requeue: waiting.requeue };
}

interface Sight {
  readonly isStuck: boolean;
  readonly left: number | undefined;
}

function stucknessOf({ snapshot, now }: Pass, slot: OldSlot): Sight {
  if (slot.kind !== 'not-ready') return { isStuck: false, left: undefined };
  const { watched, stuckAfter } = snapshot;
  const found = stuckness(slot.pod, { now, watched, stuckAfter });
  const left = found.kind === 'not-stuck' ? found.left : undefined;
  return { isStuck: found.kind !== 'not-stuck', left };
}

function awaitingUnready(
  pass: Pass,
  unready: readonly OldSlot[],
  sights: readonly { readonly found: Sight }[],
): Outcome {
  const waiting = awaiting(pass, unready, 'not available');
  const lefts = sights.flatMap(({ found }) => found.left ?? []);
  if (lefts.length === 0) return waiting;
  return { ...waiting, requeue: { kind: 'at', at: after(pass.now, millis(Math.min(...lefts))) } };
}

/** Plans for pods that are all ready: the next step is that of the first zone that has old ones (ZAU-18). */
function planReady(pass: Pass, old: readonly OldSlot[]): Outcome {
  const { set } = pass.target;
  const { replicas, readyReplicas } = set.status;
  const isCounted = replicas === set.spec.replicas && readyReplicas === set.spec.replicas;
  if (!isCounted && pass.snapshot.begun.size === 0) {
    const message = `${set.name} counts ${readyReplicas} of ${set.spec.replicas} pods as ready`;
    return held('AwaitingPods', message);
  }
  const counts = countsOf(old);
  const [zone] = [...counts.keys()].toSorted(byBytes);
  if (zone === undefined) return zoneUnknown(pass, old);
  const pods = old.filter((slot) => slot.zone === zone).map(podOf);
  const candidates: Candidates = { zone, pods, counts, areStuck: false };
  return planGates(pass, candidates) ?? planStep(pass, candidates);
}

function zoneUnknown({ target }: Pass, slots: readonly OldSlot[]): Outcome {
  const names = slots.slice(0, 3).map(({ ordinal }) => `${target.set.name}-${ordinal}`);
  const message =
    `It is not known in which zone ${names.join(', ')} ${slots.length === 1 ? 'runs' : 'run'}: ` +
    'their nodes are gone, or have no label topology.kubernetes.io/zone';
  return held('ZoneUnknown', message);
}

/** Reports whether no node has taken a pod: it serves no client, in whichever zone the one before it ran. */
function hasNoNode({ pod }: OldSlot): boolean {
  return pod.nodeName === undefined;
}

function podOf({ pod }: OldSlot): PodView {
  return pod;
}

/** Compares texts as Go does: by their bytes in UTF-8. */
function byBytes(one: string | undefined, other: string | undefined): number {
  return Buffer.compare(Buffer.from(one ?? ''), Buffer.from(other ?? ''));
}
