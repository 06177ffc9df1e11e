import type { Millis } from '#base/units.ts';
import type { SetFacts } from '../history/facts.ts';
import { type Domain, domainOf, type History, latestView } from '../history/history.ts';
import { type OwnDisruption, type OwnDisruptions, shownAt } from '../history/own-disruptions.ts';
import type { Removal, ScaleDown } from '../history/removal.ts';
import { type DisruptionStatement, oldest } from '../history/statement.ts';
import { Findings, type Invariant, type Point, type Violation } from './invariant.ts';

/**
 * EXCL-1: while a disruption of ours is open in one zone, we open none in another zone of the domain; and while we
 * replace stuck pods of one zone, we replace none of another (D-48), paused zones passed over. Strict.
 */
export class GroupExclusion implements Invariant {
  readonly #history: History;
  readonly #disruptions: OwnDisruptions;
  readonly #findings = new Findings();

  constructor(history: History, disruptions: OwnDisruptions) {
    this.#history = history;
    this.#disruptions = disruptions;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onRemoval(removal: Removal): void {
    const { set, takes, stuck, pod, commit } = removal;
    if (set === undefined) return;
    if (takes) this.#judge(set, commit, `took pod ${pod.name}`);
    if (stuck !== undefined) this.#judgeReplacement(set, commit, pod.name);
  }

  onScaleDown(scaleDown: ScaleDown): void {
    const { set, ordinals, commit } = scaleDown;
    if (ordinals.length > 0) this.#judge(set, commit, `scaled down ${set.name}`);
  }

  #judge(set: SetFacts, point: Point, deed: string): void {
    for (const open of this.#disruptions.openIn(domainOf(set), point.at)) {
      if (open.setUid === set.uid || open.kind === 'replacement') continue;
      const slot = `${open.setName}-${open.ordinal}`;
      this.#findings.add(
        'EXCL-1',
        point,
        `We ${deed} of ${set.namespace}/${set.name} while our disruption of slot ${slot} (revision ${open.revision}) was open`,
      );
      return;
    }
  }

  #judgeReplacement(set: SetFacts, point: Point, pod: string): void {
    const view = latestView(point.at);
    const other = this.#disruptions.openIn(domainOf(set), point.at).find((open) => {
      if (open.setUid === set.uid || open.kind !== 'replacement') return false;
      return this.#history.setByUid(open.setUid, view)?.isPaused === false;
    });
    if (other === undefined) return;
    this.#findings.add(
      'EXCL-1',
      point,
      `We replaced stuck pod ${set.namespace}/${pod} while our replacement of ${other.setName}-${other.ordinal} (revision ${other.revision}) was under way`,
    );
  }
}

/** What shows whether the other zones were whole on a young view (EXCL-2). */
export interface FreshExclusionOptions {
  readonly history: History;
  readonly disruptions: OwnDisruptions;
  /** How old the state that a decision rests on may be when it is sent: `A` of docs/rules/words.md. */
  readonly maxDecisionAge: Millis;
}

/**
 * EXCL-2: at r(d) every other zone of the domain was wholly available, r(d) contains all our earlier disruptions
 * in other zones, and r(d) was still the truth at most A before the request was sent. Fresh.
 */
export class FreshExclusion implements Invariant {
  readonly #options: FreshExclusionOptions;
  readonly #findings = new Findings();

  constructor(options: FreshExclusionOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onAnswered(removal: Removal): void {
    const { set, costs, statement } = removal;
    if (set === undefined || !costs || statement === undefined) return;
    this.#judgeOtherZones(removal, set);
    this.#judgeOrder(removal, set);
    const age = decisionAge(statement, this.#options.history);
    if (age <= this.#options.maxDecisionAge) return;
    this.#findings.add(
      'EXCL-2',
      removal.commit,
      `We took pod ${removal.pod.namespace}/${removal.pod.name} on a view that was outdated for ${age} ms; ${this.#options.maxDecisionAge} ms are allowed`,
    );
  }

  #judgeOtherZones(removal: Removal, set: SetFacts): void {
    const { history } = this.#options;
    for (const other of history.members(domainOf(set), removal.view)) {
      if (other.uid === set.uid) continue;
      const missing = history.unavailableSlots(other, removal.view);
      if (missing.length === 0) continue;
      this.#findings.add(
        'EXCL-2',
        removal.commit,
        `We took pod ${removal.pod.namespace}/${removal.pod.name} while our view showed unavailable slots ${missing.join(', ')} of ${other.name}`,
      );
    }
  }

  #judgeOrder(removal: Removal, set: SetFacts): void {
    const unseen = this.#lastUnseen(removal, domainOf(set));
    if (unseen === undefined || unseen.setUid === set.uid) return;
    this.#findings.add(
      'EXCL-2',
      removal.commit,
      `We took pod ${removal.pod.namespace}/${removal.pod.name} on a view without our disruption of ${unseen.setName}-${unseen.ordinal} (revision ${unseen.revision})`,
    );
  }

  #lastUnseen(removal: Removal, domain: Domain): OwnDisruption | undefined {
    const { view, commit, set } = removal;
    return this.#options.disruptions.in(domain).findLast((other) => {
      if (other.revision >= commit.revision || other.setUid === set?.uid) return false;
      const seen = shownAt(other, view);
      return other.revision > seen;
    });
  }
}

/**
 * Returns for how long the view of `statement` had been outdated when its request was sent, in milliseconds; 0 when it was
 * still the truth. A view is outdated from the first later commit of a type that it rests on, not from its own revision:
 * nothing may have happened for hours.
 */
export function decisionAge(
  statement: Omit<DisruptionStatement, 'podUid'>,
  history: History,
): number {
  const { pods, statefulsets } = statement.views ?? statement.proofs;
  const next = [history.nextPodCommit(oldest(pods)), history.nextSetCommit(oldest(statefulsets))];
  return Math.max(0, ...next.map((at) => (at === undefined ? 0 : statement.sentAt - at)));
}
