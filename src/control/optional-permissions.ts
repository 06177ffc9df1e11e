import type { Logger } from '#base/logger.ts';
import {
  type Access,
  type AccessAnswer,
  canI,
  canList,
} from '#kubernetes/authorization/access-review.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';

/** What the Role permits beyond what every peer's Role does (D-1). */
export interface Permissions {
  readonly canCreateEvents: boolean;
  /** Else budgets of the kind ZoneAwarePodDisruptionBudget are no part of the view of a group (D-51). */
  readonly canListBudgets: boolean;
}

/** What {@link askPermissions} needs. */
export interface OptionalPermissionPorts {
  readonly client: Client;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  /** Where the verbs are used; empty for all namespaces. */
  readonly namespace: string;
  /** Resolves when the API server has answered requests that our Role permits, so that it knows our Role. */
  readonly proven: Promise<void>;
}

/**
 * Asks once for each verb that the Role of an existing installation may lack (D-1), and once more, when the server has
 * shown that it knows our Role, for what it denied or could not decide: until its RBAC caches are filled, an API server that
 * has just started denies everything, these questions too.
 */
export async function askPermissions(
  ports: OptionalPermissionPorts,
  signal: AbortSignal,
): Promise<Permissions> {
  const { client, namespace } = ports;
  const reviewed = () => canI(client, { ...events, namespace }, { signal });
  const listed = () => canList(client, { type: budgets, namespace }, { signal });
  const [canCreateEvents, canListBudgets] = await Promise.all([
    may(ports, { ...events, ask: reviewed }, signal),
    may(ports, { ...listing, ask: listed }, signal),
  ]);
  return { canCreateEvents, canListBudgets };
}

type Wanted = Pick<Access, 'verb' | 'group' | 'resource'>;

const budgets = resourceTypes.zoneAwarePodDisruptionBudgets;
const events: Wanted = { verb: 'create', group: '', resource: 'events' };
const listing: Wanted = { verb: 'list', group: budgets.group, resource: budgets.plural };

async function may(
  { log, metrics, namespace, proven }: OptionalPermissionPorts,
  { verb, group, resource, ask }: Wanted & { readonly ask: () => Promise<AccessAnswer> },
  signal: AbortSignal,
): Promise<boolean> {
  let answer = await ask();
  if (answer.kind !== 'allowed') {
    await proven;
    answer = await ask();
  }
  if (answer.kind === 'allowed') return true;
  const fields = { verb, resource, api_group: group, namespace, why: answer.reason };
  if (answer.kind === 'unknown') {
    if (!signal.aborted) {
      log.warn('cannot find out whether a verb is permitted; it is tried', fields);
    }
    return true;
  }
  log.warn('the Role does not permit an optional verb; it is not used', fields);
  metrics.setPermissionRefused(verb, resource, true);
  return false;
}
