import type { Millis } from '#base/units.ts';
import type { Config } from './config.ts';
import {
  type ConsulConfig,
  type ConsulEnvironment,
  type ConsulFlags,
  consulFlags,
  readConsulConfig,
} from './consul-config.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { BindAddress } from './flags/bind-address.ts';
import { type Flag, FlagSet } from './flags/go-flags.ts';
import {
  type OutsideConfig,
  type OutsideFlags,
  outsideConfig,
  outsideFlags,
  outsideProblem,
} from './flags/outside-flags.ts';
import { horizonFlag, type OwnPhasedFlags, ownPhasedFlags } from './flags/phased-flags.ts';
import { type OwnStatefulsetFlags, ownStatefulsetFlags } from './flags/statefulset-flags.ts';
import { type FlagWithoutEffect, logOf, withoutEffect } from './phased-config.ts';
import { readConfig } from './read-config.ts';

/** The variables that are read under this name. */
export interface StatefulsetRolloutEnvironment extends ConsulEnvironment {
  readonly KUBECONFIG?: string | undefined;
}

/** All that the command line and the environment decide under this name; deeply frozen. */
export interface StatefulsetRolloutConfig {
  readonly log: Config['log'];
  /** Undefined: inside the cluster. */
  readonly kubeconfig: string | undefined;
  /** Undefined: not served. */
  readonly metrics: (BindAddress & { readonly isSecure: boolean }) | undefined;
  /** Undefined: not served. */
  readonly probes: BindAddress | undefined;
  readonly isElected: boolean;
  readonly predecessorHorizon: Millis;
  /** The only namespace whose StatefulsetRollouts are carried out; empty: those of all. */
  readonly watchedNamespace: string;
  readonly outside: OutsideConfig;
  /** Whether pods below a partition come back as they were, although the version of the cluster does not say so. */
  readonly isPinAssumed: boolean;
  /** Undefined: Consul is not asked. */
  readonly consul: ConsulConfig | undefined;
  /** How long a rollout may be left partial before that is reported daily; 0: that is never reported. */
  readonly partialAging: Millis;
  /** Flags that were given, and what becomes of them: nothing. */
  readonly withoutEffect: readonly FlagWithoutEffect[];
}

/** What the command line asks for: run, or print `stderr` and exit with `code`. */
export type StatefulsetRolloutOutcome =
  | {
      readonly kind: 'run';
      readonly config: StatefulsetRolloutConfig;
      /** The first argument that is no flag, and all that follow. */
      readonly ignored: readonly string[];
    }
  | { readonly kind: 'exit'; readonly code: 0 | 2; readonly stderr: string };

interface StatefulsetRolloutFlags
  extends OwnPhasedFlags,
    OutsideFlags,
    OwnStatefulsetFlags,
    ConsulFlags {
  readonly predecessorHorizon: Flag<Millis>;
}

/** Name of the Lease (D-65). */
export const leaseName = 'statefulset-rollout';

/** Reads the command line of the program that carries out StatefulsetRollouts, by Go's rules. */
export function readStatefulsetRolloutConfig(
  args: readonly string[],
  env: StatefulsetRolloutEnvironment,
): StatefulsetRolloutOutcome {
  const set = new FlagSet('statefulset-rollout');
  const flags: StatefulsetRolloutFlags = {
    ...ownPhasedFlags(set, {
      probes: { host: undefined, port: 8_081 },
      metrics: { address: { host: undefined, port: 8_080 }, isSecure: false },
      isElected: true,
      isDevelopment: false,
    }),
    predecessorHorizon: horizonFlag(set),
    ...outsideFlags(set),
    ...ownStatefulsetFlags(set),
    ...consulFlags(set),
  };
  const outcome = set.parse(args);
  if (outcome.kind === 'help') return { kind: 'exit', code: 0, stderr: set.usage() };
  if (outcome.kind === 'refused') {
    return { kind: 'exit', code: 2, stderr: `${outcome.reason}\n${set.usage()}` };
  }
  const problem = outsideProblem(flags);
  if (problem !== undefined) return { kind: 'exit', code: 2, stderr: `${problem}\n` };
  const consul = readConsulConfig(flags, env);
  if ('refused' in consul) return { kind: 'exit', code: 2, stderr: `${consul.refused}\n` };
  const config = configOf(flags, { ...env, consul: consul.config });
  return { kind: 'run', config: deepFreeze(config), ignored: outcome.ignored };
}

function configOf(
  flags: StatefulsetRolloutFlags,
  { KUBECONFIG, consul }: StatefulsetRolloutEnvironment & Pick<StatefulsetRolloutConfig, 'consul'>,
): StatefulsetRolloutConfig {
  const address = flags.metricsAddress.value;
  return {
    log: logOf(flags),
    kubeconfig: flags.kubeconfig.value || KUBECONFIG || undefined,
    metrics:
      address === undefined ? undefined : { ...address, isSecure: flags.areMetricsSecure.value },
    probes: flags.probeAddress.value,
    isElected: flags.isElected.value,
    predecessorHorizon: flags.predecessorHorizon.value,
    watchedNamespace: flags.watchedNamespace.value,
    outside: outsideConfig(flags),
    isPinAssumed: flags.isPinAssumed.value,
    consul,
    partialAging: flags.partialAging.value,
    withoutEffect: withoutEffect(flags),
  };
}

/**
 * Returns the configuration of what this name shares with the others, at its defaults but for what the flags say.
 *
 * @param namespace the operator's own, where its Lease is
 * @throws {Error} one sentence, where it cannot be run
 */
export function sharedStatefulsetConfig(
  { isElected, log, predecessorHorizon }: StatefulsetRolloutConfig,
  namespace: string,
): Config {
  const outcome = readConfig([
    `-kubernetes.namespace=${namespace}`,
    `-log.format=${log.format}`,
    `-log.level=${log.level}`,
    `-leader-election.enabled=${isElected}`,
    `-leader-election.resource-name=${leaseName}`,
    `-rollout.predecessor-horizon=${predecessorHorizon}ms`,
  ]);
  if (outcome.kind === 'run') return outcome.config;
  throw new Error(outcome.stderr.trim());
}
