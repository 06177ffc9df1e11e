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
import { type Outcome, parseArguments } from './outcome.ts';

/** The variables that the sts-phased-rollout-operator reads, and where files for a while are kept. */
export interface PhasedRolloutEnvironment {
  readonly ENABLE_WEBHOOKS?: string | undefined;
  readonly KUBECONFIG?: string | undefined;
  readonly TMPDIR?: string | undefined;
}

/** All that the command line and the environment decide under this name; deeply frozen. */
export interface PhasedRolloutConfig extends ManagerConfig {
  /** Which servers queries may be sent to. */
  readonly queries: QueryConfig;
  /** Undefined: `ENABLE_WEBHOOKS` is `false`. */
  readonly webhooks: WebhookFiles | undefined;
}

/** What the objects are called that the program itself names. */
export const phasedNames: OwnNames = Object.freeze({
  /** Replicas of the peer take it as well. */
  lease: '304add93.sts.plus',
  /** That of the peer's manifests is cert-manager's. */
  secret: 'phased-rollout-self-signed-certificate',
  /** The manifests of the peer have the API server call it. */
  service: 'sts-phased-rollout-operator-webhook-service',
});

/** Reads the command line of the sts-phased-rollout-operator, by Go's rules (spec 5.4). */
export function readPhasedRolloutConfig(
  args: readonly string[],
  env: PhasedRolloutEnvironment,
): Outcome<PhasedRolloutConfig> {
  const set = new FlagSet('phased-rollout');
  const flags = {
    ...managerFlags(set, { probes: { host: undefined, port: 8_081 }, isElected: false }),
    ...webhookFlags(set, phasedNames.service),
    predecessorHorizon: horizonFlag(set),
    ...queryFlags(set),
  };
  const outcome = parseArguments(set, args);
  if (outcome.kind === 'exit') return outcome;
  const webhooks = env.ENABLE_WEBHOOKS === 'false' ? undefined : webhooksOf(flags, env);
  const config = deepFreeze({
    ...managerConfig(flags, env),
    queries: queryConfig(flags),
    webhooks,
  });
  return { kind: 'run', config, ignored: outcome.ignored };
}

/** Returns what this name shares with the others, as {@link sharedConfig}. @throws {Error} one sentence, where it cannot be run */
export function sharedConfigOf(config: PhasedRolloutConfig, namespace: string): Config {
  const own = { ...phasedNames, namespace };
  return sharedConfig(config, own, tlsFlags(config.webhooks, own));
}
