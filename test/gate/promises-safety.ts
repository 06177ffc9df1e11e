import { real } from './real-tests.ts';
import { because, reasons, type ShownPromise } from './shown-promise.ts';

/** What the order of zones, limits and revisions is shown by. */
const pods: Readonly<Record<string, ShownPromise>> = {
  'EXCL-1': {
    bugs: {
      'rollout-group': 'conflict-asks-for-no-look',
      'replica-coordination': 'half-answered-scaling-forgotten',
      'zone-aware-update': 'zau-zone-of-cached-node',
      'phased-rollout': 'phased-rollback-asks-no-budget',
      'zone-aware-pod-disruption-budget': 'round-counts-nothing-of-itself',
      'zone-disruption-budget': 'zdb-eviction-not-recorded',
      admission: 'deleted-claim-forgotten',
    },
    none: because(reasons.noZones, 'statefulset-rollout'),
    real: [real.rolled, real.drains, real.zones],
  },
  'EXCL-2': {
    bugs: {
      'rollout-group': 'no-freshness',
      'replica-coordination': 'never-ready-pods-shrink-freely',
      'zone-aware-update': 'zau-loss-in-mid-step-ignored',
      'phased-rollout': 'phased-view-not-proven',
      'zone-aware-pod-disruption-budget': 'given-is-not-judged',
      'zone-disruption-budget': 'zdb-zone-of-cached-node',
      admission: 'pods-of-another-owner-counted',
    },
    none: because(reasons.noZones, 'statefulset-rollout'),
    real: [real.leaders, real.drains],
  },
  'MAXU-1': {
    bugs: {
      'rollout-group': 'no-open-requests',
      'zone-aware-update': 'zau-own-write-not-awaited',
      'phased-rollout': 'phased-step-not-available',
      'statefulset-rollout': 'sroll-leaving-takes-no-room',
      'zone-aware-pod-disruption-budget': 'limit-of-a-budget-kept',
      'zone-disruption-budget': 'zdb-ledger-keeps-first-spec',
    },
    none: {
      ...because(reasons.noLimit, 'replica-coordination'),
      ...because(reasons.anyNumber, 'admission'),
    },
    real: [real.rolled, real.zones, real.percent],
  },
  'MAXU-2': {
    bugs: {
      'rollout-group': 'min-ready-seconds-ignored',
      'zone-aware-update': 'zau-spec-not-proven',
      'phased-rollout': 'phased-lost-pod-lets-go',
      'statefulset-rollout': 'sroll-ignores-unavailable',
      'zone-aware-pod-disruption-budget': 'own-zone-ignored',
      'zone-disruption-budget': 'zdb-own-zone-ignored',
    },
    none: {
      ...because(reasons.noLimit, 'replica-coordination'),
      ...because(reasons.anyNumber, 'admission'),
    },
    real: [real.broken],
  },
  'REV-1': {
    bugs: {
      'rollout-group': 'group-deletes-any-incarnation',
      'statefulset-rollout': 'sroll-evicts-any-incarnation',
      'zone-aware-pod-disruption-budget': 'successor-of-a-pod-evicted',
      'zone-disruption-budget': 'zdb-successor-of-a-pod-evicted',
    },
    none: because(reasons.namesNoPod, 'replica-coordination', 'admission'),
    real: [real.leaders, real.drains],
  },
  'REV-2': {
    bugs: {
      'rollout-group': 'observed-generation-ignored',
      'zone-aware-update': 'zau-unobserved-spec-believed',
      'phased-rollout': 'phased-rollback-though-not-wanted',
      'statefulset-rollout': 'sroll-evicts-any-incarnation',
    },
    none: because(
      reasons.noRevisions,
      'replica-coordination',
      'zone-aware-pod-disruption-budget',
      'zone-disruption-budget',
      'admission',
    ),
    real: [real.takenBack],
  },
  'REV-3': {
    bugs: {
      'rollout-group': 'pod-taken-again-on-an-old-target',
      'zone-aware-update': 'zau-own-write-not-awaited',
      'phased-rollout': 'phased-rollback-before-the-block',
      'statefulset-rollout': 'sroll-evicts-any-incarnation',
    },
    none: because(
      reasons.noRevisions,
      'replica-coordination',
      'zone-aware-pod-disruption-budget',
      'zone-disruption-budget',
      'admission',
    ),
    real: [real.leaders],
  },
};

/** What budgets are shown by. */
const budgets: Readonly<Record<string, ShownPromise>> = {
  'BUDG-1': {
    bugs: {
      'rollout-group': 'reservation-after-the-deletion',
      'replica-coordination': 'scale-down-asks-no-budget',
      'zone-aware-update': 'zau-zone-budgets-not-asked',
      'phased-rollout': 'phased-budget-not-asked-at-the-send',
      'statefulset-rollout': 'sroll-evicts-before-persisting',
      'zone-aware-pod-disruption-budget': 'ledger-in-memory-only',
      'zone-disruption-budget': 'zdb-eviction-not-recorded',
    },
    none: because(reasons.noBudget, 'admission'),
    real: [real.drains],
  },
  'BUDG-2': {
    bugs: {
      'rollout-group': 'send-without-permission',
      'replica-coordination': 'scale-down-asks-no-budget',
      'zone-aware-update': 'zau-mildest-of-several-budgets',
      'phased-rollout': 'phased-return-asks-once',
      'statefulset-rollout': 'sroll-pin-of-another-set-uncounted',
      'zone-aware-pod-disruption-budget': 'slot-counted-twice',
      'zone-disruption-budget': 'zdb-one-of-two-budgets-asked',
    },
    none: because(reasons.noBudget, 'admission'),
    real: [real.budgetOfTwo, real.drains, real.zones],
  },
  'BUDG-3': {
    bugs: {
      'rollout-group': 'no-budget-look',
      'replica-coordination': 'scale-down-asks-no-budget',
      'zone-aware-update': 'zau-begun-step-not-in-new-ledger',
      'phased-rollout': 'phased-budget-not-asked-at-the-send',
      'zone-aware-pod-disruption-budget': 'repeat-on-an-old-ledger',
      'zone-disruption-budget': 'zdb-race-of-two-zones-admitted',
    },
    none: {
      ...because(
        'A StatefulsetRollout takes nothing from a ledger: it evicts, and the webhook of the budget writes that down.',
        'statefulset-rollout',
      ),
      ...because(reasons.noBudget, 'admission'),
    },
    real: [real.drains],
  },
  'BUDG-4': {
    bugs: {
      'rollout-group': 'own-intent-ends-by-time',
      'replica-coordination': 'scale-down-ends-with-another-pod',
      'zone-aware-update': 'zau-own-intent-voided',
      'phased-rollout': 'phased-sent-pod-forgotten',
      'statefulset-rollout': 'sroll-pin-lowers-beside-released',
      'zone-aware-pod-disruption-budget': 'reservation-ends-with-readiness',
      'zone-disruption-budget': 'zdb-late-deletion-not-waited',
    },
    none: because(reasons.noBudget, 'admission'),
    real: [real.drains],
  },
  'BUDG-5': {
    bugs: {
      'zone-aware-update': 'zau-dry-run-deletes',
      'phased-rollout': 'phased-dry-run-writes',
      'zone-aware-pod-disruption-budget': 'judged-dry-run-reserves',
      'zone-disruption-budget': 'zdb-dry-run-of-a-request-records',
      admission: 'dry-run-of-a-scale-calls-pods',
    },
    none: because(
      reasons.nobodyAsks,
      'rollout-group',
      'replica-coordination',
      'statefulset-rollout',
    ),
    real: [real.drains],
  },
};

/** The safety of what is taken away: zones, limits, revisions and budgets. */
export const safetyOfPods: Readonly<Record<string, ShownPromise>> = { ...pods, ...budgets };
