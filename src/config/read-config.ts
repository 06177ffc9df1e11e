/**
 * From a command line to one frozen configuration, or to all that is wrong with it. What a flag brings about is decided
 * where the configuration is used; of the operator's flags nothing else reads one.
 */
import type { Parsed } from '#base/parsed.ts';
import { valid } from '#base/parsed.ts';
import type { Millis } from '#base/units.ts';
import type {
  Config,
  KubernetesConfig,
  LeaderElectionConfig,
  LogFormat,
  LogLevel,
  TlsConfig,
} from './config.ts';
import { firstProblem, logFormats, logLevels } from './config-problem.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { OperatorFlags } from './flags/flags.ts';
import { operatorFlags } from './flags/flags.ts';
import { exit, type Outcome, parseArguments } from './outcome.ts';
import { parseUserAgentPattern } from './user-agent-pattern.ts';

/** What the command line of the operator asks for. */
export type ConfigOutcome = Outcome<Config>;

/**
 * Exempt paths when the user names none (FL-24): all that the API server asks, which knows of no clusters. The peer
 * leaves out the last two, and then turns every eviction away.
 */
const defaultExcludedPaths = [
  'admission/no-downscale',
  'admission/prepare-downscale',
  'admission/pod-eviction',
  'admission/zpdb-validation',
];

/**
 * Reads and validates the command line (FL-1…FL-51, D-14). Help exits 0 with the usage, bad syntax 2 with one
 * line and the usage, a value that cannot be run with 1 and one line.
 *
 * @param args the arguments after the program
 */
export function readConfig(args: readonly string[]): ConfigOutcome {
  return readFlags(operatorFlags(), args);
}

/** Reads the same for `flags`, whose set may have more. */
export function readFlags(flags: OperatorFlags, args: readonly string[]): ConfigOutcome {
  const outcome = parseArguments(flags.set, args);
  if (outcome.kind === 'exit') return outcome;
  const { ignored } = outcome;
  const problem = firstProblem(flags);
  if (problem !== undefined) return exit(1, `${problem}\n${ignoredLine(ignored)}`);
  const patterns = userAgentPatterns(flags);
  if (patterns.kind === 'invalid') {
    return exit(1, `${patterns.problem.path} ${patterns.problem.message}\n`);
  }
  return { kind: 'run', config: deepFreeze(configOf(flags, patterns.value)), ignored };
}

/** Returns what may be the cause of the problem before it: Go's rules end at the first word that is no flag (FL-3). */
function ignoredLine([first, ...rest]: readonly string[]): string {
  if (first === undefined) return '';
  const more = rest.length === 0 ? '' : `, nor what follows it: ${rest.join(' ')}`;
  return `${JSON.stringify(first)} is not a flag, so it was not read${more}\n`;
}

function userAgentPatterns(flags: OperatorFlags): Parsed<readonly RegExp[]> {
  const { name, value } = flags.server.excludedUserAgents;
  const patterns: RegExp[] = [];
  for (const text of value) {
    const pattern = parseUserAgentPattern(text, `-${name}`);
    if (pattern.kind === 'invalid') return pattern;
    patterns.push(pattern.value);
  }
  return valid(patterns);
}

function configOf(flags: OperatorFlags, excludedUserAgents: readonly RegExp[]): Config {
  const { server, rollout } = flags;
  const paths = server.excludedPaths.value;
  return {
    log: { format: logFormatOf(flags), level: logLevelOf(flags) },
    server: {
      port: server.port.value,
      clusterValidation: {
        isEnabled: server.isValidated.value,
        isSoft: server.isSoft.value,
        excludedPaths: [...(paths.length === 0 ? defaultExcludedPaths : paths)],
        excludedUserAgents,
      },
    },
    kubernetes: kubernetesConfigOf(flags),
    pods: { clientTimeout: positive(rollout.podTimeout.value) },
    reconcile: { resync: positive(rollout.interval.value) },
    leaderElection: leaderElectionConfigOf(flags),
    rollout: {
      stuckAfter: positive(rollout.stuckAfter.value),
      predecessorHorizon: rollout.predecessorHorizon.value,
    },
    tls: tlsConfigOf(flags),
    zoneTracker: {
      isEnabled: rollout.isZoneTracked.value,
      configMapName: rollout.zoneTrackerConfigMap.value,
    },
    zpdb: { podReadyAnnotationPatchTimeout: rollout.annotationPatchTimeout.value },
  };
}

function logFormatOf(flags: OperatorFlags): LogFormat {
  return logFormats.find((format) => format === flags.log.format.value) ?? 'logfmt';
}

function logLevelOf(flags: OperatorFlags): LogLevel {
  return logLevels.find((level) => level === flags.log.level.value) ?? 'debug';
}

function kubernetesConfigOf({ kubernetes }: OperatorFlags): KubernetesConfig {
  const { qps, burst } = kubernetes;
  const isLimited = qps.isGiven && qps.value > 0;
  return {
    apiUrl: present(kubernetes.apiUrl.value),
    configFile: present(kubernetes.configFile.value),
    clientTimeout: positive(kubernetes.clientTimeout.value),
    limiter: isLimited ? { qps: qps.value, burst: burst.value } : undefined,
    clusterDomain: kubernetes.clusterDomain.value,
    namespace: kubernetes.namespace.value,
    podName: present(kubernetes.podName.value),
  };
}

function leaderElectionConfigOf({ leaderElection }: OperatorFlags): LeaderElectionConfig {
  const { isEnabled, leaseDuration, renewDeadline, retryPeriod } = leaderElection;
  const { leaseName, resourceName } = leaderElection;
  return {
    isEnabled: isEnabled.value,
    leaseDuration: leaseDuration.value,
    renewDeadline: renewDeadline.value,
    retryPeriod: retryPeriod.value,
    resourceName: (leaseName.isGiven ? leaseName : resourceName).value,
  };
}

function tlsConfigOf({ tls, selfSigned, kubernetes }: OperatorFlags): TlsConfig {
  const dnsName = selfSigned.dnsName.value;
  return {
    isEnabled: tls.isEnabled.value,
    port: tls.port.value,
    certFile: tls.certFile.value,
    keyFile: tls.keyFile.value,
    clientCa: tls.clientCa.value,
    requestTimeout: tls.requestTimeout.value,
    updatesCaBundle: tls.updatesCaBundle.value,
    selfSigned: {
      isEnabled: selfSigned.isEnabled.value,
      secretName: selfSigned.secretName.value,
      dnsName: dnsName === '' ? `rollout-operator.${kubernetes.namespace.value}.svc` : dnsName,
      organization: selfSigned.organization.value,
      expiration: selfSigned.expiration.value,
    },
  };
}

function present(text: string): string | undefined {
  return text === '' ? undefined : text;
}

function positive(span: Millis): Millis | undefined {
  return span > 0 ? span : undefined;
}
