import type { JsonObject } from '#base/json.ts';
import { after, type Instant, instant, millis, minutes } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import {
  hasSlot,
  isAvailable,
  isReady,
  ordinalIn,
  type PodFacts,
  podFacts,
  type SetFacts,
  setFacts,
  slotCount,
} from './facts.ts';
import { Track, type Version } from './track.ts';

/** How long ago a slot may have been available and still be one that we take away (D-57). */
const recently = minutes(1);

/**
 * An instant of the history as an observer could see it: the revision up to which each set's pods, and each set,
 * are known, and the time against which readiness is measured.
 */
export interface View {
  /** Revision at which `pod` is seen, a pod of the set called `set`. */
  readonly pods: (set: string, pod: string) => number;
  /** Revision at which the set called `set` is seen. */
  readonly sets: (set: string) => number;
  readonly now: Instant;
}

/** Returns the view of everything up to `revision`, at `now`. */
export function viewAt(revision: number, now: Instant): View {
  const at = (): number => revision;
  return { pods: at, sets: at, now };
}

/** Returns the view of everything committed so far, at `now`. */
export function latestView(now: Instant): View {
  return viewAt(Number.POSITIVE_INFINITY, now);
}

/**
 * What was true of StatefulSets and their pods after each commit (`S(i)` of docs/rules/words.md). Every version stays, by
 * reference to facts read once, so that a decision can be judged on the state that it had seen.
 */
export class History {
  readonly #pods = new Map<string, Track<PodFacts>>();
  /** The same tracks by `namespace/set` and ordinal, for those pods whose name could be a slot's. */
  readonly #slots = new Map<string, Map<number, Track<PodFacts>>>();
  readonly #sets = new Map<string, Track<SetFacts>>();
  readonly #setKeyByUid = new Map<string, string>();
  readonly #podCommits = new Track<true>();
  readonly #setCommits = new Track<true>();
  #lastRevision = 0;

  /** Takes in the next commit. @throws {Error} when its revision is not greater than the one before */
  apply(commit: Commit): void {
    if (commit.revision <= this.#lastRevision) {
      throw new Error(
        `Cannot apply the commit of revision ${commit.revision} as revision ${this.#lastRevision} came before it`,
      );
    }
    this.#lastRevision = commit.revision;
    if (commit.resource === 'pods') {
      this.#podCommits.push(commit, true);
      const isNew = !this.#pods.has(`${commit.namespace}/${commit.name}`);
      const track = record(this.#pods, commit, podFacts);
      if (isNew) this.#index(commit, track);
    } else if (commit.resource === 'statefulsets.apps') {
      this.#setCommits.push(commit, true);
      record(this.#sets, commit, setFacts);
      this.#setKeyByUid.set(commit.uid, `${commit.namespace}/${commit.name}`);
    }
  }

  /** Returns the time of the first pod commit after `revision`; undefined while there is none. */
  nextPodCommit(revision: number): Instant | undefined {
    return this.#podCommits.timeAfter(revision);
  }

  /** Returns the time of the first StatefulSet commit after `revision`; undefined while there is none. */
  nextSetCommit(revision: number): Instant | undefined {
    return this.#setCommits.timeAfter(revision);
  }

  /** Returns the revision of the last pod or StatefulSet commit up to `at`; 0 when there is none. */
  revisionAt(at: Instant): number {
    return Math.max(this.#podCommits.revisionAt(at), this.#setCommits.revisionAt(at));
  }

  /** Reports whether a pod or StatefulSet commit with a revision up to `revision` happened only after `at`. */
  isBeyond(revision: number, at: Instant): boolean {
    return this.#podCommits.hasLater(revision, at) || this.#setCommits.hasLater(revision, at);
  }

  /** Returns the pod `namespace/name` at `revision`. */
  pod(namespace: string, name: string, revision: number): PodFacts | undefined {
    return this.#pods.get(`${namespace}/${name}`)?.at(revision);
  }

  /** Reports whether the pod or set `namespace/name` was stored at `revision`, not only before it. */
  wasStoredAt(type: 'pod' | 'set', key: string, revision: number): boolean {
    const track = type === 'pod' ? this.#pods.get(key) : this.#sets.get(key);
    return track?.revisionOf(revision) === revision;
  }

  /** Returns the set `namespace/name` as `view` shows it. */
  set(namespace: string, name: string, view: View): SetFacts | undefined {
    return this.#sets.get(`${namespace}/${name}`)?.at(view.sets(name));
  }

  /** Returns the set with `uid` as `view` shows it; undefined when it is not there, or another has its name. */
  setByUid(uid: string, view: View): SetFacts | undefined {
    const key = this.#setKeyByUid.get(uid);
    if (key === undefined) return undefined;
    const found = this.#sets.get(key)?.at(view.sets(key.slice(key.indexOf('/') + 1)));
    return found?.uid === uid ? found : undefined;
  }

  /** Returns all sets of a group as `view` shows them, in order of first appearance. */
  members(domain: Domain, view: View): readonly SetFacts[] {
    const found: SetFacts[] = [];
    for (const [key, track] of this.#sets) {
      const set = track.at(view.sets(key.slice(key.indexOf('/') + 1)));
      if (set !== undefined && domainOf(set) === domain) found.push(set);
    }
    return found;
  }

  /** Returns all sets of a namespace as `view` shows them, in order of first appearance. */
  setsIn(namespace: string, view: View): readonly SetFacts[] {
    const found: SetFacts[] = [];
    for (const [key, track] of this.#sets) {
      if (!key.startsWith(`${namespace}/`)) continue;
      const set = track.at(view.sets(key.slice(key.indexOf('/') + 1)));
      if (set !== undefined) found.push(set);
    }
    return found;
  }

  /** Returns all groups that have a set now; sets without a group are left out. */
  groups(): ReadonlySet<Domain> {
    const found = new Set<Domain>();
    for (const track of this.#sets.values()) {
      const set = track.at(Number.POSITIVE_INFINITY);
      if (set?.group !== undefined) found.add(domainOf(set));
    }
    return found;
  }

  /** Returns the pod that fills, or fails to fill, slot `ordinal` of `set`. */
  slotPod(set: SetFacts, ordinal: number, view: View): PodFacts | undefined {
    const slots = this.#slots.get(`${set.namespace}/${set.name}`);
    return slots?.get(ordinal)?.at(view.pods(set.name, `${set.name}-${ordinal}`));
  }

  /** Reports whether slot `ordinal` of `set` has an available pod. */
  isSlotAvailable(set: SetFacts, ordinal: number, view: View): boolean {
    const pod = this.slotPod(set, ordinal, view);
    return pod !== undefined && isAvailable(pod, set, view.now);
  }

  /** Returns the versions of the pod `namespace/name` up to `revision` that had not ended by `since`, newest first. */
  podVersions(
    { namespace, name }: { readonly namespace: string; readonly name: string },
    { revision, since }: { readonly revision: number; readonly since: Instant },
  ): Iterable<Version<PodFacts>> {
    return this.#pods.get(`${namespace}/${name}`)?.back(revision, since) ?? [];
  }

  /**
   * Reports whether slot `ordinal` of `set` had an available pod at any time of the minute before `at` (D-57): a pod that is
   * not ready just now is not free to delete. One that is Ready without saying since when counts as available here.
   */
  wasSlotAvailable(set: SetFacts, ordinal: number, at: Instant): boolean {
    const since = after(at, millis(0 - recently));
    const pod = { namespace: set.namespace, name: `${set.name}-${ordinal}` };
    for (const { value, until } of this.podVersions(pod, { revision: Infinity, since })) {
      if (value === undefined || !isReady(value, set)) continue;
      const end = until === undefined || until > at ? at : until;
      if (value.readySince === undefined || isAvailable(value, set, end)) return true;
    }
    return false;
  }

  /** Returns the available versions of the pod `namespace/name` from `since` until just before `end`, newest first. */
  *availableVersions(
    set: SetFacts,
    name: string,
    { since, until: end }: { readonly since: Instant; readonly until: Commit },
  ): Generator<PodFacts> {
    const pod = { namespace: set.namespace, name };
    for (const { value, until } of this.podVersions(pod, { revision: end.revision - 1, since })) {
      const last = until === undefined || until > end.at ? end.at : until;
      if (value !== undefined && isAvailable(value, set, last)) yield value;
    }
  }

  /** Reports whether slot `ordinal` of `set` had no available pod at any time from `since` until just before `until`. */
  wasSlotDown(
    set: SetFacts,
    ordinal: number,
    span: { readonly since: Instant; readonly until: Commit },
  ): boolean {
    const [available] = this.availableVersions(set, `${set.name}-${ordinal}`, span);
    return available === undefined;
  }

  /** Returns since when `pod`, as it is at `revision`, has been ready without a break; undefined where it is not. */
  readySince(pod: PodFacts, revision: number): Instant | undefined {
    let since: Instant | undefined;
    for (const { value, from } of this.podVersions(pod, { revision, since: instant(0) })) {
      if (value?.uid !== pod.uid || value.ready !== 'True') break;
      since = from;
    }
    return since;
  }

  /** Returns the ordinals of the slots of `set` without an available pod: missing and unknown count. */
  unavailableSlots(set: SetFacts, view: View): readonly number[] {
    const found: number[] = [];
    const slots = this.#slots.get(`${set.namespace}/${set.name}`);
    const end = set.ordinalsStart + slotCount(set);
    for (let ordinal = set.ordinalsStart; ordinal < end; ordinal += 1) {
      const pod = slots?.get(ordinal)?.at(view.pods(set.name, `${set.name}-${ordinal}`));
      if (pod === undefined || !isAvailable(pod, set, view.now)) found.push(ordinal);
    }
    return found;
  }

  /** Reports whether slot `ordinal` is gone: its set is deleted or replaced, or has fewer slots. */
  isSlotGone(setUid: string, ordinal: number, view: View): boolean {
    const set = this.setByUid(setUid, view);
    return set === undefined || !hasSlot(set, ordinal);
  }

  #index(commit: Commit, track: Track<PodFacts>): void {
    const setName = commit.name.slice(0, Math.max(0, commit.name.lastIndexOf('-')));
    const ordinal = ordinalIn(commit.name, setName);
    if (ordinal === undefined) return;
    const key = `${commit.namespace}/${setName}`;
    const slots = this.#slots.get(key) ?? new Map<number, Track<PodFacts>>();
    slots.set(ordinal, track);
    this.#slots.set(key, slots);
  }
}

/** Names what excludes each other: the zones of one group, or one set that is in no group. */
export type Domain = string;

/** Returns the domain of `set`. */
export function domainOf(set: SetFacts): Domain {
  return set.group === undefined
    ? `set ${set.namespace}/${set.name}`
    : `group ${set.namespace}/${set.group}`;
}

function record<Facts>(
  tracks: Map<string, Track<Facts>>,
  commit: Commit,
  read: (object: JsonObject) => Facts,
): Track<Facts> {
  const key = `${commit.namespace}/${commit.name}`;
  let track = tracks.get(key);
  if (track === undefined) {
    track = new Track();
    tracks.set(key, track);
  }
  const isStored = commit.verb !== 'delete' && commit.after !== undefined;
  track.push(commit, isStored ? read(commit.after) : undefined);
  return track;
}
