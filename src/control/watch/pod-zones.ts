import type { Clock } from '#base/clock.ts';
import { type Millis, type Monotonic, minutes } from '#base/units.ts';
import type { Change, Informer } from '#kubernetes/informer/informer.ts';
import type { NodeView } from '#statefulset/parse-node.ts';
import type { PodView } from '#statefulset/view.ts';

/** What {@link PodZones} are known from, for as long as the process lives. */
export interface PodZonePorts {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly nodes: Pick<Informer<NodeView>, 'lister' | 'onChange'>;
  /** Which keeps the names of their nodes. */
  readonly pods: Pick<Informer<PodView>, 'lister' | 'onChange'>;
}

/** How long what is gone is remembered (ZAU-24). */
const longest: Millis = minutes(120);

/** How many that are gone are remembered; a whole zone of most clusters. */
const most = 20_000;

/**
 * In which zone each pod is, or was: that of the node that it runs on. Of what is gone it is remembered for two hours, by
 * namespace and name of the pod (W-12), by the clock that never steps, as this process has seen it: a memory, no state.
 */
export class PodZones {
  readonly #ports: PodZonePorts;
  /** Zones of nodes that are gone, or show none any more. */
  readonly #formerZones: Memory;
  /** Nodes of pods that are gone, by namespace and name of the pod. */
  readonly #formerNodes: Memory;

  constructor(ports: PodZonePorts) {
    this.#ports = ports;
    this.#formerZones = new Memory(ports.clock);
    this.#formerNodes = new Memory(ports.clock);
    ports.nodes.onChange((change) => this.#nodeChanged(change));
    ports.pods.onChange((change) => this.#podChanged(change));
  }

  /**
   * Returns the zone of the pod of this name; where it has no node yet, or is not there, of the one before it (W-04). Undefined
   * where that is unknown, as of a pod on a node that shows no zone: whatever was there before says nothing of that.
   */
  zoneOf(namespace: string, podName: string): string | undefined {
    return this.zoneOn(
      namespace,
      podName,
      this.#ports.pods.lister.get(namespace, podName)?.nodeName,
    );
  }

  /**
   * Returns the same as {@link zoneOf}, where the pod is known to run on `nodeName`, or to be on none or not there, whatever
   * the cache shows.
   */
  zoneOn(namespace: string, podName: string, nodeName: string | undefined): string | undefined {
    const node = nodeName ?? this.#formerNodes.get(keyOf(namespace, podName));
    return node === undefined ? undefined : this.zoneOfNode(node);
  }

  /** Returns the zone of the node `name`, or the one that it had before it lost it; undefined where that is unknown. */
  zoneOfNode(name: string): string | undefined {
    return this.#ports.nodes.lister.get('', name)?.zone ?? this.#formerZones.get(name);
  }

  #nodeChanged(change: Change<NodeView>): void {
    const { kind, object } = change;
    const { name, zone } = object;
    if (kind === 'deleted') this.#formerZones.put(name, zone);
    else if (zone !== undefined) this.#formerZones.drop(name);
    else if (kind === 'updated') this.#formerZones.put(name, change.old.zone);
  }

  #podChanged(change: Change<PodView>): void {
    const { kind, object } = change;
    const { namespace, name } = object;
    const before = kind === 'updated' ? change.old : object;
    const hasLeft = kind === 'deleted' || before.nodeName !== object.nodeName;
    if (hasLeft) this.#formerNodes.put(keyOf(namespace, name), before.nodeName);
  }
}

/** Texts by key, each for a while after it was put; the oldest goes first where there are too many. */
class Memory {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Kept in the order in which they were put. */
  readonly #kept = new Map<string, { readonly text: string; readonly at: Monotonic }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get(key: string): string | undefined {
    const kept = this.#kept.get(key);
    return kept === undefined || this.#isOver(kept.at) ? undefined : kept.text;
  }

  /** Keeps `text`; where that is undefined, what was kept stays. */
  put(key: string, text: string | undefined): void {
    if (text === undefined) return;
    this.#kept.delete(key);
    this.#kept.set(key, { text, at: this.#clock.monotonic() });
    for (const [oldest, { at }] of this.#kept) {
      if (this.#kept.size <= most && !this.#isOver(at)) return;
      this.#kept.delete(oldest);
    }
  }

  drop(key: string): void {
    this.#kept.delete(key);
  }

  #isOver(at: Monotonic): boolean {
    return this.#clock.monotonic() - at > longest;
  }
}

/** No namespace and no name has a slash. */
function keyOf(namespace: string, podName: string): string {
  return `${namespace}/${podName}`;
}
