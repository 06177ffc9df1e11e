import type { Clock } from '#base/clock.ts';
import { getOrAdd } from '#base/get-or-add.ts';
import type { Client, ListQuery } from '#kubernetes/client.ts';
import type { Freshness } from '#kubernetes/informer/freshness.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { compareRevisions } from '#kubernetes/revision.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import {
  byName,
  type GroupListers,
  isInScope,
  readSets,
  type SetScope,
  type SetSnapshot,
  selectorOf,
} from '../watch/group-sets.ts';
import { type Newer, type SetProof, type TypeBasis, typeBasis } from './basis.ts';
import { consistentList, type SentList } from './consistent-list.ts';
import { type Known, nothingNewer, overlaid, type Read } from './overlaid-read.ts';

/** What consistent reads go through. */
export interface ConsistentReadPorts {
  readonly client: Client;
  readonly clock: Clock;
  /** Freshness of the caches; they learn of each read, and are proven by it once they have caught up. */
  readonly pods: Freshness;
  readonly statefulSets: Freshness;
  /** How the cache of pods reads them. @default without what only some need */
  readonly parsePod?: (object: KubernetesObject) => PodView;
}

interface ScopeReads {
  sets: Read<StatefulSetView> | undefined;
  /** Keyed by the uid of the set. */
  readonly pods: Map<string, Read<PodView>>;
}

/** Which types of a scope are to be read. */
export interface ReadWish {
  readonly pods: boolean;
  readonly statefulSets: boolean;
}

/** The sets of a scope, and by what the view of them is proven. */
export interface ReadSets {
  readonly sets: readonly SetSnapshot[];
  readonly proof: SetProof;
}

/**
 * Consistent reads of sets and their pods that are newer than the caches (D-4): a read that the caches do not show yet
 * stands in for them, with whatever is newer in them over it, until they have reached it. So a decision never waits for a
 * cache that lags, and never falls back behind one that is ahead.
 */
export class ConsistentReads {
  readonly #ports: ConsistentReadPorts;
  readonly #byScope = new Map<string, ScopeReads>();

  constructor(ports: ConsistentReadPorts) {
    this.#ports = ports;
  }

  /**
   * Reads `scope`: its sets by their labels, each set's pods by its own selector, all without resourceVersion.
   *
   * @throws what a list throws; RevisionWentBackError when an answer is older than what had been seen (D-6), and
   * LaggingReadError when it is older than what we had written
   */
  async read(
    scope: SetScope,
    { wish, cached }: { readonly wish: ReadWish; readonly cached: readonly StatefulSetView[] },
    signal: AbortSignal,
  ): Promise<void> {
    const sets = wish.statefulSets ? await this.#readSets(scope, signal) : cached;
    if (!wish.pods) return;
    await Promise.all(sets.map((set) => this.#readPods(scope, set, signal)));
  }

  /** Returns what is known of `scope`, of which `listers` are the caches. Forgets the reads that they have reached. */
  over(scope: SetScope, listers: GroupListers): ReadSets {
    const cached = readSets(scope, listers);
    const key = keyOf(scope);
    const reads = this.#byScope.get(key);
    if (reads !== undefined) this.#forgetReached(key, reads);
    if (!this.#byScope.has(key) || reads === undefined) return this.#ofCaches(cached);
    const known = setsOver(reads.sets, { cached, lister: listers.statefulSets });
    // One that a cache shows newer may have other labels since.
    const sets = known.views.filter((set) => isInScope(scope, set)).toSorted(byName);
    const parts = sets.map((set) => withPods(set, { cached, reads, lister: listers.pods }));
    const newer = {
      sets: known.newer,
      pods: Object.fromEntries(parts.flatMap(({ newer: ofSet }) => Object.entries(ofSet))),
    };
    return {
      sets: parts.map(({ snapshot }) => snapshot),
      proof: this.#proofOf(sets, reads, newer),
    };
  }

  /** Forgets `scope`: its sets are gone, or nothing looks at them any more. */
  forget(scope: SetScope): void {
    this.#byScope.delete(keyOf(scope));
  }

  #ofCaches(sets: readonly SetSnapshot[]): ReadSets {
    const { pods, statefulSets } = this.#ports;
    return { sets, proof: { pods: typeBasis(pods), statefulSets: typeBasis(statefulSets) } };
  }

  #forgetReached(key: string, reads: ScopeReads): void {
    const { pods, statefulSets } = this.#ports;
    if (reads.sets !== undefined && isReached(reads.sets.revision, statefulSets)) {
      reads.sets = undefined;
    }
    for (const [uid, { revision }] of reads.pods) {
      if (isReached(revision, pods)) reads.pods.delete(uid);
    }
    if (reads.sets === undefined && reads.pods.size === 0) this.#byScope.delete(key);
  }

  #proofOf(
    sets: readonly StatefulSetView[],
    reads: ScopeReads,
    newer: { readonly sets: Newer; readonly pods: Newer },
  ): SetProof {
    const statefulSets =
      reads.sets === undefined ? typeBasis(this.#ports.statefulSets) : readBasis(reads.sets);
    const pods = podBasis(sets, reads.pods, typeBasis(this.#ports.pods));
    return {
      statefulSets: withNewer(statefulSets, newer.sets),
      pods: withNewer(pods, newer.pods),
    };
  }

  async #readSets(scope: SetScope, signal: AbortSignal): Promise<readonly StatefulSetView[]> {
    const { namespace, name } = scope;
    const query = {
      namespace,
      labelSelector: selectorOf(scope),
      ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
    };
    const { result, sentAt } = await this.#list('statefulSets', query, signal);
    const read = readOf({ result, sentAt }, parseStatefulSet);
    this.#of(scope).sets = read;
    return [...read.objects.values()];
  }

  async #readPods(scope: SetScope, set: StatefulSetView, signal: AbortSignal): Promise<void> {
    const query = { namespace: set.namespace, labelSelector: set.spec.selector };
    const sent = await this.#list('pods', query, signal);
    this.#of(scope).pods.set(set.uid, readOf(sent, this.#ports.parsePod ?? parsePod));
  }

  #list(of: 'pods' | 'statefulSets', query: ListQuery, signal: AbortSignal): Promise<SentList> {
    const { clock, client, [of]: freshness } = this.#ports;
    return consistentList({ clock, client, freshness, type: resourceTypes[of] }, query, signal);
  }

  #of(scope: SetScope): ScopeReads {
    return getOrAdd(this.#byScope, keyOf(scope), () => ({ sets: undefined, pods: new Map() }));
  }
}

function keyOf(scope: SetScope): string {
  return `${scope.namespace}/${scope.name ?? ''}/${selectorOf(scope)}`;
}

/**
 * Reports whether a cache is no older than what was read at `revision`: it has shown as much since it was last listed, or
 * more before. In the latter case nothing is proven until it is read again, but what the cache knew is not forgotten.
 */
function isReached(revision: string, cache: Freshness): boolean {
  if (cache.hasSeen(revision)) return true;
  return cache.highest !== undefined && compareRevisions(cache.highest, revision) > 0;
}

function readOf<View extends { readonly uid: string }>(
  { result, sentAt }: SentList,
  parse: (object: KubernetesObject) => View,
): Read<View> {
  const objects = new Map(result.items.map(parse).map((view) => [view.uid, view]));
  return { revision: result.resourceVersion, sentAt, objects };
}

function setsOver(
  read: Read<StatefulSetView> | undefined,
  {
    cached,
    lister,
  }: { readonly cached: readonly SetSnapshot[]; readonly lister: GroupListers['statefulSets'] },
): Known<StatefulSetView> {
  const shown = cached.map(({ set }) => set);
  if (read === undefined) return { views: shown, newer: nothingNewer };
  return overlaid(read, { cached: shown, lister });
}

function withPods(
  set: StatefulSetView,
  {
    cached,
    reads,
    lister,
  }: {
    readonly cached: readonly SetSnapshot[];
    readonly reads: ScopeReads;
    readonly lister: GroupListers['pods'];
  },
): { readonly snapshot: SetSnapshot; readonly newer: Newer } {
  const shown = cached.find((each) => each.set.uid === set.uid);
  const read = reads.pods.get(set.uid);
  if (read === undefined) {
    const { pods = [], orphans = [] } = shown ?? {};
    return { snapshot: { set, pods, orphans }, newer: nothingNewer };
  }
  if (shown !== undefined && isShown(read, shown)) {
    return { snapshot: { ...shown, set }, newer: nothingNewer };
  }
  const { views, newer } = overlaid(read, { cached: shown?.pods ?? [], lister });
  const orphans = views.filter(({ controllerUid }) => controllerUid === undefined);
  const pods = views.filter(({ controllerUid }) => controllerUid === set.uid);
  return { snapshot: { set, pods, orphans: orphans.map(({ name }) => name) }, newer };
}

/** Reports whether the cache holds just what was read, so that its own lists may stand for it. */
function isShown({ objects }: Read<PodView>, { pods, orphans }: SetSnapshot): boolean {
  if (objects.size !== pods.length || orphans.length > 0) return false;
  return pods.every((pod) => objects.get(pod.uid)?.resourceVersion === pod.resourceVersion);
}

function readBasis({ revision, sentAt }: Read<unknown>): TypeBasis {
  return { view: revision, proof: revision, provenAt: sentAt };
}

function withNewer(basis: TypeBasis | undefined, newer: Newer): TypeBasis | undefined {
  return basis === undefined || Object.keys(newer).length === 0 ? basis : { ...basis, newer };
}

/** Returns a basis as old as its oldest part; each set's pods are shown as of its own list, or as of the cache. */
function podBasis(
  sets: readonly StatefulSetView[],
  reads: ReadonlyMap<string, Read<PodView>>,
  cache: TypeBasis | undefined,
): TypeBasis | undefined {
  if (reads.size === 0) return cache;
  let oldest: TypeBasis | undefined;
  const view: Record<string, string> = {};
  for (const { uid, name } of sets) {
    const read = reads.get(uid);
    const part = read === undefined ? cache : readBasis(read);
    if (part === undefined || typeof part.view !== 'string') return undefined;
    view[name] = part.view;
    if (oldest === undefined || part.provenAt < oldest.provenAt) oldest = part;
  }
  return oldest === undefined ? cache : { ...oldest, view };
}
