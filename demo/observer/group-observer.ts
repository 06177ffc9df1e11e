import type { JsonObject } from '#base/json.ts';
import type { Millis } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { numberAt, objectAt, textAt } from '#cluster/json/read-json.ts';
import { imageOf, isReady, isTerminating, revisionOf, troubleOf } from '../cluster/pod-state.ts';
import { DisruptionProof } from './disruption-proof.ts';
import { type Fact, type FactDetail, operatorUser } from './facts.ts';
import { isComplete, isSettled, type ZoneView, zoneView } from './zone-view.ts';

/** Which objects make up the group, and who is notified. */
export interface GroupObserverOptions {
  readonly namespace: string;
  /** Names of the StatefulSets. */
  readonly sets: readonly string[];
  readonly onFact: (fact: Fact) => void;
}

/**
 * The group as the API server stores it, commit by commit: independent of what the operator believes. Facts begin when
 * every zone was complete for the first time; before, only the completion of a zone is one.
 */
export class GroupObserver {
  readonly proof = new DisruptionProof();
  readonly #options: GroupObserverOptions;
  readonly #sets = new Map<string, JsonObject>();
  readonly #pods = new Map<string, JsonObject>();
  readonly #zones = new Map<string, ZoneView>();
  /** Names of sets whose first completion was shown. */
  readonly #wasInstalled = new Set<string>();
  /** uids of pods whose trouble was shown: its reason flips between two words. */
  readonly #troubled = new Set<string>();

  constructor(options: GroupObserverOptions) {
    this.#options = options;
  }

  /** Returns the zones, by the names of their sets; those whose sets are not stored yet are left out. */
  get zones(): readonly ZoneView[] {
    return this.#options.sets.flatMap((name) => this.#zones.get(name) ?? []);
  }

  /** Returns how many pods of the group are stored, those of no place included. */
  get podCount(): number {
    return this.#pods.size;
  }

  /** Reports whether all sets are stored and meet `test`. */
  areAll(test: (zone: ZoneView) => boolean): boolean {
    return this.#zones.size === this.#options.sets.length && this.zones.every((zone) => test(zone));
  }

  /** Takes in one commit, `at` since the demo began. */
  observe(commit: Commit, at: Millis): void {
    if (commit.namespace !== this.#options.namespace) return;
    const name = this.#setOf(commit);
    if (name === undefined) return;
    const objects = commit.resource === 'pods' ? this.#pods : this.#sets;
    if (commit.after === undefined) objects.delete(commit.name);
    else objects.set(commit.name, commit.after);
    const before = this.#zones.get(name);
    const zone = this.#refresh(name);
    if (zone === undefined) return;
    // What completes the installation is part of it.
    const details = this.proof.hasBegun ? this.#details(commit, before, zone) : [];
    this.proof.observe(this.zones, this.areAll(isComplete));
    this.#tell(zone, [...details, ...this.#installation(zone)], at);
  }

  /** Returns the name of the set that `commit` is about; undefined when it is none of the group. */
  #setOf({ resource, name }: Commit): string | undefined {
    const set = resource === 'pods' ? name.slice(0, name.lastIndexOf('-')) : name;
    const isWatched = resource === 'pods' || resource === 'statefulsets.apps';
    return isWatched && this.#options.sets.includes(set) ? set : undefined;
  }

  #refresh(name: string): ZoneView | undefined {
    const set = this.#sets.get(name);
    if (set === undefined) {
      this.#zones.delete(name);
      return undefined;
    }
    const zone = zoneView(set, (pod) => this.#pods.get(pod));
    this.#zones.set(name, zone);
    return zone;
  }

  #tell({ zone }: ZoneView, details: readonly FactDetail[], at: Millis): void {
    for (const detail of details) this.#options.onFact({ at, zone, ...detail });
  }

  #installation(zone: ZoneView): readonly FactDetail[] {
    if (this.#wasInstalled.has(zone.set) || !isComplete(zone)) return [];
    this.#wasInstalled.add(zone.set);
    return [{ kind: 'installed', pods: zone.cells.length }];
  }

  #details(commit: Commit, before: ZoneView | undefined, zone: ZoneView): FactDetail[] {
    return commit.resource === 'pods' ? this.#podDetails(commit) : setDetails(commit, before, zone);
  }

  #podDetails(commit: Commit): FactDetail[] {
    const { before, after, name: pod, user: by } = commit;
    if (after !== undefined && before === undefined) {
      this.proof.created(pod, imageOf(after));
      return [];
    }
    if (before === undefined || isTerminating(before)) return [];
    if (after === undefined || isTerminating(after)) {
      if (by === operatorUser) this.proof.deleted();
      return [{ kind: 'deleted', pod, by, because: undefined }];
    }
    return isReady(after) === isReady(before)
      ? this.#troubleDetails(commit, after)
      : [readinessDetail(pod, after)];
  }

  #troubleDetails({ name: pod, uid }: Commit, after: JsonObject): FactDetail[] {
    const trouble = troubleOf(after);
    if (trouble === '' || this.#troubled.has(uid)) return [];
    this.#troubled.add(uid);
    return [{ kind: 'broken', pod, trouble, image: imageOf(after) }];
  }
}

function readinessDetail(pod: string, after: JsonObject): FactDetail {
  return isReady(after)
    ? { kind: 'ready', pod, revision: revisionOf(after) }
    : { kind: 'unready', pod };
}

function setDetails(commit: Commit, before: ZoneView | undefined, zone: ZoneView): FactDetail[] {
  if (before === undefined || commit.after === undefined) return [];
  const details: FactDetail[] = [];
  const from = numberAt(commit.before, 'spec', 'replicas') ?? 1;
  const to = numberAt(commit.after, 'spec', 'replicas') ?? 1;
  if (from !== to) {
    const { name: set, user: by } = commit;
    details.push({ kind: 'scaled', set, from, to, by, because: undefined });
  }
  if (zone.target !== before.target) {
    const image = imageOf(objectAt(commit.after, 'spec', 'template'));
    details.push({ kind: 'wanted', revision: zone.target, image });
  }
  const wasCurrent = textAt(commit.before, 'status', 'currentRevision');
  if (zone.current !== wasCurrent && isSettled(zone)) {
    details.push({ kind: 'updated', pods: zone.cells.length, revision: zone.current });
  }
  return details;
}
