import type { Clock } from '#base/clock.ts';
import { type Instant, type Monotonic, seconds } from '#base/units.ts';
import type { ProvenStanding } from '#control/ledger/ledger-questions.ts';
import type { PodZones } from '#control/watch/pod-zones.ts';
import type { WatchedPods } from '#control/watch/watched-pods.ts';
import { type Standing, standingOf } from '#disruption/standing.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import type { NodeView } from '#statefulset/parse-node.ts';
import type { ZoneBudgetSpec } from '../api.ts';
import type { NamespaceViews } from '../cache/namespace-views.ts';
import type { ZoneBudgetView } from '../cache/zone-budget-view.ts';
import { governedPods, type NamespaceView } from '../snapshot.ts';
import { judgedZoneBudget } from './judged-budget.ts';

/** What {@link ZoneStandings} are made from. */
export interface ZoneStandingPorts {
  readonly clock: Clock;
  readonly views: Pick<NamespaceViews, 'of'>;
  readonly zones: Pick<PodZones, 'zoneOn'>;
  readonly nodes: Pick<Informer<NodeView>, 'onChange'>;
  readonly watched: Pick<WatchedPods, 'of'>;
}

interface Kept {
  readonly view: NamespaceView;
  readonly nodeChanges: number;
  readonly standing: Standing;
  /** When it was made, by both clocks. */
  readonly now: Instant;
  readonly monotonic: Monotonic;
}

/** How long a standing is kept: our own clock may end a wait that the wall clock does not (D-55). */
const keptFor = seconds(1);

/** How budgets stand at this instant; worked out once for all who ask while nothing has changed. */
export class ZoneStandings {
  readonly #ports: ZoneStandingPorts;
  /** Goes with what a budget says. */
  readonly #kept = new WeakMap<ZoneBudgetSpec, Kept>();
  #nodeChanges = 0;

  constructor(ports: ZoneStandingPorts) {
    this.#ports = ports;
    ports.nodes.onChange(() => {
      this.#nodeChanges += 1;
    });
  }

  /** Returns how `budget`, which says `spec`, stands at `now`, the wall-clock time of this instant. */
  of(budget: ZoneBudgetView, spec: ZoneBudgetSpec, now: Instant): ProvenStanding {
    const { view, provenAt } = this.#ports.views.of(budget.namespace);
    const monotonic = this.#ports.clock.monotonic();
    const nodeChanges = this.#nodeChanges;
    const kept = this.#kept.get(spec);
    const isSame = kept?.view === view && kept.nodeChanges === nodeChanges;
    if (isSame && holds(kept, now, monotonic)) return { standing: kept.standing, provenAt };
    const standing = this.#standing(budget, { spec, view }, now);
    this.#kept.set(spec, { view, nodeChanges, standing, now, monotonic });
    return { standing, provenAt };
  }

  /** Returns the pods that `budget`, which says `spec`, selects, and that no StatefulSet controls which is seen; by name. */
  strangers(budget: ZoneBudgetView, spec: ZoneBudgetSpec): readonly string[] {
    const { view } = this.#ports.views.of(budget.namespace);
    return governedPods(spec.selector, view).strangers;
  }

  #standing(
    budget: ZoneBudgetView,
    { spec, view }: { readonly spec: ZoneBudgetSpec; readonly view: NamespaceView },
    now: Instant,
  ): Standing {
    const { zones, watched } = this.#ports;
    const { snapshot } = governedPods(spec.selector, view);
    // A list of ours may show a pod, and its node, before the cache does.
    const nodes = new Map(view.pods.map(({ name, nodeName }) => [name, nodeName]));
    const judged = judgedZoneBudget(budget, spec, (podName) =>
      zones.zoneOn(budget.namespace, podName, nodes.get(podName)),
    );
    const sets = (snapshot.sets ?? []).map(({ set, pods = [] }) => ({ set, pods, orphans: [] }));
    return standingOf(judged, { ...snapshot, watched: watched.of(sets) }, now);
  }
}

/** Reports whether time alone has not ended it; a wall clock that was set back ends it, too. */
function holds(
  { standing: { changesAt }, ...made }: Kept,
  now: Instant,
  monotonic: Monotonic,
): boolean {
  if (changesAt !== undefined && now >= changesAt) return false;
  return now >= made.now && monotonic - made.monotonic < keptFor;
}
