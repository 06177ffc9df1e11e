import { real } from './real-tests.ts';
import { because, reasons, type ShownPromise } from './shown-promise.ts';

/** Liveness and economy. */
export const liveness: Readonly<Record<string, ShownPromise>> = {
  'LIVE-1': {
    bugs: {
      'rollout-group': 'settling-pod-not-looked-at-again',
      'replica-coordination': 'returned-reference-not-read',
      'zone-aware-update': 'zau-budget-of-none-binds-rollouts',
      'phased-rollout': 'phased-step-without-end',
      'statefulset-rollout': 'sroll-unanswered-eviction-not-looked-at',
      'zone-aware-pod-disruption-budget': 'asker-in-the-gap-is-forgotten',
      'zone-disruption-budget': 'zdb-status-never-looks-again',
    },
    none: because(reasons.answersOnly, 'admission'),
    real: [real.rolled, real.drains, real.zones, real.percent],
  },
  'LIVE-2': {
    bugs: {
      'rollout-group': 'slow-deletion-not-looked-at',
      'replica-coordination': 'refused-scale-down-not-told',
      'zone-aware-update': 'zau-rival-goes-on',
      'phased-rollout': 'phased-last-pod-not-named',
      'statefulset-rollout': 'sroll-spent-budget-not-named',
      'zone-aware-pod-disruption-budget': 'faults-looked-for-only-while-there-are-some',
      'zone-disruption-budget': 'zdb-status-of-a-lost-ledger',
    },
    none: because(
      'Nothing waits at a webhook: whoever is denied hears why in the answer, see HOOK-1.',
      'admission',
    ),
    real: [real.percentRefused, real.drains],
  },
  'LIVE-3': {
    bugs: {
      'rollout-group': 'stuck-replacement-keeps-the-turn',
      'replica-coordination': 'stuck-surplus-of-two-zones-waits',
      'zone-aware-update': 'zau-pod-of-no-node-waits-for-a-zone',
      'phased-rollout': 'phased-plan-reverted-pods-stay',
      'statefulset-rollout': 'sroll-broken-pods-stay',
      'zone-aware-pod-disruption-budget': 'budget-made-again-ignored',
      'zone-disruption-budget': 'zdb-ledger-keeps-first-spec',
      admission: 'undo-of-prepared-pods-forgotten',
    },
    none: {},
    real: [real.broken, real.percentBroken],
  },
  'LIVE-4': {
    bugs: {
      'zone-aware-pod-disruption-budget': 'evictor-without-end',
      'zone-disruption-budget': 'zdb-unused-eviction-kept',
    },
    none: because(
      reasons.noEvictor,
      'rollout-group',
      'replica-coordination',
      'zone-aware-update',
      'phased-rollout',
      'statefulset-rollout',
      'admission',
    ),
    real: [real.drains],
  },
  'QUIE-1': {
    bugs: {
      'rollout-group': 'current-revision-written-each-pass',
      'replica-coordination': 'pods-cancelled-for-ever',
      'zone-aware-update': 'zau-status-written-again',
      'phased-rollout': 'phased-status-written-again',
      'statefulset-rollout': 'sroll-status-written-again',
      'zone-aware-pod-disruption-budget': 'closed-ledger-tidies-on',
      'zone-disruption-budget': 'zdb-status-written-each-time',
    },
    none: because(
      'Its webhooks write for a review alone, which is a change from outside.',
      'admission',
    ),
    real: [real.prepared],
  },
  'QUIE-2': {
    bugs: {
      'rollout-group': 'no-refusals',
      'replica-coordination': 'refused-scaling-repeated-at-once',
      'zone-aware-update': 'zau-status-written-again',
      'phased-rollout': 'phased-status-fought-over',
      'statefulset-rollout': 'sroll-contest-answered-at-once',
      'zone-aware-pod-disruption-budget': 'one-write-a-request',
      'zone-disruption-budget': 'zdb-contest-answered-each-time',
      admission: 'lost-swap-tried-at-once',
    },
    none: {},
    real: [real.phased, real.drains],
  },
  'CRASH-1': {
    bugs: {
      'rollout-group': 'group-of-a-large-set-planned',
      'replica-coordination': 'follower-of-any-size-planned',
      'zone-aware-update': 'zau-lost-write-unhandled',
      'phased-rollout': 'phased-large-set-planned',
      'statefulset-rollout': 'sroll-refused-record-unhandled',
      'zone-aware-pod-disruption-budget': 'flags-end-a-repetition',
      'zone-disruption-budget': 'zdb-every-budget-looked-at',
      admission: 'pipelining-without-bound',
    },
    none: {},
    real: [real.leaders, real.drains],
  },
};
