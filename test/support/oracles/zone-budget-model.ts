/**
 * What a ZoneDisruptionBudget should answer, worked out from its rules alone by going through all slots for each request, one
 * request after the other. Plain on purpose: the operator's own way of counting is held against it, and shares no line with it.
 * Times are milliseconds.
 */

/** A slot of the world by the name of its pod: of a set, or of a pod that nothing controls. */
export interface ZonedSlot {
  readonly name: string;
  readonly isOfSet: boolean;
  /** The pod that is there; undefined: none. */
  readonly pod:
    | { readonly uid: string; readonly state: 'ready' | 'not-ready' | 'terminating' }
    | undefined;
  /** Where its pod is, or was. */
  readonly zone: string | undefined;
}

/** All that there is. */
export interface ZonedWorld {
  readonly now: number;
  /** `spec.replicas` of all sets together. */
  readonly total: number;
  readonly slots: readonly ZonedSlot[];
}

interface Given {
  readonly name: string;
  readonly uid: string;
  readonly zone: string | undefined;
  at: number;
}

/** The ledger of one budget, answering one eviction after the other. */
export class ZoneBudgetModel {
  readonly #maxUnavailable: number | `${number}%`;
  #given: Given[] = [];

  constructor(maxUnavailable: number | `${number}%`) {
    this.#maxUnavailable = maxUnavailable;
  }

  /** Returns the same with what it has given away. */
  clone(): ZoneBudgetModel {
    const copy = new ZoneBudgetModel(this.#maxUnavailable);
    copy.#given = this.#given.map((each) => ({ ...each }));
    return copy;
  }

  /** Returns the uids that are given away, in the order in which they were. */
  given(): readonly string[] {
    return this.#given.map(({ uid }) => uid);
  }

  /** Takes back what there is evidence for. */
  release({ now, slots }: ZonedWorld): void {
    this.#given = this.#given.filter(({ name, uid, at }) => {
      const slot = slots.find((each) => each.name === name);
      if (slot === undefined) return false;
      if (slot.pod?.state !== 'ready') return true;
      return slot.pod.uid === uid && now - at < 120_000;
    });
  }

  /** Reports whether the pod in the slot `name` may go; notes that it was given away, but for a dry run. */
  ask(name: string, isDryRun: boolean, world: ZonedWorld): boolean {
    const slot = world.slots.find((each) => each.name === name);
    if (slot?.pod === undefined || !this.#mayGo(slot, world)) return false;
    const { uid } = slot.pod;
    if (isDryRun) return true;
    const known = this.#given.find((each) => each.uid === uid);
    if (known === undefined) this.#given.push({ name, uid, zone: slot.zone, at: world.now });
    else if (world.now - known.at >= 30_000) known.at = world.now;
    return true;
  }

  #mayGo(slot: ZonedSlot, world: ZonedWorld): boolean {
    const limit = this.#limit(world.total);
    if (limit <= 0 || slot.zone === undefined) return false;
    let inOwnZone = 0;
    for (const other of world.slots) {
      if (other.name === slot.name || !this.isDisturbed(other)) continue;
      if (this.zoneOf(other) !== slot.zone) return false;
      inOwnZone += 1;
    }
    return inOwnZone < limit;
  }

  /** Reports whether something is the matter with the slot: no pod that serves, or one that is given away. */
  isDisturbed({ name, pod }: ZonedSlot): boolean {
    return pod?.state !== 'ready' || this.#given.some((each) => each.name === name);
  }

  /** Returns where the slot is; where that is not known any more, where its pod was when it was given away. */
  zoneOf({ name, zone }: ZonedSlot): string | undefined {
    return zone ?? this.#given.findLast((each) => each.name === name)?.zone;
  }

  /** Counts the limit up pod by pod: the fewest that are no less than the share of all. */
  #limit(total: number): number {
    if (typeof this.#maxUnavailable === 'number') return this.#maxUnavailable;
    const percent = Number(this.#maxUnavailable.slice(0, -1));
    let pods = 0;
    while (pods * 100 < percent * total) pods += 1;
    return pods;
  }
}
