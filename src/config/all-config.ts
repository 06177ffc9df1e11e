import type { Config } from './config.ts';
import type { ConsulEnvironment } from './consul-config.ts';
import { deepFreeze } from './deep-freeze.ts';
import { operatorFlags } from './flags/flags.ts';
import type { Flag } from './flags/go-flags.ts';
import { type ManagerFlags, managerFlags } from './flags/manager-flags.ts';
import { outsideProblem } from './flags/outside-flags.ts';
import { type QueryConfig, queryConfig, queryFlags } from './flags/query-flags.ts';
import { problemOfStatefulsetFlags, statefulsetFlags } from './flags/statefulset-flags.ts';
import { logOf, type ManagerConfig, managerServers, withoutEffect } from './manager-config.ts';
import { type Accepted, type Exit, exit } from './outcome.ts';
import { readFlags } from './read-config.ts';
import { type StatefulsetSettings, statefulsetSettings } from './statefulset-settings.ts';

/** What the flags of the other peers add to a {@link Config}; deeply frozen. Their servers are served besides. */
export type AllFront = StatefulsetSettings &
  Pick<ManagerConfig, 'metrics' | 'probes' | 'withoutEffect'> & {
    /** Which servers queries may be sent to. */
    readonly queries: QueryConfig;
  };

/** What the command line asks for. */
export type AllOutcome = (Accepted<Config> & { readonly front: AllFront }) | Exit;

/**
 * Reads the command line of the program that runs everything: the flags of all peers, with the ports and the defaults of the
 * rollout-operator (D-65). Where two flags say one thing in two ways, they must agree.
 */
export function readAllConfig(args: readonly string[], env: ConsulEnvironment = {}): AllOutcome {
  const flags = operatorFlags();
  const own = managerFlags(flags.set, { probes: undefined, isElected: true });
  const carrying = statefulsetFlags(flags.set);
  const asking = queryFlags(flags.set);
  const outcome = readFlags(flags, args);
  if (outcome.kind === 'exit') return outcome;
  const { leaderElection, kubernetes } = flags;
  const problem =
    contradiction(own.isElected, leaderElection.isEnabled) ??
    contradiction(own.kubeconfig, kubernetes.configFile) ??
    outsideProblem(carrying) ??
    problemOfStatefulsetFlags(carrying, kubernetes.namespace);
  if (problem !== undefined) return exit(1, `${problem}\n`);
  const settings = statefulsetSettings(carrying, env);
  if ('refused' in settings) return exit(1, `${settings.refused}\n`);
  return {
    ...outcome,
    config: deepFreeze(withOwnFlags(outcome.config, own)),
    front: deepFreeze({
      ...settings,
      ...managerServers(own),
      queries: queryConfig(asking),
      withoutEffect: withoutEffect(own),
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

function withOwnFlags(config: Config, own: ManagerFlags): Config {
  const { isElected, kubeconfig } = own;
  const { leaderElection, kubernetes } = config;
  return {
    ...config,
    // What zap's flags say wins over what `-log.` flags say.
    log: logOf(own, config.log),
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
