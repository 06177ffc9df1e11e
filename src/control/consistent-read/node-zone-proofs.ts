import type { Clock } from '#base/clock.ts';
import type { Monotonic } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { parseNode } from '#statefulset/parse-node.ts';
import type { PodZones } from '../watch/pod-zones.ts';
import { maxDecisionAge } from './basis.ts';

/** What {@link NodeZoneProofs} go through. */
export interface NodeZoneProofPorts {
  readonly client: Client;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly zones: Pick<PodZones, 'zoneOfNode'>;
}

/** What a read showed of a node. */
interface Told {
  /** Undefined where the node is gone, or shows no zone any more: its pods keep the one that it had. */
  readonly zone: string | undefined;
  readonly at: Monotonic;
}

/** How many nodes are read at once. */
const mostAtOnce = 8;

/** A node is in another zone than its cache shows: no pod on it is taken for one of either. */
export class UnshownZoneError extends Error {
  override readonly name = 'UnshownZoneError';

  constructor(node: string, { told, shown }: { readonly told: string; readonly shown: string }) {
    super(
      `Node ${node} is in zone ${told}, and its watch does not show that yet: it shows zone ${shown}`,
    );
  }
}

/**
 * By what it is proven that nodes are in the zones that their cache shows: a read of each. A cache that lags would let a step
 * take pods of two zones where a node was labelled again, or replaced by one of its name elsewhere.
 */
export class NodeZoneProofs {
  readonly #ports: NodeZoneProofPorts;
  /** Keyed by name. */
  readonly #told = new Map<string, Told>();

  constructor(ports: NodeZoneProofPorts) {
    this.#ports = ports;
  }

  /** Returns those of `nodes` whose zones are not proven by a read that is as young as a decision may rest on. */
  unproven(nodes: ReadonlySet<string>, now: Monotonic): readonly string[] {
    return [...nodes].filter((name) => {
      const told = this.#told.get(name);
      return told === undefined || now - told.at > maxDecisionAge || this.#differs(name, told);
    });
  }

  /** Reads `nodes`. @throws UnshownZoneError where one is in another zone than is shown, and what a request fails with */
  async read(nodes: readonly string[], signal: AbortSignal): Promise<void> {
    const now = this.#ports.clock.monotonic();
    for (const [name, { at }] of this.#told) if (now - at > maxDecisionAge) this.#told.delete(name);
    for (let at = 0; at < nodes.length; at += mostAtOnce) {
      const some = nodes.slice(at, at + mostAtOnce);
      await Promise.all(some.map((name) => this.#read(name, signal)));
    }
  }

  /** Reads a list of one: the Role permits no more than to list and watch nodes. */
  async #read(name: string, signal: AbortSignal): Promise<void> {
    const { client, clock, zones } = this.#ports;
    const at = clock.monotonic();
    const query = { fieldSelector: `metadata.name=${name}` };
    const { items } = await client.list(resourceTypes.nodes, query, { signal });
    const [node] = items;
    const told = { zone: node && parseNode(node).zone, at };
    this.#told.set(name, told);
    if (!this.#differs(name, told)) return;
    const shown = zones.zoneOfNode(name) ?? 'none';
    throw new UnshownZoneError(name, { told: told.zone ?? '', shown });
  }

  #differs(name: string, { zone }: Told): boolean {
    return zone !== undefined && zone !== this.#ports.zones.zoneOfNode(name);
  }
}
