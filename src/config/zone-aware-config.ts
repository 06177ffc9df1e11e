import type { Millis } from '#base/units.ts';
import type { Config } from './config.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { BindAddress } from './flags/bind-address.ts';
import type { Flag } from './flags/go-flags.ts';
import { FlagSet } from './flags/go-flags.ts';
import {
  horizonFlag,
  type OwnPhasedFlags,
  ownPhasedFlags,
  type PhasedRolloutFlags,
  webhookFlags,
} from './flags/phased-flags.ts';
import {
  type FlagWithoutEffect,
  logOf,
  tlsFlags,
  type WebhookFiles,
  webhooksOf,
  withoutEffect,
} from './phased-config.ts';
import { readConfig } from './read-config.ts';

/** The variables that the zone-aware-controllers-for-k8s read, but for those of AWS. */
export interface ZoneAwareEnvironment {
  readonly CONTROLLERS?: string | undefined;
  readonly KUBECONFIG?: string | undefined;
  readonly TMPDIR?: string | undefined;
}

/** All that the command line and the environment decide under this name; deeply frozen. */
export interface ZoneAwareConfig {
  readonly log: Config['log'];
  /** Undefined: inside the cluster. */
  readonly kubeconfig: string | undefined;
  /** Undefined: not served. */
  readonly metrics: (BindAddress & { readonly isSecure: boolean }) | undefined;
  /** Undefined: not served. */
  readonly probes: BindAddress | undefined;
  readonly isElected: boolean;
  readonly predecessorHorizon: Millis;
  /** Whether ZoneAwareUpdates are carried out. */
  readonly hasUpdates: boolean;
  /** Where evictions are reviewed; undefined: ZoneDisruptionBudgets are left alone. */
  readonly webhooks: WebhookFiles | undefined;
  /** Flags that were given, and what becomes of them: nothing. */
  readonly withoutEffect: readonly FlagWithoutEffect[];
}

/** What the command line asks for: run, or print `stderr` and exit with `code`. */
export type ZoneAwareOutcome =
  | {
      readonly kind: 'run';
      readonly config: ZoneAwareConfig;
      /** The first argument that is no flag, and all that follow. */
      readonly ignored: readonly string[];
    }
  | { readonly kind: 'exit'; readonly code: 0 | 1 | 2; readonly stderr: string };

interface ZoneAwareFlags
  extends OwnPhasedFlags,
    Pick<PhasedRolloutFlags, 'webhookPort' | 'isSelfSigned' | 'dnsName'> {
  readonly predecessorHorizon: Flag<Millis>;
}

/** What the objects are called that the program itself names. */
export const zoneAwareNames = Object.freeze({
  /** The name of the Lease, which replicas of the peer take as well (OPS-8). */
  lease: 'cebbe7b1.amp.aws',
  /** The name of the Secret of our own certificate. */
  secret: 'zone-aware-controllers-self-signed-certificate',
  /** The name of the Service that the manifests of the peer have the API server call (OPS-9). */
  service: 'zone-aware-controllers-webhook-service',
});

/** Reads the command line of the zone-aware-controllers-for-k8s, by Go's rules (OPS-6, P-2). */
export function readZoneAwareConfig(
  args: readonly string[],
  env: ZoneAwareEnvironment,
): ZoneAwareOutcome {
  const set = new FlagSet('zone-aware-controllers');
  const own = ownPhasedFlags(set, {
    probes: { host: undefined, port: 8_081 },
    metrics: { address: { host: undefined, port: 8_080 }, isSecure: false },
    isElected: false,
  });
  const flags = {
    ...own,
    ...webhookFlags(set, zoneAwareNames.service),
    predecessorHorizon: horizonFlag(set),
  };
  const outcome = set.parse(args);
  if (outcome.kind === 'help') return { kind: 'exit', code: 0, stderr: set.usage() };
  if (outcome.kind === 'refused') {
    return { kind: 'exit', code: 2, stderr: `${outcome.reason}\n${set.usage()}` };
  }
  const problem = controllersProblem(env);
  if (problem !== undefined) return { kind: 'exit', code: 1, stderr: `${problem}\n` };
  return { kind: 'run', config: deepFreeze(configOf(flags, env)), ignored: outcome.ignored };
}

const both = 'zdb,zau';

/**
 * Returns what is wrong with the names of controllers. The peer looks for `zdb` and `zau` wherever they stand, and runs both
 * where nothing is said.
 */
function controllersProblem({ CONTROLLERS = both }: ZoneAwareEnvironment): string | undefined {
  if (CONTROLLERS.includes('zdb') || CONTROLLERS.includes('zau')) return undefined;
  return `Cannot run the controllers ${JSON.stringify(CONTROLLERS)}: CONTROLLERS must name zdb, zau or both`;
}

function configOf(flags: ZoneAwareFlags, env: ZoneAwareEnvironment): ZoneAwareConfig {
  const address = flags.metricsAddress.value;
  const { CONTROLLERS = both } = env;
  return {
    log: logOf(flags),
    kubeconfig: flags.kubeconfig.value || env.KUBECONFIG || undefined,
    metrics:
      address === undefined ? undefined : { ...address, isSecure: flags.areMetricsSecure.value },
    probes: flags.probeAddress.value,
    isElected: flags.isElected.value,
    predecessorHorizon: flags.predecessorHorizon.value,
    hasUpdates: CONTROLLERS.includes('zau'),
    webhooks: CONTROLLERS.includes('zdb') ? webhooksOf(flags, env) : undefined,
    withoutEffect: withoutEffect(flags),
  };
}

/**
 * Returns the configuration of what this name shares with the others, at its defaults but for what the flags say.
 *
 * @param namespace the operator's own, where its Lease is
 * @throws {Error} one sentence, where it cannot be run
 */
export function sharedZoneAwareConfig(config: ZoneAwareConfig, namespace: string): Config {
  const { isElected, log, predecessorHorizon, webhooks } = config;
  const { lease, secret: secretName, service: serviceName } = zoneAwareNames;
  const outcome = readConfig([
    `-kubernetes.namespace=${namespace}`,
    `-log.format=${log.format}`,
    `-log.level=${log.level}`,
    `-leader-election.enabled=${isElected}`,
    `-leader-election.resource-name=${lease}`,
    `-rollout.predecessor-horizon=${predecessorHorizon}ms`,
    ...(webhooks === undefined ? [] : tlsFlags(webhooks, { namespace, secretName, serviceName })),
  ]);
  if (outcome.kind === 'run') return outcome.config;
  throw new Error(outcome.stderr.trim());
}
