/** What the invariants make of a namespace of a real cluster: how its records become the history that a judge reads. */
import { type Instant, seconds } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import type { StallStatement } from '#support/invariants/liveness/reasons.ts';
import { type Judgement, judge } from '#support/judge/judge.ts';
import type { FleetCall } from '#support/pods/pod-fleet.ts';
import { worldReasons } from '#support/world/world-reasons.ts';
import { ascribe } from './audit/ascription.ts';
import type { AuditEntry } from './audit/audit.ts';
import type { StoredCommit } from './audit/commit-log.ts';
import type { OperatorRuns } from './operator-runs.ts';

/** What a judgement rests on. */
export interface Evidence {
  readonly namespace: string;
  /** As whom operators work there. */
  readonly user: string;
  /** All that was stored in the namespace. */
  readonly commits: readonly StoredCommit[];
  readonly entries: readonly AuditEntry[];
  readonly operators: Pick<OperatorRuns, 'said' | 'sentAt'>;
  readonly podCalls: readonly FleetCall[];
  /** The rollout group of a set as it is stored; empty where it has none. */
  readonly groupOf: (set: string) => string;
  /** Since when nothing may be written; undefined where that is not asked. */
  readonly quietFrom: Instant | undefined;
  readonly end: Instant;
}

/** After how long what was stored counts as shown to an operator, whose watches nobody sees (D-57). */
const shownAfter = seconds(3);

/** What the judgement rests on; other types have no owner among the invariants. */
const judged: ReadonlySet<string> = new Set([
  'pods',
  'replicatemplates.rollout-operator.grafana.com',
  'serviceaccounts',
  'statefulsets.apps',
]);

/** Judges all that happened in a namespace. */
export function judgeNamespace(evidence: Evidence): Judgement {
  const { user, operators, quietFrom, podCalls, end } = evidence;
  const mine = evidence.commits.filter(({ resource }) => judged.has(resource));
  const { commits, calls, unread } = ascribe(mine, asSent(evidence));
  const judgement = judge(
    { commits, calls, deliveries: [] },
    {
      ours: (name) => name === user,
      statements: operators.said.statements,
      scaleStatements: operators.said.scaleStatements,
      areDeliveriesKnown: false,
      shownAfter,
      stalls: { said: saidStalls(evidence), predicates: worldReasons },
      podCalls,
      ...(quietFrom !== undefined && { quiet: { from: quietFrom } }),
      end,
    },
  );
  return withoutUnread(
    judgement,
    unread.filter((commit) => commit.user === user),
  );
}

/** What a proxy held was received long after it was sent, and is judged by what was known when it was sent. */
function asSent({ entries, operators }: Evidence): readonly AuditEntry[] {
  return entries.map((entry) => {
    const sentAt = operators.sentAt(entry.auditID);
    if (sentAt === undefined) return entry;
    return { ...entry, requestReceivedTimestamp: new Date(sentAt).toISOString() };
  });
}

/** The holds that the logs tell of, by group; those of sets without one belong to nobody. */
function saidStalls({ operators, namespace, groupOf }: Evidence): readonly StallStatement[] {
  return operators.said.holds.map(({ at, set, reason }) => ({
    at,
    namespace,
    group: groupOf(set),
    reason,
    set,
  }));
}

/**
 * What a request that died with its API server asked for nobody knows: that REV-1 finds no uid in it is not judged.
 * All else is, also of these removals: the operator must have stated each of them, by the uid that was removed.
 */
function withoutUnread(judgement: Judgement, unread: readonly Commit[]): Judgement {
  const unknown = new Set(
    unread.map(
      ({ namespace, name, uid, revision }) =>
        `${revision} We removed pod ${namespace}/${name} with uid ${uid} by a request for uid (none)`,
    ),
  );
  const violations = judgement.violations.filter(
    ({ id, revision, message }) => id !== 'REV-1' || !unknown.has(`${revision} ${message}`),
  );
  const note = `Not judged: the preconditions (REV-1) of ${unread.length} removals, whose requests died with the API server.`;
  return { violations, report: () => `${judgement.report()}\n${note}` };
}
