import { planNoDownscale } from './plan-no-downscale.ts';
import { planPrepareDownscale } from './plan-prepare-downscale.ts';
import { settledVerdict } from './plan-replica-change.ts';
import type { AdmissionRequest, WebhookFront } from './review.ts';

/** Of the webhook that refuses to lower replicas. */
export const noDownscaleFront: WebhookFront = Object.freeze({
  path: '/admission/no-downscale',
  atSight: (request: AdmissionRequest) => settledVerdict(planNoDownscale(request)),
});

/** Of the webhook that prepares pods. */
export const prepareDownscaleFront: WebhookFront = Object.freeze({
  path: '/admission/prepare-downscale',
  atSight: (request: AdmissionRequest) => settledVerdict(planPrepareDownscale(request)),
});

/** Evictions are never told by the request alone. */
export const podEvictionFront: WebhookFront = Object.freeze({ path: '/admission/pod-eviction' });

/** Budgets are read whole. */
export const zpdbValidationFront: WebhookFront = Object.freeze({
  path: '/admission/zpdb-validation',
});

/** Of all webhooks. */
export const webhookFronts: readonly WebhookFront[] = Object.freeze([
  noDownscaleFront,
  prepareDownscaleFront,
  podEvictionFront,
  zpdbValidationFront,
]);
