import { type Instant, seconds } from '#base/units.ts';
import type { Call, Commit } from '#cluster/event-log.ts';
import type { BudgetHistory } from '../../history/budget-history.ts';
import { budgetKey } from '../../history/budget-history.ts';
import { type GivenPermission, hasEnded, permissionOf } from '../../history/given-permissions.ts';
import { viewAt } from '../../history/history.ts';
import {
  type ClaimFacts,
  type ReservationFacts,
  reservationsIn,
} from '../../history/ledger-facts.ts';
import type { Removal } from '../../history/removal.ts';
import { valueAt } from '../../objects/json-path.ts';
import { Findings, type Invariant, type Violation } from '../invariant.ts';
import { type Knowledge, knownSince } from '../knowledge.ts';

/** What shows when something was given back, and what a retry was answered (BUDG-4, BUDG-5). */
export interface ReleasedOptions extends Knowledge {
  readonly budgets: BudgetHistory;
  readonly ours: (user: string) => boolean;
}

/** A deletion that left us. */
interface SentDeletion {
  readonly sentAt: Instant;
  readonly endedAt: Instant;
  readonly outcome: Call['outcome'];
  /** The revision of the commit that it made; undefined where it made none. */
  readonly revision: number | undefined;
}

/** How long an eviction that was allowed may still be used, and a request without an answer still have an effect. */
const horizon = seconds(120);

/**
 * BUDG-4: what we gave away we take back by evidence only. BUDG-5: what is asked again is counted once, and written once.
 */
export class Released implements Invariant {
  readonly #options: ReleasedOptions;
  readonly #findings = new Findings();
  /** Keyed by the uid of the pod. */
  readonly #deletions = new Map<string, SentDeletion[]>();
  /** The commit that first stored a reservation, or a claim with its time. */
  readonly #first = new Map<string, Commit>();

  constructor(options: ReleasedOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCall(call: Call): void {
    const { user, verb, resource, preconditions, startedAt, endedAt, outcome } = call;
    const uid = preconditions?.uid;
    if (!this.#options.ours(user) || verb !== 'delete' || resource !== 'pods') return;
    if (uid !== undefined) {
      this.#sent(uid, { sentAt: startedAt, endedAt, outcome, revision: undefined });
    }
  }

  onAnswered({ commit, statement }: Removal, { startedAt, endedAt, outcome }: Call): void {
    const { uid, revision } = commit;
    this.#sent(uid, { sentAt: statement?.sentAt ?? startedAt, endedAt, outcome, revision });
  }

  onEnd(): void {
    for (const commit of this.#options.budgets.ledgerCommits) {
      if (this.#options.ours(commit.user)) this.#judge(commit);
      this.#remember(commit);
    }
  }

  #sent(uid: string, deletion: SentDeletion): void {
    this.#deletions.set(uid, [...(this.#deletions.get(uid) ?? []), deletion]);
  }

  #judge(commit: Commit): void {
    const stored = reservationsIn(commit.after);
    this.#judgeDoubles(commit, stored);
    for (const old of reservationsIn(commit.before)) {
      const next = stored.find(({ uid }) => uid === old.uid);
      for (const claim of old.claims) this.#judgeClaim(commit, { old, next, claim });
    }
  }

  #judgeClaim(
    commit: Commit,
    {
      old,
      next,
      claim,
    }: {
      readonly old: ReservationFacts;
      readonly next: ReservationFacts | undefined;
      readonly claim: ClaimFacts;
    },
  ): void {
    const kept = next?.claims.find(({ by }) => by === claim.by);
    const what = `the claim of the ${claim.by} on pod ${commit.namespace}/${old.pod}`;
    if (kept === undefined) {
      const complaint = this.#complaint(commit, old, claim);
      if (complaint === undefined) return;
      this.#findings.add('BUDG-4', commit, `We took back ${what} although ${complaint}`);
    } else if (kept.by !== 'eviction' && kept.at !== claim.at && kept.term === claim.term) {
      this.#findings.add('BUDG-5', commit, `We wrote ${what} again in the same term`);
    }
  }

  #judgeDoubles(commit: Commit, stored: readonly ReservationFacts[]): void {
    const { name, before, after } = commit;
    const uids = new Set(stored.map(({ uid }) => uid));
    const isTwice = stored.some(
      ({ claims }) => new Set(claims.map(({ by }) => by)).size < claims.length,
    );
    if (uids.size < stored.length || isTwice) {
      this.#findings.add('BUDG-5', commit, `We counted a pod twice in ledger ${name}`);
    }
    if (before === undefined || after === undefined) return;
    const [old, next] = [valueAt(before, 'data'), valueAt(after, 'data')];
    if (JSON.stringify(old) !== JSON.stringify(next)) return;
    this.#findings.add('BUDG-5', commit, `We wrote ledger ${name} again as it was`);
  }

  /** Returns why `claim` has to stay; undefined where there is evidence that it has ended. */
  #complaint(commit: Commit, old: ReservationFacts, claim: ClaimFacts): string | undefined {
    const { history, budgets } = this.#options;
    const key = budgetKey(commit);
    const given = permissionOf(history, this.#first.get(`${key} ${old.uid}`) ?? commit, old);
    if (hasEnded(history, given, commit)) return undefined;
    const sent = this.#underWay(old.uid, commit);
    if (sent !== undefined) return sent;
    // The process that ends an intent of ours knows what came of it; of what others did it hears later.
    const isOwnEnd = claim.by !== 'eviction' && this.#hasTaken(old.uid, commit);
    const since = knownSince(budgets.callOf(commit), this.#options) ?? commit.at;
    if (isOwnEnd || !this.#stood(given, commit, since)) {
      return 'it is going or gone, and no other pod was available in its slot since';
    }
    if (this.#isSurplus(given, commit))
      return 'its set wants fewer replicas, and it has not gone yet';
    return claim.by === 'eviction' ? this.#evictionComplaint(claim, given, commit) : undefined;
  }

  /** Reports whether we want fewer replicas than there are slots up to this one. */
  #isSurplus({ set, ordinal }: GivenPermission, { revision, at }: Commit): boolean {
    if (set === undefined || ordinal === undefined) return false;
    const now = this.#options.history.setByUid(set.uid, viewAt(revision - 1, at));
    return now !== undefined && ordinal >= now.ordinalsStart + now.replicas;
  }

  /** Reports whether the pod was there, and not going, at any time from `since` until just before `commit`. */
  #stood({ namespace, pod, uid }: GivenPermission, commit: Commit, since: Instant): boolean {
    const name = { namespace, name: pod };
    const revision = commit.revision - 1;
    for (const { value } of this.#options.history.podVersions(name, { revision, since })) {
      if (value?.uid === uid && !value.isTerminating) return true;
    }
    return false;
  }

  #evictionComplaint(
    claim: ClaimFacts,
    given: GivenPermission,
    commit: Commit,
  ): string | undefined {
    const { budgets, history } = this.#options;
    const { set, ordinal } = given;
    const first = this.#first.get(claimKey(budgetKey(commit), given.uid, claim)) ?? commit;
    const earliest = budgets.callOf(first)?.startedAt ?? first.at;
    const madeAt = Math.min(Math.max(claim.at, earliest), first.at);
    if (commit.at - madeAt < horizon) {
      return `it may still be used: it was made ${commit.at - madeAt} ms before`;
    }
    if (set === undefined || ordinal === undefined) return undefined;
    const since = knownSince(budgets.callOf(commit), this.#options) ?? commit.at;
    const isDown = history.wasSlotDown(set, ordinal, { since, until: commit });
    return isDown ? 'the pod is not available' : undefined;
  }

  /** Returns what of our own may still take the pod, or takes it later though it was sent before. */
  #underWay(uid: string, commit: Commit): string | undefined {
    const found = (this.#deletions.get(uid) ?? []).find((deletion) => {
      const { sentAt, endedAt, outcome, revision } = deletion;
      if (sentAt >= commit.at) return false;
      if (revision !== undefined) return revision > commit.revision;
      if (typeof outcome === 'number') return endedAt > commit.at && outcome === 200;
      return commit.at - sentAt < horizon;
    });
    if (found === undefined) return undefined;
    return `our deletion of it, sent ${commit.at - found.sentAt} ms before, was under way`;
  }

  #hasTaken(uid: string, { revision: end }: Commit): boolean {
    const deletions = this.#deletions.get(uid) ?? [];
    return deletions.some(({ revision }) => revision !== undefined && revision < end);
  }

  #remember(commit: Commit): void {
    const key = budgetKey(commit);
    const stored = reservationsIn(commit.after);
    for (const old of reservationsIn(commit.before)) {
      if (!stored.some(({ uid }) => uid === old.uid)) this.#first.delete(`${key} ${old.uid}`);
    }
    for (const { uid, claims } of stored) {
      for (const id of [`${key} ${uid}`, ...claims.map((claim) => claimKey(key, uid, claim))]) {
        if (!this.#first.has(id)) this.#first.set(id, commit);
      }
    }
  }
}

function claimKey(ledger: string, uid: string, { by, at, term }: ClaimFacts): string {
  return `${ledger} ${uid} ${by} ${at} ${term}`;
}
