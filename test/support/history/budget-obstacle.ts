import type { Instant } from '#base/units.ts';
import {
  type Asker,
  type BudgetFacts,
  type BudgetRule,
  isSelected,
  limitFor,
  type Partitions,
  slotNames,
} from './budget-facts.ts';
import { ordinalIn, type SetFacts } from './facts.ts';

import { type GivenPermission, setOfPod } from './given-permissions.ts';
import type { History, View } from './history.ts';

/** Whether slot `ordinal` of `set` counts as unavailable. */
export type Disturbed = (set: SetFacts, ordinal: number) => boolean;

/** A pod that a user wants, and all that may prevent it. */
export interface Wish {
  readonly history: History;
  readonly budget: BudgetFacts;
  readonly namespace: string;
  readonly pod: string;
  readonly by: Asker;
  /** Permissions under way under the same budget. */
  readonly open: readonly GivenPermission[];
  /** The moments that the decision may rest on; what prevents it does in all of them. */
  readonly views: readonly View[];
  readonly isDown: Disturbed;
  readonly now: Instant;
}

interface Judged extends Wish {
  readonly rule: BudgetRule;
  readonly own: SetFacts;
  /** The other sets that the budget selects, in all views. */
  readonly others: readonly SetFacts[];
  readonly limit: number;
}

/**
 * Returns what the budget has against `wish`, for people; undefined where it has nothing. Plain and slow, from the rules
 * alone: the operator's own judgement is held against it.
 */
export function obstacleTo(wish: Wish): string | undefined {
  const { budget, views, history, namespace, pod, by } = wish;
  const { rule } = budget;
  if (rule === undefined) return `budget ${budget.name} cannot be read`;
  const selected = views.map((view) => setsOf(wish, view));
  const [sets = []] = selected;
  if (selected.every((list) => list.length < 2)) return 'it selects no two sets';
  const owns = views.flatMap((view) => setOfPod(history, { namespace, podName: pod }, view) ?? []);
  const [own] = owns;
  if (own === undefined) return 'the pod is of no set';
  const isGoverned = selected.some((list) => list.some(({ uid }) => uid === own.uid));
  if (!isGoverned) return `it does not select ${own.name}`;
  const limit = Math.max(...owns.map((set) => limitFor(rule, set, by)));
  if (limit === 0) return 'it lets no pod go';
  const others = sets.filter(
    ({ uid }) => uid !== own.uid && selected.every((list) => list.some((each) => each.uid === uid)),
  );
  const judged = { ...wish, rule, own, others, limit };
  const { partitions } = rule;
  return partitions === undefined ? zoneObstacle(judged) : partitionObstacle(judged, partitions);
}

/** Returns the sets that the budget selects by their own labels. */
function setsOf({ history, namespace, budget }: Wish, view: View): readonly SetFacts[] {
  return history
    .setsIn(namespace, view)
    .filter(({ labels }) => isSelected(labels, budget.selector));
}

function zoneObstacle(judged: Judged): string | undefined {
  const { others, own, by, pod, limit } = judged;
  for (const other of others) {
    const [slot] = disturbedIn(judged, other);
    if (slot !== undefined) return `${slot} of ${other.name}, another zone, is not available`;
  }
  if (by === 'scale-down') return undefined;
  const mine = disturbedIn(judged, own).filter((slot) => slot !== pod);
  if (mine.length < limit) return undefined;
  return `with ${mine.join(', ')} the limit ${limit} of ${own.name} is spent`;
}

/** Names of the slots of `set` that count: given away, or unavailable. */
function disturbedIn({ open, isDown }: Judged, set: SetFacts): readonly string[] {
  const given = open.filter((each) => each.set?.uid === set.uid).map(({ pod }) => pod);
  const slots = slotNames(set).filter((slot) => {
    const ordinal = ordinalIn(slot, set.name);
    return ordinal !== undefined && (given.includes(slot) || isDown(set, ordinal));
  });
  return slots;
}

function partitionObstacle(judged: Judged, partitions: Partitions): string | undefined {
  const { others, pod, limit, by } = judged;
  const partition = partitions.of(pod);
  if (partition === undefined) return `${pod} is of no partition`;
  const found = others.flatMap((other) => {
    const replicas = slotNames(other).filter((slot) => partitions.of(slot) === partition);
    if (replicas.length === 0) return by === 'scale-down' ? [] : [`no replica in ${other.name}`];
    const disturbed = disturbedIn(judged, other);
    return replicas.filter(
      (slot) => disturbed.includes(slot) || !isOldEnough(judged, other, { slot, partitions }),
    );
  });
  if (found.length < limit) return undefined;
  return `with ${found.join(', ')} the limit ${limit} of partition ${partition} is spent`;
}

/** Reports whether the pod in `slot` has been ready for longer than the delay, by its own word or by what happened. */
function isOldEnough(
  { history, namespace, views, now }: Judged,
  set: SetFacts,
  { slot, partitions }: { readonly slot: string; readonly partitions: Partitions },
): boolean {
  const { delay } = partitions;
  if (delay === 0) return true;
  return views.some((view) => {
    const revision = view.pods(set.name, slot);
    // A view that was never given the pods of the set says nothing of them.
    if (revision === 0) return true;
    const pod = history.pod(namespace, slot, revision);
    if (pod === undefined) return false;
    const told = Math.max(pod.readySince ?? -Infinity, pod.notedReadyAt ?? -Infinity);
    const seen = history.readySince(pod, revision);
    return [told, seen].some((since) => Number.isFinite(since) && now - Number(since) > delay);
  });
}
