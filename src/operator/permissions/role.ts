import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import type { Config } from '#config/config.ts';
import type { Permissions } from '#control/optional-permissions.ts';
import { budgetPermissions } from '#disruption-budget/permissions.ts';
import type { Permission } from '#kubernetes/authorization/permission.ts';
import type { Client } from '#kubernetes/client.ts';
import type { LeaderElection } from '#kubernetes/leader-election/leader-election.ts';
import { withMissingFile } from '#telemetry/missing-file.ts';
import type * as MissingRules from './missing-rules.ts';
import { permissionsOf } from './permissions.ts';

/** What {@link tellMissingRules} goes by. */
export interface RoleParts {
  readonly client: Client;
  readonly permitted: Permissions;
  /** Whether there are budgets in view, which a Role must permit to obey. */
  readonly hasBudgets: () => boolean;
  readonly election: Pick<LeaderElection, 'state' | 'onChange'>;
  /** What the capabilities take that run along with groups, in a Role of their own. */
  readonly resources: readonly Permission[];
}

/**
 * Logs once which rules the Role lacks, each line with YAML that can be pasted as it stands; ends with `signal`. A Role
 * that permits Events, budgets and the Lease is taken for whole, so that nothing is asked under it but what obeying budgets
 * takes where there are any, and what runs along with groups, which are in Roles of their own: a peer's lacks one of the three.
 */
export async function tellMissingRules(
  { config, log }: { readonly config: Config; readonly log: Logger },
  { client, permitted, hasBudgets, election, resources }: RoleParts,
  signal: AbortSignal,
): Promise<void> {
  const tell = async (permissions: readonly Permission[]): Promise<void> => {
    if (signal.aborted || permissions.length === 0) return;
    const missingRules = await asker(log);
    if (missingRules === undefined) return;
    const asked = { config, permissions };
    const { inNamespace, inCluster } = await missingRules(client, asked, signal);
    if (signal.aborted) return;
    const { namespace } = config.kubernetes;
    for (const rules of inNamespace) log.warn('the Role lacks rules', { namespace, rules });
    for (const rules of inCluster) log.warn('the ClusterRole lacks rules', { rules });
  };
  const isLacking = !permitted.canCreateEvents || !permitted.canListBudgets;
  if (!isLacking) {
    await tell([...(hasBudgets() ? budgetPermissions : []), ...resources]);
    if (!config.leaderElection.isEnabled) return;
    await untilWithoutLease(election, signal);
  }
  // What was reported above is not reported again.
  const usual = permissionsOf(config, { hasBudgets: isLacking && hasBudgets() });
  await tell(isLacking ? [...usual, ...resources] : usual);
}

/** Returns what asks which rules are missing, which most starts do not need; undefined, and logs why, where it cannot be loaded. */
async function asker(log: Logger): Promise<typeof MissingRules.missingRules | undefined> {
  try {
    const { missingRules } = await import('./missing-rules.ts').catch(withMissingFile);
    return missingRules;
  } catch (error) {
    log.warn('cannot find out which rules the Role lacks', { err: errorOf(error) });
    return undefined;
  }
}

/** Resolves when this process leads without a Lease, as its Role denies one, or when `signal` aborts. */
async function untilWithoutLease(
  election: RoleParts['election'],
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = (): void => {
    if (signal.aborted || election.state.kind === 'unavailable') resolve();
  };
  const leave = election.onChange(look);
  signal.addEventListener('abort', look, { once: true });
  look();
  await promise;
  leave();
  signal.removeEventListener('abort', look);
}
