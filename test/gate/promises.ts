/**
 * Which planted bug shows each promise of docs/rules/promises.md for each kind, and which test on a real control plane shows it;
 * and for each method by which promises are shown, what applies it.
 */
import { liveness } from './promises-liveness.ts';
import { safetyOfPods } from './promises-safety.ts';
import { safetyOfWrites } from './promises-writes.ts';
import type { OpenCell, ShownMethod, ShownPromise } from './shown-promise.ts';

export { type Kind, kinds, type ShownPromise } from './shown-promise.ts';

/** All under "Safety" and "Liveness and economy", by id. */
export const promises: Readonly<Record<string, ShownPromise>> = {
  ...safetyOfPods,
  ...safetyOfWrites,
  ...liveness,
};

const sweep = 'test/simulation/reference-sweep.test.ts';
const fuzz = 'test/integration/admission/admission-fuzz.test.ts';
const underBudgets = 'test/integration/disruption-budget';

/** All under "How they are shown", by id. */
export const methods: Readonly<Record<string, ShownMethod>> = {
  'SWEEP-1': { bug: 'no-open-requests', by: sweep },
  'SWEEP-2': { bug: 'predecessor-not-awaited', by: sweep },
  'SIM-1': { bug: undefined, by: 'npm run do check:imports' },
  'SIM-5': { bug: undefined, by: 'test/simulation/schedules.test.ts' },
  'E2E-2': { bug: undefined, by: 'npm run do test:real' },
  'LOAD-3': {
    bug: 'eviction-denied-without-code',
    by: `${underBudgets}/hostile-budget-faults.test.ts`,
  },
  'LOAD-4': { bug: undefined, by: 'test/integration/admission/replaced-replicas.test.ts' },
  'LOAD-5': { bug: undefined, by: `${underBudgets}/hostile-budget-flood.test.ts` },
  'FUZZ-1': { bug: 'object-without-kind-by-its-labels', by: fuzz },
  'FUZZ-2': { bug: 'scale-of-unnamed-resource', by: fuzz },
};

/** What no test shows, so that no bug could be planted for it. */
export const open: readonly OpenCell[] = [
  {
    promise: 'REV-1',
    kind: 'zone-aware-update',
    why: 'Its tests pass when deletions name no uid: in none of them a pod is replaced while a deletion of it is on its way. A test that delays a deletion of a step, has the pod deleted meanwhile, and expects the successor to stay would show it.',
  },
  {
    promise: 'REV-1',
    kind: 'phased-rollout',
    why: 'Its tests pass when deletions name no uid: in none of them a pod is replaced while its deletion by a rollback is on its way. A test that delays that deletion, has the pod deleted meanwhile, and expects the successor to stay would show it.',
  },
  {
    promise: 'SPLIT-1',
    kind: 'zone-disruption-budget',
    why: 'In no test a replica that answers evictions under it is halted. One that is halted after it began a ledger, or between its look and its write, and goes on when another leads, would show it.',
  },
  {
    promise: 'LOST-2',
    kind: 'zone-disruption-budget',
    why: 'In no test its ledger was written by a newer program. The same test as for a ZoneAwarePodDisruptionBudget would show it.',
  },
];
