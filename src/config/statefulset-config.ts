import type { Config } from './config.ts';
import type { ConsulEnvironment } from './consul-config.ts';
import { deepFreeze } from './deep-freeze.ts';
import { FlagSet } from './flags/go-flags.ts';
import { horizonFlag, managerFlags } from './flags/manager-flags.ts';
import { outsideProblem } from './flags/outside-flags.ts';
import { statefulsetFlags } from './flags/statefulset-flags.ts';
import {
  type ManagerConfig,
  managerConfig,
  type OwnNames,
  sharedConfig,
} from './manager-config.ts';
import { exit, type Outcome, parseArguments } from './outcome.ts';
import { type StatefulsetSettings, statefulsetSettings } from './statefulset-settings.ts';

/** The variables that are read under this name. */
export interface StatefulsetRolloutEnvironment extends ConsulEnvironment {
  readonly KUBECONFIG?: string | undefined;
}

/** All that the command line and the environment decide under this name; deeply frozen. */
export interface StatefulsetRolloutConfig extends ManagerConfig, StatefulsetSettings {
  /** The only namespace whose StatefulsetRollouts are carried out; empty: those of all. */
  readonly watchedNamespace: string;
}

/** What the objects are called that the program itself names (D-65). */
export const statefulsetNames: Pick<OwnNames, 'lease'> = Object.freeze({
  lease: 'statefulset-rollout',
});

/** Reads the command line of the program that carries out StatefulsetRollouts, by Go's rules. */
export function readStatefulsetRolloutConfig(
  args: readonly string[],
  env: StatefulsetRolloutEnvironment,
): Outcome<StatefulsetRolloutConfig> {
  const set = new FlagSet('statefulset-rollout');
  const flags = {
    ...managerFlags(set, {
      probes: { host: undefined, port: 8_081 },
      metrics: { address: { host: undefined, port: 8_080 }, isSecure: false },
      isElected: true,
      isDevelopment: false,
    }),
    predecessorHorizon: horizonFlag(set),
    ...statefulsetFlags(set),
  };
  const outcome = parseArguments(set, args);
  if (outcome.kind === 'exit') return outcome;
  const problem = outsideProblem(flags);
  if (problem !== undefined) return exit(2, `${problem}\n`);
  const settings = statefulsetSettings(flags, env);
  if ('refused' in settings) return exit(2, `${settings.refused}\n`);
  const watchedNamespace = flags.watchedNamespace.value;
  const config = deepFreeze({ ...managerConfig(flags, env), ...settings, watchedNamespace });
  return { kind: 'run', config, ignored: outcome.ignored };
}

/** Returns what this name shares with the others, as {@link sharedConfig}. @throws {Error} one sentence, where it cannot be run */
export function sharedStatefulsetConfig(
  config: StatefulsetRolloutConfig,
  namespace: string,
): Config {
  return sharedConfig(config, { ...statefulsetNames, namespace });
}
