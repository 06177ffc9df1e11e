import type { Millis } from '#base/units.ts';
import type { Config } from './config.ts';
import {
  type ConsulConfig,
  type ConsulEnvironment,
  consulFlags,
  readConsulConfig,
} from './consul-config.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { BindAddress } from './flags/bind-address.ts';
import { operatorFlags } from './flags/flags.ts';
import type { Flag } from './flags/go-flags.ts';
import {
  type OutsideConfig,
  outsideConfig,
  outsideFlags,
  outsideProblem,
} from './flags/outside-flags.ts';
import { type OwnPhasedFlags, ownPhasedFlags } from './flags/phased-flags.ts';
import { ownStatefulsetFlags, problemOfStatefulsetFlags } from './flags/statefulset-flags.ts';
import { type FlagWithoutEffect, withoutEffect } from './phased-config.ts';
import { type ConfigOutcome, readFlags } from './read-config.ts';

/** What the flags of the other peers add to a {@link Config}; deeply frozen. */
export interface AllFront {
  /** Where `/metrics` is served besides; undefined: not served. */
  readonly metrics: (BindAddress & { readonly isSecure: boolean }) | undefined;
  /** Where `/healthz` and `/readyz` are served besides; undefined: not served. */
  readonly probes: BindAddress | undefined;
  /** Whom StatefulsetRollouts talk to. */
  readonly outside: OutsideConfig;
  /** Whether pods below a partition come back as they were, although the version of the cluster does not say so. */
  readonly isPinAssumed: boolean;
  /** How long a rollout may be left partial before that is reported daily; 0: that is never reported. */
  readonly partialAging: Millis;
  /** Undefined: Consul is not asked. */
  readonly consul: ConsulConfig | undefined;
  /** Flags that were given, and what becomes of them: nothing. */
  readonly withoutEffect: readonly FlagWithoutEffect[];
}

type Exit = Extract<ConfigOutcome, { readonly kind: 'exit' }>;

/** What the command line asks for. */
export type AllOutcome =
  | (Extract<ConfigOutcome, { readonly kind: 'run' }> & { readonly front: AllFront })
  | Exit;

/**
 * Reads the command line of the program that runs everything: the flags of all peers, with the ports and the defaults of the
 * rollout-operator (D-65). Where two flags say one thing in two ways, they must agree.
 */
export function readAllConfig(args: readonly string[], env: ConsulEnvironment = {}): AllOutcome {
  const flags = operatorFlags();
  const own = ownPhasedFlags(flags.set, { probes: undefined, isElected: true });
  const outside = outsideFlags(flags.set);
  const carrying = ownStatefulsetFlags(flags.set);
  const asking = consulFlags(flags.set);
  const outcome = readFlags(flags, args);
  if (outcome.kind === 'exit') return outcome;
  const { leaderElection, kubernetes } = flags;
  const problem =
    contradiction(own.isElected, leaderElection.isEnabled) ??
    contradiction(own.kubeconfig, kubernetes.configFile) ??
    outsideProblem(outside) ??
    problemOfStatefulsetFlags(carrying, kubernetes.namespace);
  if (problem !== undefined) return { kind: 'exit', code: 1, stderr: `${problem}\n` };
  const consul = readConsulConfig(asking, env);
  if ('refused' in consul) return { kind: 'exit', code: 1, stderr: `${consul.refused}\n` };
  const config = deepFreeze(withOwnFlags(outcome.config, own));
  return {
    ...outcome,
    config,
    front: deepFreeze({
      ...frontOf(own),
      outside: outsideConfig(outside),
      isPinAssumed: carrying.isPinAssumed.value,
      partialAging: carrying.partialAging.value,
      consul: consul.config,
    }),
  };
}

function contradiction<T extends string | boolean>(
  one: Flag<T>,
  other: Flag<T>,
): string | undefined {
  if (!one.isGiven || !other.isGiven || one.value === other.value) return undefined;
  return `-${one.name} and -${other.name} must agree: got ${one.value} and ${other.value}`;
}

function withOwnFlags(config: Config, own: OwnPhasedFlags): Config {
  const { isElected, kubeconfig } = own;
  const { leaderElection, kubernetes } = config;
  return {
    ...config,
    log: logOf(config, own),
    leaderElection: {
      ...leaderElection,
      isEnabled: isElected.isGiven ? isElected.value : leaderElection.isEnabled,
    },
    kubernetes: {
      ...kubernetes,
      configFile: kubeconfig.value === '' ? kubernetes.configFile : kubeconfig.value,
    },
  };
}

/** Returns how to log: what zap's flags say wins over what `-log.` flags say. */
function logOf(
  { log }: Config,
  { isDevelopment, encoder, logLevel }: OwnPhasedFlags,
): Config['log'] {
  const usual = isDevelopment.value
    ? ({ format: 'logfmt', level: 'debug' } as const)
    : ({ format: 'json', level: 'info' } as const);
  const { format, level } = isDevelopment.isGiven ? usual : log;
  const encoded = encoder.value === 'json' ? 'json' : 'logfmt';
  return {
    format: encoder.value === undefined ? format : encoded,
    level: logLevel.value ?? level,
  };
}

function frontOf(
  own: OwnPhasedFlags,
): Omit<AllFront, 'outside' | 'isPinAssumed' | 'partialAging' | 'consul'> {
  const { metricsAddress, areMetricsSecure, probeAddress } = own;
  const address = metricsAddress.value;
  return {
    metrics: address === undefined ? undefined : { ...address, isSecure: areMetricsSecure.value },
    probes: probeAddress.value,
    withoutEffect: withoutEffect(own),
  };
}
