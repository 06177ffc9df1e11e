import { type Millis, minutes } from '#base/units.ts';
import type { BindAddress } from './bind-address.ts';
import type { Config } from './config.ts';
import { deepFreeze } from './deep-freeze.ts';
import { durationKind, stringKind } from './flag-kind.ts';
import { type Flag, FlagSet } from './go-flags.ts';
import { type FlagWithoutEffect, logOf, withoutEffect } from './phased-config.ts';
import { horizonFlag, type OwnPhasedFlags, ownPhasedFlags } from './phased-flags.ts';
import { readConfig } from './read-config.ts';

/** The variables that are read under this name. */
export interface StatefulsetRolloutEnvironment {
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
  /** How long a rollout may be left partial before that is told daily; 0: that is never told. */
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

interface StatefulsetRolloutFlags extends OwnPhasedFlags {
  readonly predecessorHorizon: Flag<Millis>;
  readonly watchedNamespace: Flag<string>;
  readonly partialAging: Flag<Millis>;
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
    watchedNamespace: set.add('watch-namespace', stringKind, {
      default: '',
      help: 'The only namespace whose StatefulsetRollouts are carried out. When empty: those of all.',
    }),
    partialAging: set.add('partial-rollout-aging', durationKind, {
      default: minutes(1_440),
      help: 'Age from which a rollout that is left partial is told of daily; 0 for never.',
    }),
  };
  const outcome = set.parse(args);
  if (outcome.kind === 'help') return { kind: 'exit', code: 0, stderr: set.usage() };
  if (outcome.kind === 'refused') {
    return { kind: 'exit', code: 2, stderr: `${outcome.reason}\n${set.usage()}` };
  }
  return { kind: 'run', config: deepFreeze(configOf(flags, env)), ignored: outcome.ignored };
}

function configOf(
  flags: StatefulsetRolloutFlags,
  { KUBECONFIG }: StatefulsetRolloutEnvironment,
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
