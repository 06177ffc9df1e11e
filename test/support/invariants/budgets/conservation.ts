import type { Instant } from '#base/units.ts';
import type { Call } from '#cluster/event-log.ts';
import type { BudgetFacts } from '../../history/budget-facts.ts';
import type { BudgetHistory } from '../../history/budget-history.ts';
import { type Disturbed, obstacleTo } from '../../history/budget-obstacle.ts';
import { type GivenPermission, GivenPermissions } from '../../history/given-permissions.ts';
import { viewAt } from '../../history/history.ts';
import type { Removal } from '../../history/removal.ts';
import type { DisruptionStatement } from '../../history/statement.ts';
import { Findings, type Invariant, type Violation } from '../invariant.ts';
import { type Knowledge, knownSince } from '../knowledge.ts';

/** What shows whether more was given away than a budget has (BUDG-2). */
export interface ConservationOptions extends Knowledge {
  readonly budgets: BudgetHistory;
  readonly ours: (user: string) => boolean;
}

/**
 * BUDG-2: what a ledger gives away, with what is under way by it and what its writer could know as unavailable, stays
 * within the budget: one zone at a time and up to the limit in it, or up to the limit of the partition over the other zones.
 * The same holds of what a deletion that is sent rests on.
 */
export class Conservation implements Invariant {
  readonly #options: ConservationOptions;
  readonly #findings = new Findings();
  readonly #removals: (readonly [Removal, DisruptionStatement])[] = [];
  /** When our first deletion of each pod was sent, by uid. */
  readonly #sent = new Map<string, Instant>();

  constructor(options: ConservationOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCall({ user, verb, resource, subresource, preconditions, startedAt }: Call): void {
    const uid = preconditions?.uid;
    if (!this.#options.ours(user) || uid === undefined) return;
    if (verb !== 'delete' || resource !== 'pods' || subresource !== '') return;
    const first = this.#sent.get(uid);
    if (first === undefined || startedAt < first) this.#sent.set(uid, startedAt);
  }

  onAnswered(removal: Removal, { subresource }: Call): void {
    const { takes, statement } = removal;
    if (takes && statement !== undefined && subresource !== 'eviction') {
      this.#removals.push([removal, statement]);
    }
  }

  onEnd(): void {
    const { budgets, history, ours } = this.#options;
    const given = new GivenPermissions(history);
    for (const commit of budgets.ledgerCommits) {
      for (const [permission, open] of given.take(commit)) {
        if (ours(commit.user) && !this.#isNoted(permission)) this.#judge(permission, open);
      }
    }
    for (const [removal, statement] of this.#removals) this.#judgeRemoval(removal, statement);
  }

  /** Reports whether a disruption that was under way before is only written down; that it was sent without is for BUDG-1. */
  #isNoted({ namespace, pod, uid, commit }: GivenPermission): boolean {
    const found = this.#options.history.pod(namespace, pod, commit.revision - 1);
    if (found?.uid === uid && found.isTerminating) return true;
    return (this.#sent.get(uid) ?? Infinity) < commit.at;
  }

  #judge(given: GivenPermission, open: readonly GivenPermission[]): void {
    const { budgets, history } = this.#options;
    const { commit } = given;
    const call = budgets.callOf(commit);
    const sentAt = call?.startedAt ?? commit.at;
    const sayings = budgets.saidBy(commit, { at: sentAt, before: commit.revision });
    const latest = viewAt(commit.revision - 1, commit.at);
    const since = knownSince(call, this.#options);
    const isDown: Disturbed = (set, ordinal) => {
      if (since === undefined) return false;
      return history.wasSlotDown(set, ordinal, { since, until: commit });
    };
    const base = { history, namespace: given.namespace, pod: given.pod, open };
    const views =
      since === undefined ? [latest] : [latest, viewAt(history.revisionAt(since), since)];
    // The asker may be the one that was right to ask.
    const complaints = given.askers.map((by) =>
      inAll(sayings, (budget) =>
        obstacleTo({ ...base, by, budget, views, isDown, now: commit.at }),
      ),
    );
    const [complaint] = complaints;
    if (complaint === undefined || complaints.includes(undefined)) return;
    const what = `We gave away pod ${given.namespace}/${given.pod}`;
    this.#findings.add('BUDG-2', commit, `${what} although ${complaint}`);
  }

  #judgeRemoval(removal: Removal, { sentAt }: DisruptionStatement): void {
    const { budgets, history } = this.#options;
    const { pod, commit, view } = removal;
    const [sayings, ...others] = budgets.selecting(pod, { at: sentAt, before: commit.revision });
    if (sayings === undefined || others.length > 0) return;
    const complaint = inAll(sayings, (budget) =>
      obstacleTo({
        history,
        budget,
        namespace: pod.namespace,
        pod: pod.name,
        by: 'rollout',
        open: [],
        views: [view],
        // A statement shows its own group; all others were judged by the ledger.
        isDown: (set, ordinal) =>
          view.pods(set.name, `${set.name}-${ordinal}`) > 0 &&
          !history.isSlotAvailable(set, ordinal, view),
        now: view.now,
      }),
    );
    if (complaint === undefined) return;
    const what = `We deleted pod ${pod.namespace}/${pod.name} although in its view`;
    this.#findings.add('BUDG-2', commit, `${what} ${complaint}`);
  }
}

/** Returns what speaks against a deed by all that a budget said lately; undefined where one of it has nothing against it. */
function inAll(
  sayings: readonly (BudgetFacts | undefined)[],
  complaintOf: (budget: BudgetFacts) => string | undefined,
): string | undefined {
  let found: string | undefined;
  for (const budget of sayings) {
    if (budget?.rule === undefined) continue;
    found = complaintOf(budget);
    if (found === undefined) return undefined;
  }
  return found;
}
