/** Evictions of a world: the API server has them reviewed by the operators, as shipped, in virtual time. */

import { podEviction } from '#admission/eviction/pod-eviction.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import { handlersOf } from '#admission/review/review-handler.ts';
import { sharedReads } from '#admission/review/shared-reads.ts';
import { webhookConfigurations } from '#admission/webhook-configuration/webhook-configurations.ts';
import { webhookPaths } from '#admission/webhook-configuration/webhook-paths.ts';
import type { Clock } from '#base/clock.ts';
import { millis, seconds } from '#base/units.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import type { WebhookHandler } from '#cluster/admission/webhook-hosts.ts';
import type { EvictionBudgets } from '#disruption-budget/eviction/eviction-budgets.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import type { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { textAt } from '../objects/json-path.ts';
import { silentLogger } from '../telemetry/silent-logger.ts';
import type { World } from './world.ts';
import { NAMESPACE } from './world-group.ts';
import type { OperatorRun } from './world-operator.ts';

/** What one operator reviews evictions with. */
export interface ReviewerParts {
  readonly budgets: EvictionBudgets;
  readonly clock: Clock;
  readonly transport: Transport;
  readonly metrics: BudgetMetrics;
}

/** Returns how an operator answers what is posted to `/admission/pod-eviction`. */
export function evictionReviewer(parts: ReviewerParts): WebhookHandler {
  const { budgets, clock, transport, metrics } = parts;
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  const webhook = podEviction({
    budgets,
    client: sharedReads(client, clock),
    clock,
    log: silentLogger,
    metrics,
    limits: { reads: new ConcurrencyLimit(100), judgements: new ConcurrencyLimit(2_000) },
  });
  const options = { clock, log: silentLogger, requestTimeout: seconds(10) };
  const handler = handlersOf([webhook], options).get(webhookPaths.podEviction);
  return async ({ path, body }) => {
    if (handler === undefined) throw new Error(`Nobody answers on ${path}`);
    const [, query = ''] = path.split('?');
    const caller = { query, begun: clock.monotonic(), onLeave: () => undefined };
    return handler({ contentType: 'application/json', body: Buffer.from(body), caller });
  };
}

/**
 * Installs the shipped configuration of evictions, which the Service leads to one of the operators that are alive: the one
 * that `choose` says. @default the one that was started first
 */
export async function reviewEvictions(
  world: World,
  choose: (alive: readonly OperatorRun[]) => OperatorRun | undefined = ([first]) => first,
): Promise<void> {
  world.cluster.webhooks.register(`rollout-operator.${NAMESPACE}.svc`, (call) => {
    const operator = choose(world.operators.filter(({ isAlive }) => isAlive));
    if (operator === undefined) return Promise.reject(new Error('connection refused'));
    return operator.reviewEviction(call);
  });
  const shipped = webhookConfigurations({ namespace: NAMESPACE }).filter((each) =>
    textAt(each, 'metadata', 'name')?.startsWith('pod-eviction-'),
  );
  for (const body of shipped) {
    await world.run(world.admin.create(webhookTypes.validating, {}, { body }));
  }
}

/** Evicts `pod` as a drainer does. @returns the code of the answer, and its message where it is a refusal */
export async function evict(world: World, pod: string, query = ''): Promise<string> {
  const path = `/api/v1/namespaces/${NAMESPACE}/pods/${pod}/eviction${query}`;
  const metadata = { name: pod, namespace: NAMESPACE };
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata };
  try {
    await world.run(world.admin.raw({ method: 'POST', path, body }));
    return '201';
  } catch (error) {
    const { status, message } = error as { readonly status?: number; readonly message?: string };
    return `${status ?? 'none'} ${message ?? ''}`;
  }
}
