import type { Millis } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { valueAt } from '../objects/json-path.ts';
import { ordinalIn, type PodFacts, podFacts, type SetFacts, setFacts } from './facts.ts';
import { type History, latestView, type View, viewAt } from './history.ts';
import {
  type DisruptionStatement,
  type ScaleStatement,
  type StatementBook,
  viewOf,
} from './statement.ts';
import { isOutdated, type Seen, type Stuck, stuckness } from './stuck.ts';

/** A commit by which we removed a pod: a first deletion, or a further one of a terminating pod. */
export interface Removal {
  readonly commit: Commit;
  /** The pod as it was. */
  readonly pod: PodFacts;
  /** The set that owns the pod, as `view` shows it; undefined when none does. */
  readonly set: SetFacts | undefined;
  /** The pod's slot; undefined without an owner or with a foreign name. */
  readonly ordinal: number | undefined;
  /** r(d): what the decision rests on; without a statement the state just before the commit. */
  readonly view: View;
  readonly statement: DisruptionStatement | undefined;
  /** Without a statement: by how many milliseconds one of this pod follows, where one does. */
  readonly statementLateBy: number | undefined;
  /** Why it need not wait for the other zones: the view showed this pod as stuck (D-48). */
  readonly stuck: Stuck | undefined;
  /** Whether it takes an available slot away: it costs one, and was available at any time of the last minute (D-57). */
  readonly takes: boolean;
  /** Whether it costs one of the limit: a set owns the pod, and the view did not show it as stuck (D-48). */
  readonly costs: boolean;
}

/** A commit by which we lowered the replicas of a set (D-17). */
export interface ScaleDown {
  readonly commit: Commit;
  /** The set before. */
  readonly set: SetFacts;
  /** What it rests on; undefined where the operator did not say. */
  readonly statement: ScaleStatement | undefined;
  /** The slots that go and had an available pod within the last minute (D-57). */
  readonly ordinals: readonly number[];
}

/** Where removals are read from: `history` must end just before the commit in hand. */
export interface Evidence {
  readonly history: History;
  readonly statements: StatementBook;
  readonly scaleStatements: readonly ScaleStatement[];
  /** `-rollout.stuck-after`. @default 30 min */
  readonly stuckAfter?: Millis;
}

/** Returns the removal of a pod that `commit` stores; undefined when it removes none. */
export function removalOf(commit: Commit, evidence: Evidence): Removal | undefined {
  if (commit.resource !== 'pods' || commit.before === undefined || !isRemoving(commit)) {
    return undefined;
  }
  const pod = podFacts(commit.before);
  const statement = evidence.statements.find(commit.uid, commit.at);
  const statementLateBy =
    statement === undefined ? evidence.statements.lateBy(commit.uid, commit.at) : undefined;
  const before = viewAt(commit.revision - 1, commit.at);
  const view = statement === undefined ? before : viewOf(statement);
  const set = ownerOf(pod, evidence.history, view);
  const ordinal = set === undefined ? undefined : ordinalIn(pod.name, set.name);
  const price = priceOf({ pod, set, ordinal, commit, view }, evidence);
  return { commit, pod, set, ordinal, view, statement, statementLateBy, ...price };
}

/** Returns what the removal takes away. */
function priceOf(
  removed: Pick<Removal, 'pod' | 'set' | 'ordinal' | 'commit' | 'view'>,
  evidence: Evidence,
): Pick<Removal, 'stuck' | 'takes' | 'costs'> {
  const { pod, set, ordinal, commit, view } = removed;
  if (set === undefined) return { stuck: undefined, takes: false, costs: false };
  const stuck = seenStuck(pod, set, { ...evidence, view });
  const costs = stuck === undefined;
  const wasAvailable =
    ordinal !== undefined && evidence.history.wasSlotAvailable(set, ordinal, commit.at);
  return { stuck, costs, takes: costs && wasAvailable };
}

// A set that is gone, or not yet in the view, still owns its pods: what we take away counts all the same.
function ownerOf(pod: PodFacts, history: History, view: View): SetFacts | undefined {
  if (pod.controllerUid === undefined) return undefined;
  return (
    history.setByUid(pod.controllerUid, view) ??
    history.setByUid(pod.controllerUid, latestView(view.now))
  );
}

// Only what the view really showed as stuck is free: a pod that it did not contain is unknown (D-48).
function seenStuck(pod: PodFacts, set: SetFacts, seen: Seen): Stuck | undefined {
  const found = seen.history.pod(pod.namespace, pod.name, seen.view.pods(set.name, pod.name));
  if (found?.uid !== pod.uid || !isOutdated(found, set)) return undefined;
  return stuckness(found, seen);
}

/**
 * Reports whether a commit begins a removal. A deletion at once is two commits: the pod is shown without grace, and that is
 * the removal; then it goes.
 */
function isRemoving({ verb, before, after }: Commit): boolean {
  if (verb === 'delete') return !hasNoGrace(before);
  if (verb !== 'update' || after === undefined || !podFacts(after).isTerminating) return false;
  const wasTerminating = before !== undefined && podFacts(before).isTerminating;
  return !wasTerminating || (hasNoGrace(after) && !hasNoGrace(before));
}

function hasNoGrace(pod: Commit['before']): boolean {
  if (pod === undefined || !podFacts(pod).isTerminating) return false;
  return valueAt(pod, 'metadata', 'deletionGracePeriodSeconds') === 0;
}

/** Returns the lowering of replicas that `commit` stores; undefined when it lowers none. */
export function scaleDownOf(commit: Commit, evidence: Evidence): ScaleDown | undefined {
  if (commit.resource !== 'statefulsets.apps' || commit.verb !== 'update') return undefined;
  if (commit.before === undefined || commit.after === undefined) return undefined;
  const set = setFacts(commit.before);
  const wanted = setFacts(commit.after).replicas;
  if (wanted >= set.replicas) return undefined;
  const ordinals: number[] = [];
  for (let index = wanted; index < set.replicas; index += 1) {
    const ordinal = set.ordinalsStart + index;
    if (evidence.history.wasSlotAvailable(set, ordinal, commit.at)) ordinals.push(ordinal);
  }
  const statement = evidence.scaleStatements.findLast(
    ({ setUid, to, sentAt }) => setUid === set.uid && to === wanted && sentAt <= commit.at,
  );
  return { commit, set, statement, ordinals };
}
