import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Config } from '#config/config.ts';
import type { Client } from '#kubernetes/client.ts';
import type { LeaderElection, LeaderState } from '#kubernetes/leader-election/leader-election.ts';
import { isLeading } from '#kubernetes/leader-election/leader-states.ts';
import { createLeaderElection } from '#kubernetes/leader-election/lease-election.ts';
import { ALL_NAMESPACES } from '#kubernetes/leader-election/lease-record.ts';
import { watchRivals } from '#kubernetes/leader-election/lease-rivals.ts';
import { withoutLease } from '#kubernetes/leader-election/without-lease.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';

/** What the election of a leader goes by. */
export interface ElectionSettings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  /** Names this process; new at every start. */
  readonly identity: string;
  /** The namespaces that are served, as the Lease says it. @default that of the flags */
  readonly scope?: string;
  /** What switches the election off, for people. @default `-leader-election.enabled=false` */
  readonly offBy?: string;
}

/**
 * Returns who of several replicas reconciles.
 *
 * @param client one without a rate limiter: behind a queue the Lease would be lost
 */
export function electionOf(settings: ElectionSettings, client: Client): LeaderElection {
  const { config, clock, log, metrics, identity } = settings;
  const { leaderElection, kubernetes, rollout } = config;
  if (!leaderElection.isEnabled) {
    const { offBy = '-leader-election.enabled=false' } = settings;
    return withoutLease(clock, `Leader election is switched off by ${offBy}`);
  }
  const { leaseDuration, renewDeadline, retryPeriod, resourceName } = leaderElection;
  const { namespace } = kubernetes;
  return createLeaderElection({
    client,
    clock,
    log,
    namespace,
    leaseDuration,
    renewDeadline,
    retryPeriod,
    id: identity,
    name: resourceName,
    scope: scopeOf(settings),
    predecessorHorizon: rollout.predecessorHorizon,
    onRound: deniedVerb(metrics),
  });
}

function scopeOf({ config, scope }: ElectionSettings): string {
  const { namespace } = config.kubernetes;
  return scope ?? (namespace === '' ? ALL_NAMESPACES : namespace);
}

const LEASES = 'leases';

/** Shows which verb on the Lease the Role denies, in place of the one before. */
function deniedVerb(metrics: OperatorMetrics): (denied: string | undefined) => void {
  let shown: string | undefined;
  return (denied) => {
    if (shown !== undefined) metrics.setPermissionRefused(shown, LEASES, false);
    if (denied !== undefined) metrics.setPermissionRefused(denied, LEASES, true);
    shown = denied;
  };
}

/**
 * Takes part in `election` until `signal` aborts, shows whether this process leads, and reports other Leases that are
 * held for the same namespaces.
 */
export async function runElection(
  election: LeaderElection,
  settings: ElectionSettings,
  { client, signal }: { readonly client: Client; readonly signal: AbortSignal },
): Promise<void> {
  const { config, clock, log, metrics } = settings;
  if (!config.leaderElection.isEnabled) return election.run(signal);
  const { namespace } = config.kubernetes;
  const scope = scopeOf(settings);
  const name = config.leaderElection.resourceName;
  const onLook = (names: readonly string[]): void => metrics.setRivalLeases(names);
  const show = (state: LeaderState): void => metrics.setLeader(name, isLeading(state));
  show(election.state);
  const leave = election.onChange(show);
  const onList = (isRefused: boolean): void =>
    metrics.setPermissionRefused('list', LEASES, isRefused);
  const rivals = { client, clock, log, namespace, name, scope, onLook, onList };
  const watching = watchRivals(rivals, signal);
  await Promise.all([election.run(signal), watching]);
  leave();
}
