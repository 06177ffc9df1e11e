import type { Clock } from '#base/clock.ts';
import { type Millis, type Monotonic, millis, monotonic, seconds } from '#base/units.ts';
import { maxDecisionAge, ViewNotReadError } from '#control/consistent-read/basis.ts';
import { NamespaceReads } from '#control/consistent-read/namespace-reads.ts';
import { overlaid } from '#control/consistent-read/overlaid-read.ts';
import { indexes } from '#control/watch/group-sets.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Cached, Informer } from '#kubernetes/informer/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { NamespaceView } from '../snapshot.ts';

type Cache<View extends Cached> = Pick<
  Informer<View>,
  'hasSynced' | 'isAbsent' | 'absence' | 'lister' | 'freshness' | 'look' | 'onChange'
>;

/** What {@link NamespaceViews} go through. */
export interface NamespaceViewPorts {
  readonly client: Client;
  readonly clock: Clock;
  /** With {@link zonePodIndexers}, and the names of nodes. */
  readonly pods: Cache<PodView>;
  readonly statefulSets: Cache<StatefulSetView>;
}

/** All pods and sets of a namespace at one instant. */
export interface ProvenNamespace {
  /** The same object while nothing has changed. */
  readonly view: NamespaceView;
  /** When the request was sent that proves the older part; undefined while one is not proven. */
  readonly provenAt: Monotonic | undefined;
}

/** The indexer that the cache of pods needs in addition to others. */
export const zonePodIndexers = Object.freeze({
  [indexes.namespace]: ({ namespace }: PodView): readonly string[] => [namespace],
});

/** What a proof may be old at the most for a read not to be worth while. */
const freshEnough: Millis = millis(maxDecisionAge / 2);

/** Longest time that a view is waited for. */
const patience: Millis = seconds(5);

const never = monotonic(Number.NEGATIVE_INFINITY);

interface Kept {
  readonly changes: number;
  readonly view: NamespaceView;
}

/**
 * The pods and sets of namespaces as they are at this instant (D-49): the caches, and where a consistent read is newer,
 * that. All pods and not only those of sets, as a budget may select any.
 */
export class NamespaceViews {
  readonly #ports: NamespaceViewPorts;
  readonly #pods: NamespaceReads<PodView>;
  readonly #sets: NamespaceReads<StatefulSetView>;
  readonly #kept = new Map<string, Kept>();
  #changes = 0;

  constructor(ports: NamespaceViewPorts) {
    const { client, clock, pods, statefulSets } = ports;
    this.#ports = ports;
    this.#pods = new NamespaceReads({
      client,
      clock,
      informer: pods,
      type: resourceTypes.pods,
      project: parsePod,
    });
    this.#sets = new NamespaceReads({
      client,
      clock,
      informer: statefulSets,
      type: resourceTypes.statefulSets,
      project: parseStatefulSet,
    });
    const changed = (): void => {
      this.#changes += 1;
    };
    pods.onChange(changed);
    statefulSets.onChange(changed);
  }

  /** Returns what is known of `namespace` now; nothing is awaited or asked for. */
  of(namespace: string): ProvenNamespace {
    this.#changes += this.#pods.settle().size + this.#sets.settle().size;
    const [pods, sets] = [this.#pods.provenAt(namespace), this.#sets.provenAt(namespace)];
    const isProven = pods !== undefined && sets !== undefined;
    const provenAt = isProven ? monotonic(Math.min(pods, sets)) : undefined;
    return { view: this.#viewOf(namespace), provenAt };
  }

  /**
   * Reads what of `namespace` is not proven by a request of the last 5 s, in 5 s at most. All share a read who ask before it is
   * sent.
   *
   * @param since the proof must be younger than this, too
   * @throws what a list throws, with it RevisionWentBackError (D-6); ViewNotReadError when the time is over; the reason of
   * `signal` when that aborts first
   */
  async prove(namespace: string, signal: AbortSignal, since: Monotonic = never): Promise<void> {
    const { clock } = this.#ports;
    const youngest = Math.max(since, clock.monotonic() - freshEnough);
    const old = [this.#pods, this.#sets].filter(
      (reads) => (reads.provenAt(namespace) ?? never) < youngest,
    );
    const late = new AbortController();
    const owner = 'read of pods under a zone budget';
    const view = `the pods and StatefulSets of namespace "${namespace}" are`;
    const end = (): void => late.abort(new ViewNotReadError(view, patience));
    const timer = clock.timer(patience, end, { owner });
    const within = AbortSignal.any([signal, late.signal]);
    try {
      await Promise.all(old.map((reads) => reads.look(namespace, within)));
    } finally {
      timer.cancel();
    }
  }

  #viewOf(namespace: string): NamespaceView {
    const kept = this.#kept.get(namespace);
    if (kept?.changes === this.#changes) return kept.view;
    const { pods, statefulSets } = this.#ports;
    const view = {
      pods: shown(namespace, pods, this.#pods),
      sets: shown(namespace, statefulSets, this.#sets),
    };
    this.#kept.set(namespace, { changes: this.#changes, view });
    return view;
  }
}

function shown<View extends Cached>(
  namespace: string,
  { lister }: Pick<Cache<View>, 'lister'>,
  reads: NamespaceReads<View>,
): readonly View[] {
  const cached = lister.by(indexes.namespace, namespace);
  const read = reads.unshown(namespace);
  return read === undefined ? cached : overlaid(read, { cached, lister }).views;
}
