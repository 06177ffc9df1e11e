import type { Millis } from '#base/units.ts';
import { type ConsulConfig, type ConsulEnvironment, readConsulConfig } from './consul-config.ts';
import { type OutsideConfig, outsideConfig } from './flags/outside-flags.ts';
import type { StatefulsetFlags } from './flags/statefulset-flags.ts';

/** What is decided on StatefulsetRollouts by the program that carries out these alone, as by the one that runs everything. */
export interface StatefulsetSettings {
  /** Whom StatefulsetRollouts talk to. */
  readonly outside: OutsideConfig;
  /** Whether pods below a partition come back as they were, although the version of the cluster does not say so. */
  readonly isPinAssumed: boolean;
  /** How long a rollout may be left partial before that is reported daily; 0: that is never reported. */
  readonly partialAging: Millis;
  /** Undefined: Consul is not asked. */
  readonly consul: ConsulConfig | undefined;
}

/** Returns what `flags` come to, or a sentence that says what is wrong with those of Consul. */
export function statefulsetSettings(
  flags: StatefulsetFlags,
  env: ConsulEnvironment,
): StatefulsetSettings | { readonly refused: string } {
  const consul = readConsulConfig(flags, env);
  if ('refused' in consul) return consul;
  return {
    outside: outsideConfig(flags),
    isPinAssumed: flags.isPinAssumed.value,
    partialAging: flags.partialAging.value,
    consul: consul.config,
  };
}
