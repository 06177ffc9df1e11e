import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { textAt } from '../../json/read-json.ts';
import { claimsOf, identityLabels, newPod } from './pod-identity.ts';
import type { PodSource, RevisionPlan } from './revisions.ts';
import { isAvailable, isCreated, isReady, isUnavailable } from './set-status.ts';
import { planUpdate } from './update-pass.ts';
import type { SetPod, SetSnapshot, SetView } from './views.ts';

/** One write of a pass. */
export type PodAction =
  | { readonly kind: 'create-pod'; readonly name: string; readonly body: JsonObject }
  | { readonly kind: 'create-claim'; readonly name: string; readonly body: JsonObject }
  | {
      readonly kind: 'label-pod';
      readonly name: string;
      readonly uid: string;
      readonly labels: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'delete-pod';
      readonly name: string;
      readonly why: 'failed' | 'scale-down' | 'update';
    };

/** Writes that may be under way together: each inner list is one pod's, in order. */
export type ActionGroup = readonly (readonly PodAction[])[];

/** A place in the set: the pod that is there, or the revision that a new one would get. */
export interface Slot {
  readonly ordinal: number;
  readonly pod: SetPod | undefined;
}

/** The pods of one pass, by what the pass does with them. */
export interface Roll {
  /** One for each wanted ordinal, ascending. */
  readonly slots: readonly Slot[];
  /** Pods outside the wanted ordinals, highest ordinal first. */
  readonly condemned: readonly SetPod[];
}

/** What a pass needs to know. */
export interface PassInput {
  readonly snapshot: SetSnapshot;
  readonly revisions: RevisionPlan;
  readonly roll: Roll;
  readonly now: Instant;
}

/** What a pass writes, and whether the ones after it run. */
export interface PassOutcome {
  readonly groups: readonly ActionGroup[];
  readonly isLast: boolean;
}

interface PlaceOutcome {
  readonly actions: readonly PodAction[];
  /** Whether an ordered pass ends at this place. */
  readonly ends: boolean;
}

const batchLimit = 500;
const none: readonly PodAction[] = Object.freeze([]);
const keep: PlaceOutcome = Object.freeze({ actions: none, ends: false });

/** Sorts the owned pods into the places of the set and those beyond it; names that do not parse are ignored (SS-3). */
export function layOut(set: SetView, pods: readonly SetPod[]): Roll {
  const present: SetPod[] = [];
  const condemned: SetPod[] = [];
  for (const pod of pods) {
    if (pod.setName !== set.name) continue;
    const index = pod.ordinal - set.ordinalsStart;
    if (index >= 0 && index < set.replicas) present[index] = pod;
    else condemned.push(pod);
  }
  const slots: Slot[] = [];
  for (let index = 0; index < set.replicas; index += 1) {
    slots.push({ ordinal: set.ordinalsStart + index, pod: present[index] });
  }
  condemned.sort((a, b) => b.ordinal - a.ordinal);
  return { slots, condemned };
}

/** Returns the revision that a new pod at `ordinal` is made from (SS-9). */
function sourceFor(set: SetView, revisions: RevisionPlan, ordinal: number): PodSource {
  if (set.strategy !== 'RollingUpdate') return revisions.update;
  const kept = set.rollingUpdate?.partition ?? set.status.currentReplicas;
  return ordinal < set.ordinalsStart + kept ? revisions.current : revisions.update;
}

function missingClaims(snapshot: SetSnapshot, podName: string): readonly PodAction[] {
  if (snapshot.set.claimTemplates.length === 0) return none;
  return claimsOf(snapshot.set, podName)
    .filter((claim) => !snapshot.hasClaim(textAt(claim, 'metadata', 'name')))
    .map((claim) => ({
      kind: 'create-claim',
      name: textAt(claim, 'metadata', 'name'),
      body: claim,
    }));
}

function createSlot({ snapshot, revisions }: PassInput, ordinal: number): readonly PodAction[] {
  const { set } = snapshot;
  const name = `${set.name}-${ordinal}`;
  const body = newPod(set, sourceFor(set, revisions, ordinal), ordinal);
  return [...missingClaims(snapshot, name), { kind: 'create-pod', name, body }];
}

/** Reports whether an ordered pass goes no further than this pod (SS-13). */
function blocks(pod: SetPod, { snapshot, now }: PassInput): boolean {
  return pod.isTerminating || !isReady(pod) || !isAvailable(pod, snapshot.set.minReady, now);
}

function fixPod(pod: SetPod, snapshot: SetSnapshot): readonly PodAction[] {
  const claims = pod.isTerminating ? none : missingClaims(snapshot, pod.name);
  if (pod.hasIdentity) return claims;
  const labels = identityLabels(pod);
  return [...claims, { kind: 'label-pod', name: pod.name, uid: pod.uid, labels }];
}

/** Returns what pass 1 does at one place, and whether an ordered pass ends there (SS-13). */
function replaceOrKeep(input: PassInput, slot: Slot): PlaceOutcome {
  const { pod, ordinal } = slot;
  const { snapshot } = input;
  if (pod === undefined) return { actions: createSlot(input, ordinal), ends: true };
  if (pod.phase === 'Failed' || pod.phase === 'Succeeded') {
    const failed: PodAction = { kind: 'delete-pod', name: pod.name, why: 'failed' };
    return { actions: pod.isTerminating ? [] : [failed], ends: true };
  }
  if (snapshot.set.isOrdered && blocks(pod, input)) {
    const isPending = pod.phase === 'Pending' || !isCreated(pod);
    return { actions: isPending ? missingClaims(snapshot, pod.name) : [], ends: true };
  }
  const actions = fixPod(pod, snapshot);
  return actions.length === 0 ? keep : { actions, ends: false };
}

/** Returns `slots` cut into batches of 1, 2, 4 … 500 (SS-13). */
function* slowStart(slots: readonly Slot[]): Generator<readonly Slot[]> {
  let size = 1;
  for (let start = 0; start < slots.length; ) {
    yield slots.slice(start, start + size);
    start += size;
    size = Math.min(size * 2, batchLimit);
  }
}

/** Plans pass 1: every place, ascending (SS-13). Ordered: one place after another; Parallel: batches of 1, 2, 4 … 500. */
export function planPlaces(input: PassInput): PassOutcome {
  const { slots } = input.roll;
  const groups: ActionGroup[] = [];
  if (input.snapshot.set.isOrdered) {
    for (const slot of slots) {
      const { actions, ends } = replaceOrKeep(input, slot);
      if (actions.length > 0) groups.push([actions]);
      if (ends) return { groups, isLast: true };
    }
    return { groups, isLast: false };
  }
  for (const batch of slowStart(slots)) {
    const actions = batch
      .map((slot) => replaceOrKeep(input, slot).actions)
      .filter((ofPod) => ofPod.length > 0);
    if (actions.length > 0) groups.push(actions);
  }
  return { groups, isLast: false };
}

/** Returns the first unavailable pod of the whole set: places ascending, then the condemned, ascending (SS-14). */
function firstUnavailable({ snapshot, roll, now }: PassInput): SetPod | undefined {
  const { minReady } = snapshot.set;
  const isOut = (pod: SetPod): boolean => isUnavailable(pod, minReady, now);
  const slot = roll.slots.find(({ pod }) => pod === undefined || isOut(pod));
  return slot === undefined ? roll.condemned.findLast((pod) => isOut(pod)) : slot.pod;
}

/** Plans pass 2: pods beyond the wanted ordinals, highest first (SS-14). Ordered: one, when the rest is healthy. */
export function planCondemned(input: PassInput): PassOutcome {
  const { condemned } = input.roll;
  const remove = (pod: SetPod): readonly PodAction[] => [
    { kind: 'delete-pod', name: pod.name, why: 'scale-down' },
  ];
  if (!input.snapshot.set.isOrdered) {
    const all = condemned.filter((pod) => !pod.isTerminating).map((pod) => remove(pod));
    return { groups: all.length === 0 ? [] : [all], isLast: false };
  }
  const highest = condemned[0];
  if (highest === undefined) return { groups: [], isLast: false };
  const isFirstUnavailable = highest === firstUnavailable(input);
  if (highest.isTerminating || (blocks(highest, input) && !isFirstUnavailable)) {
    return { groups: [], isLast: true };
  }
  return { groups: [[remove(highest)]], isLast: true };
}

/** Plans pass 3: old revisions from the highest ordinal down (SS-15…SS-17). */
export function planOutdated(input: PassInput): PassOutcome {
  const { set } = input.snapshot;
  if (set.strategy === 'OnDelete') return { groups: [], isLast: true };
  const revisionAt = ({ pod, ordinal }: Slot): string =>
    pod === undefined ? sourceFor(set, input.revisions, ordinal).name : pod.revision;
  const names = planUpdate(input, revisionAt).map((slot) => `${set.name}-${slot.ordinal}`);
  const deletes = names.map((name): ActionGroup => [[{ kind: 'delete-pod', name, why: 'update' }]]);
  return { groups: deletes, isLast: true };
}
