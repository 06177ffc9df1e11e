import type { Instant } from '#base/units.ts';
import type { View } from './history.ts';

/** One revision for all sets, or one per StatefulSet name (lists per set, D-4). */
export type RevisionBySet = number | Readonly<Record<string, number>>;

/** Revisions of the two resource types that a decision rests on. */
export interface Revisions {
  readonly pods: RevisionBySet;
  readonly statefulsets: RevisionBySet;
  /** Pods that were seen newer than that, by name: laid over a list from a cache (D-49). */
  readonly newerPods?: Readonly<Record<string, number>>;
  readonly newerStatefulsets?: Readonly<Record<string, number>>;
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
  /** The term of the Lease in which it is sent; absent where there is no Lease. */
  readonly term?: string;
}

/** What the operator says about one write of replicas that takes pods away (D-7), as it logs it. */
export interface ScaleStatement extends Omit<DisruptionStatement, 'podUid'> {
  readonly setUid: string;
  readonly namespace: string;
  readonly setName: string;
  readonly from: number;
  readonly to: number;
  /** The client that sends it, as deliveries name it; undefined where that is unknown. */
  readonly client?: string;
}

/** What is known of a log event besides its fields. */
export interface Utterance {
  readonly at: Instant;
  readonly namespace: string;
  readonly client?: string;
}

/**
 * Returns what the operator's log event `scaling statefulset` says about one write of replicas; undefined where it does not
 * say what it rests on.
 */
export function scaleStatementOf(
  { at, namespace, client }: Utterance,
  fields: Readonly<Record<string, unknown>>,
): ScaleStatement | undefined {
  const text = textOf(fields);
  if (text('uid') === '' || text('view_pods') === '') return undefined;
  return {
    ...rests(at, fields),
    setUid: text('uid'),
    namespace,
    setName: text('statefulset') || text('name'),
    from: Number(text('from') || text('currentReplicas')),
    to: Number(text('to') || text('replicas')),
    ...(client !== undefined && { client }),
  };
}

/** Returns what the operator's log event `deleting pod` of the time `sentAt` says about one disruptive request (D-7). */
export function statementOf(
  sentAt: Instant,
  fields: Readonly<Record<string, unknown>>,
): DisruptionStatement {
  return { ...rests(sentAt, fields), podUid: textOf(fields)('uid') };
}

function rests(
  sentAt: Instant,
  fields: Readonly<Record<string, unknown>>,
): Pick<DisruptionStatement, 'sentAt' | 'proofs' | 'views' | 'term'> {
  const text = textOf(fields);
  return {
    sentAt,
    ...(text('term') !== '' && { term: text('term') }),
    proofs: { pods: Number(text('proof_pods')), statefulsets: Number(text('proof_statefulsets')) },
    views: {
      pods: revisions(text('view_pods')),
      statefulsets: revisions(text('view_statefulsets')),
      ...(text('view_pods_newer') !== '' && { newerPods: byName(text('view_pods_newer')) }),
      ...(text('view_statefulsets_newer') !== '' && {
        newerStatefulsets: byName(text('view_statefulsets_newer')),
      }),
    },
  };
}

function textOf(fields: Readonly<Record<string, unknown>>): (name: string) => string {
  return (name) => {
    const value = fields[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
}

function revisions(text: string): RevisionBySet {
  return text.includes('=') ? byName(text) : Number(text);
}

function byName(text: string): Readonly<Record<string, number>> {
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [name = '', revision = ''] = part.split('=');
      return [name, Number(revision)];
    }),
  );
}

/** Returns what a {@link DisruptionStatement} claims to have seen. */
export function viewOf(statement: Omit<DisruptionStatement, 'podUid'>): View {
  const revisions = statement.views ?? statement.proofs;
  const { newerPods = {}, newerStatefulsets = {} } = revisions;
  return {
    pods: (set, pod) => newerPods[pod] ?? revisionFor(revisions.pods, set),
    sets: (set) => newerStatefulsets[set] ?? revisionFor(revisions.statefulsets, set),
    now: statement.decidedAt ?? statement.sentAt,
  };
}

/** Returns the oldest revision in `revisions`. */
export function oldest(revisions: RevisionBySet): number {
  return typeof revisions === 'number' ? revisions : Math.min(...Object.values(revisions));
}

/** Returns the newest revision in `revisions`, and in what was laid over them. */
export function newest(
  revisions: RevisionBySet,
  newer: Readonly<Record<string, number>> = {},
): number {
  const all = typeof revisions === 'number' ? [revisions] : Object.values(revisions);
  return Math.max(...all, ...Object.values(newer));
}

/** Returns the revision for `set` in `revisions`; 0 for one that is left out: it was not seen at all. */
export function revisionFor(revisions: RevisionBySet, set: string): number {
  return typeof revisions === 'number' ? revisions : (revisions[set] ?? 0);
}

/** All statements of a run, by pod. */
export class StatementBook {
  readonly #byPod = new Map<string, DisruptionStatement[]>();
  /** The place of each in the order in which they were made. */
  readonly #order = new Map<DisruptionStatement, number>();

  constructor(statements: Iterable<DisruptionStatement> = []) {
    for (const statement of statements) this.add(statement);
  }

  /** Takes in one more statement; any order, but those of one instant in the order in which they were made. */
  add(statement: DisruptionStatement): void {
    this.#order.set(statement, this.#order.size);
    const known = this.#byPod.get(statement.podUid);
    if (known === undefined) this.#byPod.set(statement.podUid, [statement]);
    else known.push(statement);
  }

  /**
   * Compares by when requests left: less than 0 when what `one` states left before what `other` states. Of one millisecond
   * only the order of the statements shows that: the server receives, and ends, what several connections bring in any order.
   */
  compare(one: DisruptionStatement, other: DisruptionStatement): number {
    return one.sentAt - other.sentAt || this.#placeOf(one) - this.#placeOf(other);
  }

  /** Reports whether what `one` states was sent before what `other` states. */
  isSentBefore(one: DisruptionStatement, other: DisruptionStatement): boolean {
    return this.compare(one, other) < 0;
  }

  /** Returns by how many milliseconds the earliest statement about `podUid` follows `at`; undefined when none does. */
  lateBy(podUid: string, at: Instant): number | undefined {
    const late = (this.#byPod.get(podUid) ?? []).map(({ sentAt }) => sentAt - at);
    return late.length === 0 ? undefined : Math.min(...late);
  }

  /** Returns the statements of the same instant as {@link find} has, in the order in which they were made; empty without any. */
  findAll(podUid: string, at: Instant): readonly DisruptionStatement[] {
    const sentAt = this.find(podUid, at)?.sentAt;
    return (this.#byPod.get(podUid) ?? []).filter((each) => each.sentAt === sentAt);
  }

  /** Returns the last statement about `podUid` that was sent no later than `at`; undefined when there is none. */
  find(podUid: string, at: Instant): DisruptionStatement | undefined {
    let best: DisruptionStatement | undefined;
    for (const statement of this.#byPod.get(podUid) ?? []) {
      if (statement.sentAt > at) continue;
      if (best === undefined || statement.sentAt >= best.sentAt) best = statement;
    }
    return best;
  }

  #placeOf(statement: DisruptionStatement): number {
    return this.#order.get(statement) ?? 0;
  }
}
