import type { Logger } from '#base/logger.ts';
import type { Config } from '#config/config.ts';
import type { Permissions } from '#control/optional-permissions.ts';
import type { Client } from '#kubernetes/client.ts';
import type { LeaderElection } from '#kubernetes/leader-election.ts';

/** What {@link tellMissingRules} goes by. */
export interface RoleParts {
  readonly client: Client;
  readonly permitted: Permissions;
  readonly election: Pick<LeaderElection, 'state' | 'onChange'>;
}

/**
 * Tells once which rules the Role lacks, each line with YAML that can be pasted as it stands; ends with `signal`. A Role
 * that permits Events, budgets and the Lease is taken for whole, so that nothing is asked under it: a peer's lacks one.
 */
export async function tellMissingRules(
  { config, log }: { readonly config: Config; readonly log: Logger },
  { client, permitted, election }: RoleParts,
  signal: AbortSignal,
): Promise<void> {
  const isLacking = !permitted.canCreateEvents || !permitted.canListBudgets;
  if (!isLacking && !config.leaderElection.isEnabled) return;
  if (!isLacking) await untilWithoutLease(election, signal);
  if (signal.aborted) return;
  // Loaded here only: most starts need none of it.
  const { missingRules } = await import('#operator-missing-rules.ts');
  const { inNamespace, inCluster } = await missingRules(client, config, signal);
  if (signal.aborted) return;
  const { namespace } = config.kubernetes;
  for (const rules of inNamespace) log.warn('the Role lacks rules', { namespace, rules });
  for (const rules of inCluster) log.warn('the ClusterRole lacks rules', { rules });
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
