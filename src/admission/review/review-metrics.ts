import type { MetricsRegistry } from '#telemetry/metrics.ts';
import { type Doubt, doubts, type ReviewDecision } from './review.ts';

/** What became of a review: let through, denied by a rule or by a pod, or denied in doubt. */
export type ReviewOutcome = 'Allowed' | 'Denied' | Doubt;

/** Counts a review by the `route` of its webhook. */
export type CountReview = (route: string, outcome: ReviewOutcome) => void;

/** Returns what became of a review whose answer is `decision`. @param isLate whether its time was over before the answer */
export function reviewOutcome(decision: ReviewDecision, isLate: boolean): ReviewOutcome {
  if (decision.isAllowed) return 'Allowed';
  const { doubt = 'Denied' } = decision;
  return isLate && doubt === 'DependencyFailed' ? 'DeadlineExceeded' : doubt;
}

/** Declares in `registry` what became of reviews; every series is there from the start, so that the first ones show in a rate. */
export function reviewCounter(registry: MetricsRegistry, routes: readonly string[]): CountReview {
  const reviews = registry.counter({
    name: 'rollout_operator_admission_reviews_total',
    help: 'Reviews by their outcome: allowed, denied, or denied because it could not be determined whether they are allowed.',
    labels: ['route', 'outcome'],
  });
  for (const route of routes) {
    for (const outcome of ['Allowed', 'Denied', ...doubts]) reviews.add({ route, outcome }, 0);
  }
  return (route, outcome) => reviews.add({ route, outcome });
}
