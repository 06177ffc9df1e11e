import type { Logger } from '#base/logger.ts';
import { type Access, canI } from '#kubernetes/access-review.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { OperatorMetrics } from '#telemetry/operator-metrics.ts';

/** What the Role permits beyond what every peer's Role does (D-1). */
export interface Permissions {
  readonly canCreateEvents: boolean;
  /** Else budgets of the kind ZoneAwarePodDisruptionBudget are no part of the view of a group (D-51). */
  readonly canListBudgets: boolean;
}

/** What {@link askPermissions} needs. */
export interface PermissionPorts {
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
 * shown that it knows our Role, for what it denied: until its RBAC caches are filled, an API server that has just
 * started denies everything.
 */
export async function askPermissions(
  ports: PermissionPorts,
  signal: AbortSignal,
): Promise<Permissions> {
  const [canCreateEvents, canListBudgets] = await Promise.all([
    may(ports, { verb: 'create', group: '', resource: 'events' }, signal),
    may(ports, { verb: 'list', group: budgets.group, resource: budgets.plural }, signal),
  ]);
  return { canCreateEvents, canListBudgets };
}

const budgets = resourceTypes.zoneAwarePodDisruptionBudgets;

async function may(
  { client, log, metrics, namespace, proven }: PermissionPorts,
  wanted: Pick<Access, 'verb' | 'group' | 'resource'>,
  signal: AbortSignal,
): Promise<boolean> {
  const { verb, group, resource } = wanted;
  const access = { ...wanted, namespace };
  let answer = await canI(client, access, { signal });
  if (answer.kind === 'denied') {
    await proven;
    answer = await canI(client, access, { signal });
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
