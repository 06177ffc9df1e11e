import type { Because } from '#base/because.ts';
import type { Instant, Millis } from '#base/units.ts';
import { millis, minutes } from '#base/units.ts';
import type { BudgetCounts, BudgetPod, BudgetSnapshot, IntOrPercent } from './views.ts';

/** How long an evicted pod may take to show its deletion before its disruption is given back (PD-2, PD-3). */
const DELETION_TIMEOUT = minutes(2);

/** Reasons of Events on budgets and pods (PD-1…PD-3). */
export type BudgetReason =
  | 'CalculateExpectedPodCountFailed'
  | 'NoPods'
  | 'NotDeleted'
  | 'UnmanagedPods';

/** An Event to write; on the budget, unless it names a pod. */
export interface BudgetNote extends Because<BudgetReason> {
  readonly type: 'Normal' | 'Warning';
  readonly pod?: BudgetPod;
}

/** What the status of a budget should be. */
export interface BudgetPlan {
  readonly status:
    | {
        readonly kind: 'counted';
        readonly counts: BudgetCounts;
        readonly disruptedPods: ReadonlyMap<string, Instant>;
      }
    /** The expected count is unknown: nothing may be disrupted (fail safe). */
    | { readonly kind: 'failed'; readonly message: string };
  readonly notes: readonly BudgetNote[];
  /** When to look again though nothing changes. */
  readonly requeueAfter: Millis | undefined;
}

interface Expectation {
  readonly expectedPods: number;
  readonly desiredHealthy: number;
}

/** Returns what the budget allows now (PD-1…PD-3). */
export function planBudget(snapshot: BudgetSnapshot, now: Instant): BudgetPlan {
  const { pods } = snapshot;
  const notes: BudgetNote[] = [];
  if (pods.length === 0) {
    notes.push({ type: 'Normal', reason: 'NoPods', message: 'No matching pods found' });
  }
  if (needsScale(snapshot) && pods.some(({ controller }) => controller === undefined)) {
    notes.push({ type: 'Warning', reason: 'UnmanagedPods', message: UNMANAGED });
  }
  const expectation = expectationOf(snapshot);
  if (typeof expectation === 'string') {
    const message = `Failed to calculate the number of expected pods: ${expectation}`;
    notes.push({ type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message });
    return { status: { kind: 'failed', message: expectation }, notes, requeueAfter: undefined };
  }
  const disruption = openDisruptions(snapshot, now);
  const currentHealthy = pods.filter(
    ({ name, isReady, isTerminating }) => isReady && !isTerminating && !disruption.open.has(name),
  ).length;
  const spare = currentHealthy - expectation.desiredHealthy;
  const disruptionsAllowed = expectation.expectedPods <= 0 ? 0 : Math.max(0, spare);
  const counts = { currentHealthy, disruptionsAllowed, ...expectation };
  return {
    status: { kind: 'counted', counts, disruptedPods: disruption.open },
    notes: [...notes, ...disruption.notes],
    requeueAfter: disruption.recheckAfter,
  };
}

const UNMANAGED =
  'Pods selected by this PodDisruptionBudget were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.';

/** Reports whether the expected count comes from the controllers of the pods. */
export function needsScale({ budget }: Pick<BudgetSnapshot, 'budget'>): boolean {
  return budget.maxUnavailable !== undefined || typeof budget.minAvailable === 'string';
}

/** Returns what the budget wants of how many pods; a text says why that is unknown. */
function expectationOf(snapshot: BudgetSnapshot): Expectation | string {
  const { maxUnavailable, minAvailable } = snapshot.budget;
  if (maxUnavailable === undefined && typeof minAvailable === 'number') {
    return { expectedPods: snapshot.pods.length, desiredHealthy: minAvailable };
  }
  if (!needsScale(snapshot)) return { expectedPods: 0, desiredHealthy: 0 };
  const expectedPods = expectedScale(snapshot);
  if (typeof expectedPods === 'string') return expectedPods;
  if (maxUnavailable !== undefined) {
    const unavailable = scaled(maxUnavailable, expectedPods);
    return { expectedPods, desiredHealthy: Math.max(0, expectedPods - unavailable) };
  }
  return { expectedPods, desiredHealthy: scaled(minAvailable ?? 0, expectedPods) };
}

/** Returns a count of pods; percentages are rounded up, unlike those of a StatefulSet (FT-32). */
function scaled(value: IntOrPercent, of: number): number {
  if (typeof value === 'number') return value;
  return Math.ceil((Number.parseInt(value, 10) * of) / 100);
}

function expectedScale({ pods, replicas }: BudgetSnapshot): number | string {
  const counted = new Map<string, number>();
  for (const { name, controller } of pods) {
    if (controller === undefined) continue;
    const count = replicas.get(controller.uid);
    if (count === undefined) return `found no controllers for pod "${name}"`;
    counted.set(controller.uid, count);
  }
  return [...counted.values()].reduce((sum, count) => sum + count, 0);
}

interface OpenDisruptions {
  readonly open: ReadonlyMap<string, Instant>;
  readonly notes: readonly BudgetNote[];
  readonly recheckAfter: Millis | undefined;
}

/** Returns disruptions whose pods do not show them yet (PD-3). */
function openDisruptions({ budget, pods }: BudgetSnapshot, now: Instant): OpenDisruptions {
  const open = new Map<string, Instant>();
  const notes: BudgetNote[] = [];
  let recheckAfter: Millis | undefined;
  for (const pod of pods) {
    const at = budget.disruptedPods.get(pod.name);
    if (at === undefined || pod.isTerminating) continue;
    const left = at + DELETION_TIMEOUT - now;
    if (left < 0) {
      const message = `Pod was expected by PDB ${budget.namespace}/${budget.name} to be deleted but it wasn't`;
      notes.push({ type: 'Warning', reason: 'NotDeleted', message, pod });
      continue;
    }
    open.set(pod.name, at);
    if (recheckAfter === undefined || left < recheckAfter) recheckAfter = millis(left + 1);
  }
  return { open, notes, recheckAfter };
}
