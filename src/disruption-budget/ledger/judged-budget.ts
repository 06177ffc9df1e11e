import { assertNever } from '#base/assert-never.ts';
import type { Budget, Limit, Mode } from '#disruption/budget.ts';
import type { BudgetSpan, BudgetSpec, MaxUnavailable } from '../api.ts';
import type { KnownBudget } from '../spec/known-budgets.ts';

/** By what is known of each budget, of which there is one object a uid and generation. */
const judged = new WeakMap<KnownBudget, Budget>();

/**
 * Returns `known`, which says `spec`, as verdicts are made by it. The same object for the same uid and generation: what was
 * worked out under it holds while it is the same.
 */
export function judgedBudget(known: KnownBudget, spec: BudgetSpec): Budget {
  const made = judged.get(known);
  if (made !== undefined) return made;
  const { namespace, name, uid } = known;
  const budget: Budget = Object.freeze({
    ref: Object.freeze({ kind: 'ZoneAwarePodDisruptionBudget', namespace, name, uid }),
    limit: limitOf(spec.maxUnavailable),
    mode: modeOf(spec.span),
  });
  judged.set(known, budget);
  return budget;
}

function limitOf(max: MaxUnavailable): Limit {
  switch (max.kind) {
    case 'count':
      return { kind: 'count', count: max.count };
    case 'percentage':
      return { kind: 'percent-of-own-set', percent: max.percentage };
    default:
      return assertNever(max);
  }
}

function modeOf(span: BudgetSpan): Mode {
  switch (span.kind) {
    case 'zone':
      return { kind: 'zones-of-sets' };
    case 'partition':
      return {
        kind: 'partitions',
        partitionOf: remembering((podName) => {
          const partition = span.partitionOf(podName);
          return partition.kind === 'partition' ? partition.name : undefined;
        }),
        crossZoneDelay: span.crossZoneEvictionDelay,
      };
    default:
      return assertNever(span);
  }
}

/** Names of pods with a remembered partition; hardly any cluster has more slots. */
const most = 10_000;

/** Returns `partitionOf` that matches each name once: names stay, and are asked for whenever a pod changes. */
function remembering(
  partitionOf: (podName: string) => string | undefined,
): (podName: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (podName) => {
    if (known.has(podName)) return known.get(podName);
    if (known.size >= most) known.clear();
    const partition = partitionOf(podName);
    known.set(podName, partition);
    return partition;
  };
}
