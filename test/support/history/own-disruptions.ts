import type { Instant } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { isAvailable, podFacts, type SetFacts } from './facts.ts';
import { type Domain, domainOf, type History, latestView, type View } from './history.ts';
import type { Removal, ScaleDown } from './removal.ts';
import type { DisruptionStatement } from './statement.ts';
import { stuckness } from './stuck.ts';

/** A slot that we emptied. */
export interface OwnDisruption {
  /**
   * `removal`, `scale-down`: an available slot that we took away (own disruption in docs/rules/words.md). `replacement`: a
   * stuck pod that we replaced (D-48), which costs nothing by itself.
   */
  readonly kind: 'removal' | 'scale-down' | 'replacement';
  readonly domain: Domain;
  readonly namespace: string;
  readonly setName: string;
  readonly setUid: string;
  readonly ordinal: number;
  /** The pod that was taken away; empty for a scale-down. */
  readonly podUid: string;
  readonly at: Instant;
  readonly revision: number;
  /** The statement of a removal or replacement, where the operator said what it rests on. */
  readonly statement: DisruptionStatement | undefined;
}

/**
 * Our disruptions, and which are open: until the slot has an available pod with another uid, or is gone, or
 * (scale-down) is wanted again and still has its pod, or (replacement) the new pod is stuck itself. That a slot was whole briefly counts, even when it
 * broke again later; so each version of a pod is looked at once more when it ends.
 */
export class OwnDisruptions {
  readonly #history: History;
  readonly #open = new Map<Domain, OwnDisruption[]>();
  readonly #all = new Map<Domain, OwnDisruption[]>();
  readonly #overSince = new Map<OwnDisruption, number>();
  #openCount = 0;
  #revision = 0;

  constructor(history: History) {
    this.#history = history;
  }

  /** Opens what `removal` takes away, if anything. */
  opened(removal: Removal): void {
    const { commit, set, ordinal, takes, stuck, statement } = removal;
    if (set === undefined || ordinal === undefined) return;
    if (!takes && stuck === undefined) return;
    const kind = stuck === undefined ? 'removal' : 'replacement';
    this.#add(set, { kind, ordinal, podUid: commit.uid, commit, statement });
  }

  /** Opens the slots that `scaleDown` takes away. */
  scaledDown(scaleDown: ScaleDown): void {
    for (const ordinal of scaleDown.ordinals) {
      const { set, commit } = scaleDown;
      const kind = 'scale-down';
      this.#add(set, { kind, ordinal, podUid: '', commit, statement: undefined });
    }
  }

  /** Takes each commit while the history still ends before it. */
  before(commit: Commit): void {
    this.#revision = commit.revision;
    if (this.#openCount === 0) return;
    if (commit.resource === 'pods') this.#closeByPod(commit);
    else if (commit.resource === 'statefulsets.apps') this.#sweepAll(commit.at);
  }

  /** Returns the disruptions in `domain` that are open at `now`, oldest first. */
  openIn(domain: Domain, now: Instant): readonly OwnDisruption[] {
    const open = this.#open.get(domain);
    if (open === undefined || open.length === 0) return [];
    const view = latestView(now);
    return this.#keep(domain, open, (each) => !this.#isOver(each, view));
  }

  /** Returns all disruptions in `domain`, open or not, oldest first. */
  in(domain: Domain): readonly OwnDisruption[] {
    return this.#all.get(domain) ?? [];
  }

  /** Reports whether `disruption` was open as `view` shows it: it had not ended before, and its slot is not whole there. */
  wasOpenAt(disruption: OwnDisruption, view: View): boolean {
    const { revision } = disruption;
    const shown = shownAt(disruption, view);
    const overSince = this.#overSince.get(disruption);
    if (revision > shown || (overSince !== undefined && overSince <= shown)) return false;
    return !this.#isOver(disruption, view);
  }

  #add(
    set: SetFacts,
    what: Pick<OwnDisruption, 'kind' | 'ordinal' | 'podUid' | 'statement'> & {
      readonly commit: Commit;
    },
  ): void {
    const domain = domainOf(set);
    const disruption: OwnDisruption = {
      kind: what.kind,
      domain,
      namespace: set.namespace,
      setName: set.name,
      setUid: set.uid,
      ordinal: what.ordinal,
      podUid: what.podUid,
      at: what.commit.at,
      revision: what.commit.revision,
      statement: what.statement,
    };
    push(this.#open, domain, disruption);
    push(this.#all, domain, disruption);
    this.#openCount += 1;
  }

  #closeByPod(commit: Commit): void {
    if (commit.before === undefined) return;
    const pod = podFacts(commit.before);
    const view = latestView(commit.at);
    const set =
      pod.controllerUid === undefined ? undefined : this.#history.setByUid(pod.controllerUid, view);
    if (set === undefined) return;
    const isFilled = isAvailable(pod, set, commit.at);
    const isStuck = !isFilled && stuckness(pod, { history: this.#history, view }) !== undefined;
    if (!isFilled && !isStuck) return;
    for (const [domain, open] of this.#open) {
      this.#keep(domain, open, (each) => {
        const isOver = isFilled || each.kind === 'replacement';
        return !isOver || !isFilledBy(each, pod.name, pod.uid);
      });
    }
  }

  #sweepAll(now: Instant): void {
    for (const domain of this.#open.keys()) this.openIn(domain, now);
  }

  #keep(
    domain: Domain,
    open: OwnDisruption[],
    isKept: (each: OwnDisruption) => boolean,
  ): readonly OwnDisruption[] {
    const kept = open.filter(isKept);
    if (kept.length === open.length) return open;
    this.#openCount -= open.length - kept.length;
    for (const each of open) {
      if (!kept.includes(each)) this.#overSince.set(each, this.#revision);
    }
    this.#open.set(domain, kept);
    return kept;
  }

  #isOver(disruption: OwnDisruption, view: View): boolean {
    const { setUid, ordinal } = disruption;
    if (this.#history.isSlotGone(setUid, ordinal, view)) return true;
    const set = this.#history.setByUid(setUid, view);
    if (set === undefined) return true;
    if (disruption.kind === 'scale-down' && ordinal >= set.ordinalsStart + set.replicas) {
      return false;
    }
    const pod = this.#history.slotPod(set, ordinal, view);
    if (pod === undefined || pod.uid === disruption.podUid) return false;
    if (isAvailable(pod, set, view.now)) return true;
    if (disruption.kind !== 'replacement') return false;
    return stuckness(pod, { history: this.#history, view }) !== undefined;
  }
}

/** Returns the revision up to which `view` shows what `disruption` is of: the set whose replicas were lowered, or the pod. */
export function shownAt({ kind, setName, ordinal }: OwnDisruption, view: View): number {
  return kind === 'scale-down' ? view.sets(setName) : view.pods(setName, `${setName}-${ordinal}`);
}

function isFilledBy(disruption: OwnDisruption, podName: string, podUid: string): boolean {
  return (
    disruption.kind !== 'scale-down' &&
    disruption.podUid !== podUid &&
    podName === `${disruption.setName}-${disruption.ordinal}`
  );
}

function push(lists: Map<Domain, OwnDisruption[]>, domain: Domain, item: OwnDisruption): void {
  const list = lists.get(domain);
  if (list === undefined) lists.set(domain, [item]);
  else list.push(item);
}
