import type { Instant } from '#base/units.ts';
import type { Call, Commit, Delivery } from '#cluster/event-log.ts';
import type { History } from '../history/history.ts';
import type { Removal } from '../history/removal.ts';
import {
  type DisruptionStatement,
  newest,
  type Revisions,
  revisionFor,
} from '../history/statement.ts';
import { Findings, type Invariant, type Violation } from './invariant.ts';

interface Receipt {
  readonly at: Instant;
  readonly revision: number;
  /** The newest revision up to here. */
  readonly top: number;
}

/** What clients had been given, by watch or by an answered read. */
export class Receipts {
  readonly #history: History;
  readonly #watched = new Map<string, Receipt[]>();
  readonly #reads = new Map<string, Instant[]>();

  constructor(history: History) {
    this.#history = history;
  }

  /** Takes in what a watch delivered. */
  delivered(delivery: Delivery): void {
    const { at, revision } = delivery;
    const key = `${delivery.client} ${delivery.resource}`;
    const top = Math.max(revision, this.#watched.get(key)?.at(-1)?.top ?? 0);
    append(this.#watched, key, { at, revision, top });
  }

  /** Returns the newest revision of `resource` that watches had delivered to `client` by `at`; 0 when there was none. */
  shown(client: string, resource: string, at: Instant): number {
    const last = this.#watched.get(`${client} ${resource}`)?.findLast((each) => each.at <= at);
    return last?.top ?? 0;
  }

  /** Takes in a call; only answered reads count. */
  called(call: Call): void {
    const isRead = call.verb === 'get' || call.verb === 'list';
    if (isRead && call.outcome === 200) {
      append(this.#reads, `${call.client} ${call.resource}`, call.endedAt);
    }
  }

  /**
   * Reports whether `client` may have known `resource` up to `revision` at `at`. A read does not record the revision that it
   * answered: it counts as long as that revision had been reached when the read ended.
   */
  hasReached(client: string, wanted: { resource: string; revision: number; at: Instant }): boolean {
    const key = `${client} ${wanted.resource}`;
    for (const { at, revision } of this.#watched.get(key) ?? []) {
      if (at <= wanted.at && revision >= wanted.revision) return true;
    }
    const reads = this.#reads.get(key) ?? [];
    return reads.some((end) => end <= wanted.at && !this.#history.isBeyond(wanted.revision, end));
  }
}

/** What statements are compared with. */
export interface ProofOptions {
  readonly history: History;
  /** Undefined where it is unknown what was delivered; that is not judged then. */
  readonly receipts: Receipts | undefined;
}

/**
 * D-7: each removal is stated; the revisions it rests on had been given to that client before it was sent; the view
 * is no older than its proof; what is stated as newer than a list is; and nothing was sent later than it arrived.
 */
export class StatedProof implements Invariant {
  readonly #options: ProofOptions;
  readonly #findings = new Findings();

  constructor(options: ProofOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onAnswered(removal: Removal, call: Call): void {
    const { commit, statement } = removal;
    const complaint =
      statement === undefined
        ? `without a statement of what it rests on${lateText(removal)}`
        : this.#complaint(statement, { removal, client: call.client });
    if (complaint === undefined) return;
    const message = `We removed pod ${commit.namespace}/${commit.name} ${complaint}`;
    this.#findings.add('D-7', commit, message);
  }

  #complaint(
    statement: DisruptionStatement,
    sent: { readonly removal: Removal; readonly client: string },
  ): string | undefined {
    const { commit } = sent.removal;
    return proofComplaint(statement, { ...this.#options, commit, client: sent.client });
  }
}

/** Returns what is wrong with what `statement` says it rests on; undefined when nothing is. */
export function proofComplaint(
  statement: Omit<DisruptionStatement, 'podUid'>,
  sent: ProofOptions & {
    readonly client: string;
    /** What it led to. */
    readonly commit: Commit;
  },
): string | undefined {
  const views = statement.views ?? statement.proofs;
  if (isOlder(views, statement.proofs)) return 'on a view that is older than its own proof';
  const { receipts, client, commit, history } = sent;
  const wanted = [
    { resource: 'pods', revision: newest(views.pods, views.newerPods) },
    {
      resource: 'statefulsets.apps',
      revision: newest(views.statefulsets, views.newerStatefulsets),
    },
  ];
  const missing = wanted.find((each) => {
    // Within one instant times do not say what came first; that a removal rests on itself they cannot hide.
    if (each.revision >= commit.revision) return true;
    return receipts?.hasReached(client, { ...each, at: statement.sentAt }) === false;
  });
  if (missing !== undefined) {
    return `on revision ${missing.revision} of ${missing.resource}, which client ${client} had not been given`;
  }
  const untrue = laidOver(views).find((each) => !isTrue(each, commit.namespace, history));
  return untrue === undefined
    ? undefined
    : `on revision ${untrue.revision} of ${untrue.type} ${untrue.name}, which it never had, or which its list was not older than`;
}

/** One object that is stated as newer than the list that it is of. */
interface LaidOver {
  readonly type: 'pod' | 'set';
  readonly name: string;
  readonly revision: number;
  /** The revision of the list. */
  readonly listed: number;
}

function laidOver({
  pods,
  statefulsets,
  newerPods = {},
  newerStatefulsets = {},
}: Revisions): readonly LaidOver[] {
  const ofPods = Object.entries(newerPods).map(([name, revision]) => {
    const listed = revisionFor(pods, name.slice(0, Math.max(0, name.lastIndexOf('-'))));
    return { type: 'pod', name, revision, listed } as const;
  });
  const ofSets = Object.entries(newerStatefulsets).map(([name, revision]) => {
    return { type: 'set', name, revision, listed: revisionFor(statefulsets, name) } as const;
  });
  return [...ofPods, ...ofSets];
}

function isTrue(
  { type, name, revision, listed }: LaidOver,
  namespace: string,
  history: History,
): boolean {
  return revision > listed && history.wasStoredAt(type, `${namespace}/${name}`, revision);
}

function lateText({ statementLateBy }: Removal): string {
  return statementLateBy === undefined ? '' : `: the first one follows by ${statementLateBy} ms`;
}

function isOlder(views: Revisions, proofs: Revisions): boolean {
  return (
    newest(views.pods) < newest(proofs.pods) ||
    newest(views.statefulsets) < newest(proofs.statefulsets)
  );
}

function append<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
