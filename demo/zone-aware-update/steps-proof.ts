import { podsText } from '#base/text/pods-text.ts';
import type { Commit } from '#cluster/event-log.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { isGoing, isReady, ordinalOf, revisionOf } from '../cluster/pod-state.ts';

/** What is known of one pod of the set. */
interface Place {
  readonly zone: string;
  readonly revision: string;
  readonly isReady: boolean;
}

/** What {@link StepsProof} holds the history against. */
export interface StepsWanted {
  readonly set: string;
  readonly replicas: number;
  /** As many pods as a step may take at most. */
  readonly maxUnavailable: number;
  /** Zones by name of the node. */
  readonly zones: ReadonlyMap<string, string>;
}

/**
 * Watches the pods of one set over zones, by what the store saw and nothing else: how many zones had pods that were not ready at
 * once, which pods went together, and which of them while none might.
 */
export class StepsProof {
  readonly #wanted: StepsWanted;
  readonly #places = new Map<string, Place>();
  readonly #steps: string[][] = [];
  #first = '';
  #wasWhole = false;
  #mostZones = 0;
  #mostAway = 0;
  #isForbidden = false;
  #forbidden = 0;

  constructor(wanted: StepsWanted) {
    this.#wanted = wanted;
  }

  /** Returns how many pods went together, step by step. */
  get steps(): readonly number[] {
    return this.#steps.map(({ length }) => length);
  }

  /** Reports whether all pods are there and ready. */
  get isWhole(): boolean {
    const { replicas } = this.#wanted;
    return this.#places.size === replicas && this.#away().length === 0;
  }

  /** Reports whether no pod of the first zone that was begun still runs the revision from before. */
  get isFirstZoneTaken(): boolean {
    const [taken] = this.#steps.flat();
    const zone = taken === undefined ? undefined : this.#places.get(taken)?.zone;
    const left = [...this.#places.values()].filter(
      (place) => place.zone === zone && place.isReady && place.revision === this.#first,
    );
    return zone !== undefined && left.length === 0;
  }

  /** Permits no pod to go, or to go again, from now on. */
  forbid(is: boolean): void {
    this.#isForbidden = is;
  }

  see({ resource, name, before, after }: Commit): void {
    if (resource !== 'pods' || !name.startsWith(`${this.#wanted.set}-`)) return;
    if (isGoing(after) && !isGoing(before)) this.#taken(name);
    const { zones } = this.#wanted;
    const zone = zones.get(textAt(after, 'spec', 'nodeName')) ?? this.#places.get(name)?.zone ?? '';
    const revision = after === undefined ? '' : revisionOf(after);
    this.#places.set(name, { zone, revision, isReady: !isGoing(after) && isReady(after) });
    this.#count();
  }

  /** Returns the zones in order, each with its pods: `●` runs the new revision, `·` the one from before, `○` is not ready. */
  picture(): string {
    const zones = [...new Set([...this.#places.values()].map(({ zone }) => zone))].toSorted();
    return zones
      .map((zone) => {
        const pods = [...this.#places].filter(([, place]) => place.zone === zone);
        const cells = pods.toSorted(byOrdinal).map(([, place]) => this.#cell(place));
        return `${zone} ${cells.join('')}`;
      })
      .join('  ');
  }

  /** Returns what is wrong, one sentence each. */
  faults(): readonly string[] {
    const { maxUnavailable } = this.#wanted;
    const large = this.steps.filter((size, at) => size > Math.min(2 ** at, maxUnavailable));
    return [
      ...(this.#mostZones > 1 ? [`${this.#mostZones} zones had unavailable pods at once`] : []),
      ...(this.#mostAway > maxUnavailable
        ? [`${podsText(this.#mostAway)} were unavailable at once, ${maxUnavailable} allowed`]
        : []),
      ...(large.length > 0 ? [`a step took ${large.join(', ')} pods, which is too many`] : []),
      ...(this.#forbidden > 0 ? [`${podsText(this.#forbidden)} went while the alarm rang`] : []),
    ];
  }

  /** Returns the most pods that were unavailable at once. */
  get mostAway(): number {
    return this.#mostAway;
  }

  #taken(name: string): void {
    if (!this.#wasWhole) return;
    if (this.#isForbidden) this.#forbidden += 1;
    const step = this.#steps.at(-1);
    if (step === undefined || this.isWhole) this.#steps.push([name]);
    else step.push(name);
  }

  #count(): void {
    if (!this.#wasWhole && this.isWhole) {
      this.#wasWhole = true;
      const [any] = this.#places.values();
      this.#first = any?.revision ?? '';
    }
    if (!this.#wasWhole) return;
    const away = this.#away();
    this.#mostAway = Math.max(this.#mostAway, away.length);
    this.#mostZones = Math.max(this.#mostZones, new Set(away.map(({ zone }) => zone)).size);
  }

  #away(): readonly Place[] {
    return [...this.#places.values()].filter((place) => !place.isReady);
  }

  #cell({ isReady: is, revision }: Place): string {
    if (!is) return '○';
    return revision === this.#first ? '·' : '●';
  }
}

function byOrdinal([one]: readonly [string, Place], [other]: readonly [string, Place]): number {
  return ordinalOf(other) - ordinalOf(one);
}
