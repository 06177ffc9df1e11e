import type { Instant } from '#base/units.ts';
import type { View } from './history.ts';

/** One revision for all sets, or one per StatefulSet name (lists per set, D-4). */
export type RevisionBySet = number | Readonly<Record<string, number>>;

/** Revisions of the two resource types that a decision rests on. */
export interface Revisions {
  readonly pods: RevisionBySet;
  readonly statefulsets: RevisionBySet;
}

/** What the operator says about one disruptive request, as it logs it (D-7); the test harness passes it on. */
export interface DisruptionStatement {
  /** The uid precondition of the request. */
  readonly podUid: string;
  /** When the request was handed to the socket (D-3, D-7). */
  readonly sentAt: Instant;
  /** The clock reading of the plan. @default sentAt */
  readonly decidedAt?: Instant;
  /** The revisions whose proof makes the view young enough. */
  readonly proofs: Revisions;
  /** The newest revisions that the view contained: never older than the proofs. @default proofs */
  readonly views?: Revisions;
}

/** What the operator's log event `deleting pod` of the time `sentAt` says about one disruptive request (D-7). */
export function statementOf(
  sentAt: Instant,
  fields: Readonly<Record<string, unknown>>,
): DisruptionStatement {
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  return {
    podUid: text('uid'),
    sentAt,
    proofs: { pods: Number(text('proof_pods')), statefulsets: Number(text('proof_statefulsets')) },
    views: {
      pods: revisions(text('view_pods')),
      statefulsets: revisions(text('view_statefulsets')),
    },
  };
}

function revisions(text: string): RevisionBySet {
  if (!text.includes('=')) return Number(text);
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [set = '', revision = ''] = part.split('=');
      return [set, Number(revision)];
    }),
  );
}

/** What a {@link DisruptionStatement} claims to have seen. */
export function viewOf(statement: DisruptionStatement): View {
  const revisions = statement.views ?? statement.proofs;
  return {
    pods: (set) => revisionFor(revisions.pods, set),
    sets: (set) => revisionFor(revisions.statefulsets, set),
    now: statement.decidedAt ?? statement.sentAt,
  };
}

/** The oldest revision in `revisions`. */
export function oldest(revisions: RevisionBySet): number {
  return typeof revisions === 'number' ? revisions : Math.min(...Object.values(revisions));
}

/** The newest revision in `revisions`. */
export function newest(revisions: RevisionBySet): number {
  return typeof revisions === 'number' ? revisions : Math.max(...Object.values(revisions));
}

// A set that a statement leaves out was not seen at all: nothing is known of it at revision 0.
function revisionFor(revisions: RevisionBySet, set: string): number {
  return typeof revisions === 'number' ? revisions : (revisions[set] ?? 0);
}

/** All statements of a run, by pod. */
export class StatementBook {
  readonly #byPod = new Map<string, DisruptionStatement[]>();

  constructor(statements: Iterable<DisruptionStatement> = []) {
    for (const statement of statements) this.add(statement);
  }

  /** Takes in one more statement; any order. */
  add(statement: DisruptionStatement): void {
    const known = this.#byPod.get(statement.podUid);
    if (known === undefined) this.#byPod.set(statement.podUid, [statement]);
    else known.push(statement);
  }

  /** By how many milliseconds the earliest statement about `podUid` follows `at`; undefined when none does. */
  lateBy(podUid: string, at: Instant): number | undefined {
    const late = (this.#byPod.get(podUid) ?? []).map(({ sentAt }) => sentAt - at);
    return late.length === 0 ? undefined : Math.min(...late);
  }

  /** The last statement about `podUid` that was sent no later than `at`; undefined when there is none. */
  find(podUid: string, at: Instant): DisruptionStatement | undefined {
    let best: DisruptionStatement | undefined;
    for (const statement of this.#byPod.get(podUid) ?? []) {
      if (statement.sentAt > at) continue;
      if (best === undefined || statement.sentAt >= best.sentAt) best = statement;
    }
    return best;
  }
}
