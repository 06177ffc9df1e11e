import { isNotFound } from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { callOf } from './deadline.ts';
import { denyForFailure } from './dependency.ts';
import { type AdmissionRequest, allow, type Verdict, type Webhook } from './review.ts';
import { webhookPaths } from './webhook-paths.ts';

const budgets: ResourceType = Object.freeze({
  group: 'rollout-operator.grafana.com',
  version: 'v1',
  plural: 'zoneawarepoddisruptionbudgets',
  kind: 'ZoneAwarePodDisruptionBudget',
  isNamespaced: true,
});

const notBuilt = 'this version of the operator does not have zone-aware pod disruption budgets';

/**
 * Stands in for the eviction webhook until budgets are built (D-13): where a namespace has no budget, there is nothing
 * to guard; where it has one, or that cannot be found out, no pod is evicted.
 */
export function podEvictionWithoutBudgets(client: Client): Webhook {
  return {
    path: webhookPaths.podEviction,
    patience: undefined,
    async judge(request, context) {
      const { namespace } = request;
      try {
        const query = { namespace, limit: 1 };
        const { items } = await client.list(budgets, query, callOf(context.deadline()));
        return items.length === 0 ? allow : evictionRefused(request);
      } catch (error) {
        if (isNotFound(error)) return allow;
        return denyForFailure(`${evictionText(request)}: the budgets cannot be listed`, error);
      }
    },
  };
}

function evictionText({ namespace, name }: AdmissionRequest): string {
  return `eviction of pod ${namespace}/${name} is not allowed`;
}

function evictionRefused(request: AdmissionRequest): Verdict {
  return {
    isAllowed: false,
    code: 429,
    message: `${evictionText(request)}: the namespace has a ZoneAwarePodDisruptionBudget, and ${notBuilt}`,
    causes: [{ reason: 'CapabilityNotBuilt', message: notBuilt }],
  };
}

/** Stands in for the webhook that checks budgets until they are built: a budget that nobody keeps is not accepted. */
export function budgetsNotAccepted(): Webhook {
  return {
    path: webhookPaths.zpdbValidation,
    patience: undefined,
    judge: () => ({
      isAllowed: false,
      code: 403,
      message: `the ZoneAwarePodDisruptionBudget is not accepted, as ${notBuilt}`,
      causes: [{ reason: 'CapabilityNotBuilt', message: notBuilt }],
    }),
  };
}
