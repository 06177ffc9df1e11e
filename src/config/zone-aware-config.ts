import type { Config } from './config.ts';
import { deepFreeze } from './deep-freeze.ts';
import { FlagSet } from './flags/go-flags.ts';
import { horizonFlag, managerFlags, webhookFlags } from './flags/manager-flags.ts';
import { type QueryConfig, queryConfig, queryFlags } from './flags/query-flags.ts';
import {
  type ManagerConfig,
  managerConfig,
  type OwnNames,
  sharedConfig,
  tlsFlags,
  type WebhookFiles,
  webhooksOf,
} from './manager-config.ts';
import { exit, type Outcome, parseArguments } from './outcome.ts';

/** The variables that the zone-aware-controllers-for-k8s read, but for those of AWS. */
export interface ZoneAwareEnvironment {
  readonly CONTROLLERS?: string | undefined;
  readonly KUBECONFIG?: string | undefined;
  readonly TMPDIR?: string | undefined;
}

/** All that the command line and the environment decide under this name; deeply frozen. */
export interface ZoneAwareConfig extends ManagerConfig {
  /** Which servers queries may be sent to. */
  readonly queries: QueryConfig;
  /** Whether ZoneAwareUpdates are carried out. */
  readonly hasUpdates: boolean;
  /** Where evictions are reviewed; undefined: ZoneDisruptionBudgets are left alone. */
  readonly webhooks: WebhookFiles | undefined;
}

/** What the objects are called that the program itself names. */
export const zoneAwareNames: OwnNames = Object.freeze({
  /** Replicas of the peer take it as well (OPS-8). */
  lease: 'cebbe7b1.amp.aws',
  secret: 'zone-aware-controllers-self-signed-certificate',
  /** The manifests of the peer have the API server call it (OPS-9). */
  service: 'zone-aware-controllers-webhook-service',
});

/** Reads the command line of the zone-aware-controllers-for-k8s, by Go's rules (OPS-6, P-2). */
export function readZoneAwareConfig(
  args: readonly string[],
  env: ZoneAwareEnvironment,
): Outcome<ZoneAwareConfig> {
  const set = new FlagSet('zone-aware-controllers');
  const flags = {
    ...managerFlags(set, {
      probes: { host: undefined, port: 8_081 },
      metrics: { address: { host: undefined, port: 8_080 }, isSecure: false },
      isElected: false,
    }),
    ...webhookFlags(set, zoneAwareNames.service),
    predecessorHorizon: horizonFlag(set),
    ...queryFlags(set),
  };
  const outcome = parseArguments(set, args);
  if (outcome.kind === 'exit') return outcome;
  const { CONTROLLERS = 'zdb,zau' } = env;
  // The peer looks for the two names wherever they are, and runs both where nothing is said.
  const hasBudgets = CONTROLLERS.includes('zdb');
  const hasUpdates = CONTROLLERS.includes('zau');
  if (!hasBudgets && !hasUpdates) return exit(1, `${withoutControllers(CONTROLLERS)}\n`);
  const webhooks = hasBudgets ? webhooksOf(flags, env) : undefined;
  const config = deepFreeze({
    ...managerConfig(flags, env),
    queries: queryConfig(flags),
    hasUpdates,
    webhooks,
  });
  return { kind: 'run', config, ignored: outcome.ignored };
}

function withoutControllers(names: string): string {
  return `Cannot run the controllers ${JSON.stringify(names)}: CONTROLLERS must name zdb, zau or both`;
}

/** Returns what this name shares with the others, as {@link sharedConfig}. @throws {Error} one sentence, where it cannot be run */
export function sharedZoneAwareConfig(config: ZoneAwareConfig, namespace: string): Config {
  const own = { ...zoneAwareNames, namespace };
  return sharedConfig(config, own, tlsFlags(config.webhooks, own));
}
