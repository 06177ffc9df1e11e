import { podsText } from '#base/text/pods-text.ts';
import type { Commit } from '#cluster/event-log.ts';
import { imageOf, isGoing, isReady, ordinalOf, troubleOf } from '../cluster/pod-state.ts';

/** What is known of one pod of the set. */
interface Place {
  readonly image: string;
  readonly state: 'ready' | 'broken' | 'away';
}

/** What {@link PercentProof} holds the history against. */
export interface PercentWanted {
  readonly set: string;
  readonly replicas: number;
  /** As many pods as the budget lets be away. */
  readonly maxUnavailable: number;
}

/** The pods that went for one version, in order. */
export interface TakenPods {
  readonly image: string;
  readonly pods: readonly string[];
}

interface Version extends TakenPods {
  readonly pods: string[];
  /** How many may go for it. @default any number */
  most: number;
}

/**
 * Watches the pods of one set by what the store saw and nothing else: how many were unavailable at once, which went for which
 * version, and which of them while none might.
 */
export class PercentProof {
  readonly #wanted: PercentWanted;
  readonly #places = new Map<string, Place>();
  readonly #versions: Version[] = [];
  readonly #twice: string[] = [];
  #wasWhole = false;
  #mostAway = 0;
  #isForbidden = false;
  #forbidden = 0;

  constructor(wanted: PercentWanted) {
    this.#wanted = wanted;
  }

  /** Lets pods go, from now on, for the version with `image`, if they did not already. */
  begin(image: string): void {
    if (image !== this.#image)
      this.#versions.push({ image, pods: [], most: Number.POSITIVE_INFINITY });
  }

  /** Permits no more than `most` pods to go for the present version. */
  limit(most: number): void {
    const version = this.#versions.at(-1);
    if (version !== undefined) version.most = most;
  }

  /** Permits no pod to go, or to go again, from now on. */
  forbid(is: boolean): void {
    this.#isForbidden = is;
  }

  /** Returns what went, version by version. */
  get taken(): readonly TakenPods[] {
    return this.#versions;
  }

  /** Returns the pods that went for the present version. */
  get takenNow(): readonly string[] {
    return this.#versions.at(-1)?.pods ?? [];
  }

  /** Reports whether all pods are there and ready. */
  get isWhole(): boolean {
    return this.#places.size === this.#wanted.replicas && this.#countAway() === 0;
  }

  /** Returns the most pods that were unavailable at once. */
  get mostAway(): number {
    return this.#mostAway;
  }

  see({ resource, name, before, after }: Commit): void {
    if (resource !== 'pods' || !name.startsWith(`${this.#wanted.set}-`)) return;
    if (before !== undefined && isGoing(after) && !isGoing(before)) {
      this.#taken(name, imageOf(before));
    }
    const image = after === undefined ? '' : imageOf(after);
    this.#places.set(name, { image, state: stateOf(after) });
    this.#wasWhole ||= this.isWhole;
    if (this.#wasWhole) this.#mostAway = Math.max(this.#mostAway, this.#countAway());
  }

  /** Returns the pods from the highest: `●` runs the present version, `·` another one, `○` is not ready, `✗` cannot become so. */
  picture(): string {
    const pods = [...this.#places].toSorted(([a], [b]) => ordinalOf(b) - ordinalOf(a));
    return pods.map(([, place]) => this.#cell(place)).join('');
  }

  /** Returns what is wrong at the end, one sentence each. */
  faults(): readonly string[] {
    const { maxUnavailable } = this.#wanted;
    const image = this.#image;
    const left = [...this.#places.values()].filter(
      (place) => place.image !== image || place.state !== 'ready',
    );
    return [
      ...(this.#mostAway > maxUnavailable
        ? [`${podsText(this.#mostAway)} were unavailable at once, ${maxUnavailable} allowed`]
        : []),
      ...this.#twice,
      ...this.#versions
        .filter(({ pods, most }) => pods.length > most)
        .map(
          ({ image, pods, most }) => `${podsText(pods.length)} went for ${image}, ${most} allowed`,
        ),
      ...(this.#forbidden > 0
        ? [`${podsText(this.#forbidden)} went after the rollout had failed`]
        : []),
      ...(left.length > 0 ? [`${podsText(left.length)} did not come to ${image}`] : []),
    ];
  }

  get #image(): string {
    return this.#versions.at(-1)?.image ?? '';
  }

  #taken(name: string, image: string): void {
    if (!this.#wasWhole) return;
    if (this.#isForbidden) this.#forbidden += 1;
    const version = this.#versions.at(-1);
    if (image === version?.image) this.#twice.push(`${name} went although it ran ${image}`);
    else if (version?.pods.includes(name) === true) {
      this.#twice.push(`${name} went twice for ${version.image}`);
    }
    version?.pods.push(name);
  }

  #countAway(): number {
    return [...this.#places.values()].filter(({ state }) => state !== 'ready').length;
  }

  #cell({ image, state }: Place): string {
    if (state === 'broken') return '✗';
    if (state === 'away') return '○';
    return image === this.#image ? '●' : '·';
  }
}

function stateOf(pod: Commit['after']): Place['state'] {
  if (pod === undefined || isGoing(pod)) return 'away';
  if (isReady(pod)) return 'ready';
  return troubleOf(pod) === '' ? 'away' : 'broken';
}
