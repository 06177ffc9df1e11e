import { type FiringCase, of, type Series, type SilentCase } from './alert-series.ts';

const phase = 'statefulset_rollout_phase';
const replicas = 'statefulset_rollout_replicas';
const leaked = 'statefulset_rollout_leaked_replicas';
const partialAge = 'statefulset_rollout_partial_age_seconds';
const errors = 'statefulset_rollout_reconcile_errors_total';

/** As a scrape that renames labels has it: the namespace of the rollout is not that of the program. */
const rollout = { exported_namespace: 'kv', name: 'kv-prod' } as const;
const updated = of(replicas, { ...rollout, state: 'updated' });

/** Returns the series of a phase. */
function inPhase(name: string, labels: Readonly<Record<string, string>> = rollout): string {
  return of(phase, { ...labels, phase: name });
}

/** A rollout that goes on for a day. */
export const statefulsetRolloutHealthy: Series = {
  [inPhase('WaitingForReady')]: '1x1500',
  [inPhase('RolloutFailed')]: '0x1500',
  [inPhase('Paused')]: '0x1500',
  [updated]: '0+1x1500',
  [of(leaked, rollout)]: '0x1500',
  [of(errors, rollout)]: '2x1500',
};

/** What becomes of StatefulsetRollouts. Each alert fires here at least once. */
export const statefulsetRolloutFiring: readonly FiringCase[] = [
  {
    alert: 'RolloutOperatorStatefulsetRolloutFailed',
    series: { [inPhase('RolloutFailed')]: '0x5 1x60', [inPhase('RollingOut')]: '1x5 0x60' },
    at: 12,
    severity: 'warning',
    labels: rollout,
    description:
      'StatefulsetRollout kv-prod in kv has failed, and replaces no further pod until its spec is changed.',
  },
  {
    alert: 'RolloutOperatorStatefulsetRolloutFailed',
    when: 'the scrape honours labels, so that the namespace is that of the rollout',
    series: { [inPhase('RolloutFailed', { name: 'kv-prod' })]: '1x60' },
    at: 6,
    severity: 'warning',
    labels: { name: 'kv-prod' },
    description:
      'StatefulsetRollout kv-prod in mimir has failed, and replaces no further pod until its spec is changed.',
  },
  {
    alert: 'RolloutOperatorStatefulsetRolloutStuck',
    when: 'it goes to and fro between two phases',
    series: {
      [inPhase('RollingOut')]: '1 0 1 0 1 0 1x120',
      [inPhase('WaitingForReady')]: '0 1 0 1 0 1 0x120',
      [updated]: '2x130',
    },
    at: 40,
    severity: 'warning',
    labels: rollout,
    description:
      'StatefulsetRollout kv-prod in kv is under way, and no pod was replaced for half an hour.',
  },
  {
    alert: 'RolloutOperatorStatefulsetRolloutStuck',
    when: 'there is no set yet, and no count of pods',
    series: { [inPhase('CreatingStatefulSet')]: '1x60' },
    at: 31,
    severity: 'warning',
    labels: rollout,
    description:
      'StatefulsetRollout kv-prod in kv is under way, and no pod was replaced for half an hour.',
  },
  {
    alert: 'RolloutOperatorStatefulsetRolloutPausedForLong',
    series: { [inPhase('Paused')]: '1x1500' },
    at: 1_441,
    severity: 'info',
    labels: rollout,
    description:
      'StatefulsetRollout kv-prod in kv has old pods, and its spec.pauseRequested is true.',
  },
  {
    alert: 'RolloutOperatorStatefulsetRolloutPartial',
    series: { [of(partialAge, rollout)]: '258000+60x60' },
    at: 40,
    severity: 'info',
    labels: rollout,
    description:
      'StatefulsetRollout kv-prod in kv has been over for 3d 0h 20m 0s, and has left old pods.',
  },
  {
    alert: 'RolloutOperatorVersionLeak',
    series: { [of(leaked, rollout)]: '0x5 2x60' },
    at: 22,
    severity: 'warning',
    labels: rollout,
    description:
      '2 pods of StatefulsetRollout kv-prod in kv were lost, and run the new version although the rollout has not come to them.',
  },
  {
    alert: 'RolloutOperatorStatefulsetRolloutReconcileFailing',
    series: { [of(errors, rollout)]: '0+1x60' },
    at: 25,
    severity: 'warning',
    labels: rollout,
    description: 'Reconciles of StatefulsetRollout kv-prod in kv have kept failing for 15 minutes.',
  },
];

/** Near to an alert, and no reason for it. */
export const statefulsetRolloutSilent: Readonly<Record<string, SilentCase>> = {
  'a failure is answered by another version within four minutes': {
    alert: 'RolloutOperatorStatefulsetRolloutFailed',
    series: { [inPhase('RolloutFailed')]: '0x5 1x3 0x60' },
    at: 10,
  },
  'one pod is replaced every 25 minutes': {
    alert: 'RolloutOperatorStatefulsetRolloutStuck',
    series: { [inPhase('WaitingForReady')]: '1x120', [updated]: '0x24 1x24 2x24 3x24 4x24' },
    at: 110,
  },
  'all of the percentage are new, and nothing changes': {
    alert: 'RolloutOperatorStatefulsetRolloutStuck',
    series: {
      [inPhase('RolloutDone')]: '1x120',
      [inPhase('RollingOut')]: '0x120',
      [updated]: '4x120',
    },
    at: 110,
  },
  'somebody paused the rollout': {
    alert: 'RolloutOperatorStatefulsetRolloutStuck',
    series: {
      [inPhase('Paused')]: '1x120',
      [inPhase('RollingOut')]: '0x120',
      [updated]: '4x120',
    },
    at: 110,
  },
  'a pause ends within the day': {
    alert: 'RolloutOperatorStatefulsetRolloutPausedForLong',
    series: { [inPhase('Paused')]: '1x1400 0 1x98' },
    at: 1_490,
  },
  'a rollout was left partial yesterday': {
    alert: 'RolloutOperatorStatefulsetRolloutPartial',
    series: { [of(partialAge, rollout)]: '86400+60x60' },
    at: 50,
  },
  'the rollout comes to a pod that came back new': {
    alert: 'RolloutOperatorVersionLeak',
    series: { [of(leaked, rollout)]: '0x5 1x10 0x60' },
    at: 20,
  },
  'a reconcile fails now and then': {
    alert: 'RolloutOperatorStatefulsetRolloutReconcileFailing',
    series: { [of(errors, rollout)]: '0x9 1x9 2x9 3x9 4x9' },
    at: 49,
  },
};
