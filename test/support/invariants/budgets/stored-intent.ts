import { after, type Instant, millis, minutes } from '#base/units.ts';
import type { Call, Commit } from '#cluster/event-log.ts';
import type { BudgetHistory, Lookout } from '../../history/budget-history.ts';
import { type PodFacts, podFacts } from '../../history/facts.ts';
import { type History, viewAt } from '../../history/history.ts';
import type { Removal, ScaleDown } from '../../history/removal.ts';
import { Findings, type Invariant, type Violation } from '../invariant.ts';

/** What shows whether it was written before it was given (BUDG-1). */
export interface StoredIntentOptions {
  readonly history: History;
  readonly budgets: BudgetHistory;
  readonly ours: (user: string) => boolean;
  /** Whether the times of commits are those of the store itself; otherwise their order alone counts. */
  readonly areTimesExact: boolean;
  /** Whether we review evictions: those that the API server then executed are judged too. */
  readonly areEvictionsReviewed: boolean;
}

/** A pod that went by a permission, or should have. */
interface Taken {
  readonly pod: PodFacts;
  readonly commit: Commit;
  readonly deed: string;
  /** When the permission had to be stored. */
  readonly by: Instant;
}

/** How long ago a pod may have been available and still be one that serves (D-57). */
const recently = minutes(1);

/**
 * BUDG-1: a pod that serves goes only once its ledger has it: before our request was sent, or before an eviction was
 * answered. D-36: under two budgets, or one that could never be read, it does not go at all. Budgets are known 10 s after
 * they were stored.
 */
export class StoredIntent implements Invariant {
  readonly #options: StoredIntentOptions;
  readonly #findings = new Findings();
  readonly #taken: Taken[] = [];
  /** Removals of pods, by the call that stored them. */
  readonly #removed = new Map<number, Commit>();

  constructor(options: StoredIntentOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCommit(commit: Commit): void {
    const { resource, before, after: next, callId } = commit;
    if (resource !== 'pods' || before === undefined || callId === 0) return;
    const isGoing = next === undefined || podFacts(next).isTerminating;
    if (isGoing && !podFacts(before).isTerminating) this.#removed.set(callId, commit);
  }

  onAnswered({ pod, commit, takes, statement }: Removal, call: Call): void {
    if (!takes || call.subresource === 'eviction') return;
    const by = statement?.sentAt ?? call.startedAt;
    this.#taken.push({ pod, commit, deed: 'We deleted', by });
  }

  onScaleDownAnswered({ set, commit, ordinals, statement }: ScaleDown, call: Call): void {
    const { history } = this.#options;
    const before = viewAt(commit.revision - 1, commit.at);
    for (const ordinal of ordinals) {
      const pod = history.slotPod(set, ordinal, before);
      if (pod === undefined || pod.isTerminating) continue;
      const by = statement?.sentAt ?? call.startedAt;
      this.#taken.push({ pod, commit, deed: 'We scaled away', by });
    }
  }

  onCall({ callId, subresource, endedAt }: Call): void {
    if (subresource !== 'eviction' || !this.#options.areEvictionsReviewed) return;
    const commit = this.#removed.get(callId);
    if (commit?.before === undefined) return;
    const pod = podFacts(commit.before);
    if (!this.#hasServed(pod, commit)) return;
    this.#taken.push({ pod, commit, deed: 'An eviction took', by: endedAt });
  }

  onEnd(): void {
    for (const taken of this.#taken) this.#judge(taken);
  }

  #judge({ pod, commit, deed, by }: Taken): void {
    const { budgets, ours, areTimesExact } = this.#options;
    const lookout: Lookout = { at: by, before: commit.revision };
    const selecting = budgets.selecting(pod, lookout);
    const names = selecting.map(([newest]) => newest?.name).join(', ');
    const what = `${deed} pod ${pod.namespace}/${pod.name}`;
    if (selecting.length > 1) {
      this.#findings.add('D-36', commit, `${what}, which several budgets select: ${names}`);
      return;
    }
    const [sayings = []] = selecting;
    const [budget] = sayings;
    if (budget === undefined) return;
    if (sayings.every(({ rule }) => rule === undefined)) {
      this.#findings.add('D-36', commit, `${what} under budget ${names}, which cannot be read`);
      return;
    }
    const at = areTimesExact ? by : commit.at;
    if (budgets.isReserved(budget, pod.uid, { at, before: commit.revision, ours })) return;
    const [subject] = deed.split(' ');
    const when = `when ${subject === 'We' ? 'that was sent' : 'it was answered'}`;
    this.#findings.add(
      'BUDG-1',
      commit,
      `${what}, which the ledger of ${names} did not have ${when}`,
    );
  }

  /**
   * Reports whether a user may have relied on `pod` until it went: it was available within the last minute, and not one
   * that no budget counts on.
   */
  #hasServed({ uid, name, phase, controllerUid = '' }: PodFacts, commit: Commit): boolean {
    if (phase !== 'Running' && phase !== 'Unknown') return false;
    const { history } = this.#options;
    const set = history.setByUid(controllerUid, viewAt(commit.revision - 1, commit.at));
    if (set === undefined) return false;
    const span = { since: after(commit.at, millis(0 - recently)), until: commit };
    return [...history.availableVersions(set, name, span)].some((pod) => pod.uid === uid);
  }
}
