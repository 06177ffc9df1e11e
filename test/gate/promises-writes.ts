import { real } from './real-tests.ts';
import { because, reasons, type ShownPromise } from './shown-promise.ts';

/** The safety of who writes what, and when: leaders, fields of others, checks, replicas and reviews. */
export const safetyOfWrites: Readonly<Record<string, ShownPromise>> = {
  'WRIT-1': {
    bugs: {
      'rollout-group': 'lease-not-asked-at-the-send',
      'replica-coordination': 'predecessor-of-a-scaling-not-awaited',
      'zone-aware-update': 'zau-motion-needs-both',
      'phased-rollout': 'phased-predecessor-not-awaited',
      'statefulset-rollout': 'sroll-predecessor-not-awaited',
      'zone-aware-pod-disruption-budget': 'resigned-leader-begins-a-ledger',
      'zone-disruption-budget': 'zdb-late-deletion-not-waited',
    },
    none: because(reasons.anyReplica, 'admission'),
    real: [real.leaders, real.drains],
  },
  'WRIT-2': {
    bugs: {
      'rollout-group': 'predecessor-not-awaited',
      'replica-coordination': 'predecessor-of-a-scaling-not-awaited',
      'zone-aware-update': 'zau-motion-needs-both',
      'phased-rollout': 'phased-lost-partition-not-noted',
      'statefulset-rollout': 'sroll-predecessor-not-awaited',
      'zone-aware-pod-disruption-budget': 'predecessors-always-over',
      'zone-disruption-budget': 'zdb-late-deletion-not-waited',
    },
    none: because(reasons.anyReplica, 'admission'),
    real: [real.leaders, real.drains],
  },
  'SPLIT-1': {
    bugs: {
      'rollout-group': 'lease-not-asked-at-the-send',
      'replica-coordination': 'calls-of-pods-outlive-the-lease',
      'zone-aware-update': 'zau-approves-without-lease',
      'phased-rollout': 'phased-approves-without-lease',
      'statefulset-rollout': 'sroll-goes-on-without-lease',
      'zone-aware-pod-disruption-budget': 'resigned-leader-begins-a-ledger',
    },
    none: because(reasons.anyReplica, 'admission'),
    real: [real.leaders, real.drains],
  },
  'LOST-1': {
    bugs: {
      'rollout-group': 'current-revision-overwrites',
      'replica-coordination': 'replicas-written-untested',
      'zone-aware-update': 'zau-overwrites-status',
      'phased-rollout': 'phased-set-written-blindly',
      'statefulset-rollout': 'sroll-additions-of-others-dropped',
      'zone-aware-pod-disruption-budget': 'ledger-written-over-another',
      'zone-disruption-budget': 'zdb-ledger-written-over-another',
      admission: 'claim-written-over-another',
    },
    none: {},
    real: [real.adopted],
  },
  'LOST-2': {
    bugs: {
      'zone-aware-update': 'zau-overwrites-status',
      'phased-rollout': 'phased-lowered-by-hand-put-back',
      'statefulset-rollout': 'sroll-autoscaler-overruled',
      'zone-aware-pod-disruption-budget': 'newer-ledger-written-over',
      admission: 'entries-of-other-sets-dropped',
    },
    none: {
      ...because(
        'It writes one field, the current revision of a set, which is ours by the rules.',
        'rollout-group',
      ),
      ...because(
        'It writes the replicas of sets that are marked to follow, and the count that they report: both are ours by the rules.',
        'replica-coordination',
      ),
    },
    real: [real.adopted, real.percentScaled],
  },
  'GATE-1': {
    bugs: {
      'zone-aware-update': 'zau-unknown-alarm-passes',
      'phased-rollout': 'phased-plan-two-pods-at-once',
    },
    none: {
      ...because(reasons.noChecks, 'rollout-group', 'statefulset-rollout'),
      ...because(
        reasons.rollsNothing,
        'replica-coordination',
        'zone-aware-pod-disruption-budget',
        'zone-disruption-budget',
        'admission',
      ),
    },
    real: [real.phased, real.zones],
  },
  'GATE-2': {
    bugs: {
      'rollout-group': 'paused-while-deleting-ignored',
      'zone-aware-update': 'zau-share-of-the-zone',
      'phased-rollout': 'phased-pause-forgotten',
      'statefulset-rollout': 'sroll-pin-template-open',
    },
    none: because(
      reasons.rollsNothing,
      'replica-coordination',
      'zone-aware-pod-disruption-budget',
      'zone-disruption-budget',
      'admission',
    ),
    real: [real.paused, real.percent],
  },
  'SCAL-1': {
    bugs: {
      'replica-coordination': 'minimum-time-ends-early',
      'statefulset-rollout': 'sroll-autoscaler-overruled',
      admission: 'scale-of-another-version-passes',
    },
    none: because(
      reasons.noReplicas,
      'rollout-group',
      'zone-aware-update',
      'phased-rollout',
      'zone-aware-pod-disruption-budget',
      'zone-disruption-budget',
    ),
    real: [real.prepared],
  },
  'HOOK-1': {
    bugs: {
      'phased-rollout': 'expression-unchecked',
      'zone-aware-pod-disruption-budget': 'eviction-denied-without-code',
      'zone-disruption-budget': 'zdb-exhausted-budget-ends-a-drain',
      admission: 'scale-of-unnamed-resource',
    },
    none: because(
      reasons.noWebhook,
      'rollout-group',
      'replica-coordination',
      'zone-aware-update',
      'statefulset-rollout',
    ),
    real: [real.denied, real.drains],
  },
};
