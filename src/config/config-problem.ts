import { formatGoDuration } from '#base/time/go-duration.ts';
import type { Millis } from '#base/units.ts';
import { type LogFormat, type LogLevel, longestLease } from './config.ts';
import type { OperatorFlags } from './flags/flags.ts';
import type { Flag } from './flags/go-flags.ts';

/** The formats of log lines (FL-10). */
export const logFormats: readonly LogFormat[] = ['logfmt', 'json'];

/** The levels of log lines, most severe last (FL-11). */
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** One rule: a sentence when `flags` break it. */
type Rule = (flags: OperatorFlags) => string | undefined;

/**
 * What is checked, in the order of the peer (FL-50), then the log. `-kubernetes.config-file` alone is
 * no problem here, although the peer exits: the server then comes from the file.
 */
const rules: readonly Rule[] = [
  ({ kubernetes }) => needsText(kubernetes.clusterDomain),
  ({ kubernetes }) => needsText(kubernetes.namespace),
  apiUrlNeedsConfigFile,
  ({ rollout }) =>
    rollout.isZoneTracked.value ? needsText(rollout.zoneTrackerConfigMap) : undefined,
  limiterNeedsBurst,
  ({ tls }) => needsPositive(tls.requestTimeout),
  ({ rollout }) => needsPositive(rollout.annotationPatchTimeout),
  ({ rollout }) => needsNoNegative(rollout.stuckAfter),
  ({ rollout }) => needsPositive(rollout.predecessorHorizon),
  ({ leaderElection }) => electionProblem(leaderElection),
  softValidationNeedsValidation,
  clientCaNeedsWebhooks,
  certificateNeedsSource,
  caBundleNeedsOwnCa,
  ownCertificateNeedsNameAndLife,
  ({ log }) => needsOneOf(log.format, logFormats),
  ({ log }) => needsOneOf(log.level, logLevels),
  ({ server }) => needsPort(server.port),
  ({ tls }) => (tls.isEnabled.value ? needsPort(tls.port) : undefined),
];

/** A subdomain, as every name of a Lease. */
const objectName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** As client-go: a try may be late by a fifth of the period, and still has to come before the deadline. */
const jitter = 1.2;
const highestPort = 65_535;

/** Returns the first reason, as one sentence, why the program cannot run with `flags`; undefined when it can. */
export function firstProblem(flags: OperatorFlags): string | undefined {
  for (const rule of rules) {
    const problem = rule(flags);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function needsText(flag: Flag<string>): string | undefined {
  return flag.value === '' ? `-${flag.name} must not be empty` : undefined;
}

function needsPositive(flag: Flag<Millis>): string | undefined {
  if (flag.value > 0) return undefined;
  return `-${flag.name} must be greater than 0: got ${formatGoDuration(flag.value)}`;
}

function needsNoNegative(flag: Flag<Millis>): string | undefined {
  if (flag.value >= 0) return undefined;
  return `-${flag.name} must not be negative: got ${formatGoDuration(flag.value)}`;
}

/** Returns the problem of a missing port; 0 is one that the system chooses. */
function needsPort(flag: Flag<number>): string | undefined {
  if (flag.value >= 0 && flag.value <= highestPort) return undefined;
  return `-${flag.name} must be from 0 to ${highestPort}: got ${flag.value}`;
}

function needsOneOf(flag: Flag<string>, allowed: readonly string[]): string | undefined {
  if (allowed.includes(flag.value)) return undefined;
  return `-${flag.name} must be one of ${allowed.join(', ')}: got ${JSON.stringify(flag.value)}`;
}

function apiUrlNeedsConfigFile({ kubernetes }: OperatorFlags): string | undefined {
  const { apiUrl, configFile } = kubernetes;
  if (apiUrl.value === '' || configFile.value !== '') return undefined;
  return `-${apiUrl.name} must be set together with -${configFile.name}: got only ${JSON.stringify(apiUrl.value)}`;
}

/**
 * Returns the problem of a limiter without a burst. The default of qps counts here, although it switches no limiter on: the
 * peer exits, too (D-14).
 */
function limiterNeedsBurst({ kubernetes }: OperatorFlags): string | undefined {
  const { qps, burst } = kubernetes;
  if (qps.value <= 0 || burst.value >= 1) return undefined;
  return `-${burst.name} must be at least 1 while -${qps.name} is ${qps.value}: got ${burst.value}`;
}

function softValidationNeedsValidation({ server }: OperatorFlags): string | undefined {
  const { isSoft, isValidated } = server;
  if (!isSoft.value || isValidated.value) return undefined;
  return `-${isSoft.name} must be set together with -${isValidated.name}=true`;
}

/** Returns the problem of a certificate without a source. A self-signed one wins; without it both files are needed. */
function certificateNeedsSource({ tls, selfSigned }: OperatorFlags): string | undefined {
  if (!tls.isEnabled.value || selfSigned.isEnabled.value) return undefined;
  const missing = [tls.certFile, tls.keyFile].filter(({ value }) => value === '');
  if (missing.length === 0) return undefined;
  const names = missing.map(({ name }) => `-${name}`).join(' and ');
  return `${names} must be set while -${selfSigned.isEnabled.name} is false`;
}

/** Returns the problem of CAs of clients where no client is served: who asked for them believes in a protection that is none. */
function clientCaNeedsWebhooks({ tls }: OperatorFlags): string | undefined {
  if (tls.clientCa.value === '' || tls.isEnabled.value) return undefined;
  return `-${tls.clientCa.name} must be set together with -${tls.isEnabled.name}=true`;
}

/** Returns the problem of a bundle without our own CA: that of another owner's certificate is not known. */
function caBundleNeedsOwnCa({ tls, selfSigned }: OperatorFlags): string | undefined {
  const isOwn = selfSigned.isEnabled.value || !tls.updatesCaBundle.value;
  if (!tls.isEnabled.value || isOwn) return undefined;
  return `-${tls.updatesCaBundle.name} must be false while -${selfSigned.isEnabled.name} is false`;
}

/**
 * Returns the problem of an own certificate without a name or a life. The peer writes a certificate that has expired
 * already, or asks the API server for a Secret without a name.
 */
function ownCertificateNeedsNameAndLife({ tls, selfSigned }: OperatorFlags): string | undefined {
  if (!tls.isEnabled.value || !selfSigned.isEnabled.value) return undefined;
  return needsText(selfSigned.secretName) ?? needsPositive(selfSigned.expiration);
}

/** Returns what client-go refuses, and a name that the API server would refuse; nothing while the election is off. */
function electionProblem(flags: OperatorFlags['leaderElection']): string | undefined {
  if (!flags.isEnabled.value) return undefined;
  const spans = [flags.leaseDuration, flags.renewDeadline, flags.retryPeriod];
  for (const flag of spans) {
    const problem = needsPositive(flag);
    if (problem !== undefined) return problem;
  }
  return (
    durationsProblem(flags) ??
    needsObjectName(flags.leaseName.isGiven ? flags.leaseName : flags.resourceName)
  );
}

function durationsProblem({
  leaseDuration,
  renewDeadline,
  retryPeriod,
}: OperatorFlags['leaderElection']): string | undefined {
  const [lease, deadline, period] = [leaseDuration, renewDeadline, retryPeriod].map(({ value }) =>
    formatGoDuration(value),
  );
  if (leaseDuration.value > longestLease) {
    return `-${leaseDuration.name} must be at most ${formatGoDuration(longestLease)}: got ${lease}`;
  }
  if (leaseDuration.value <= renewDeadline.value) {
    return `-${leaseDuration.name} must be greater than -${renewDeadline.name}: got ${lease} and ${deadline}`;
  }
  if (renewDeadline.value > retryPeriod.value * jitter) return undefined;
  return `-${renewDeadline.name} must be greater than ${jitter} times -${retryPeriod.name}: got ${deadline} and ${period}`;
}

function needsObjectName(flag: Flag<string>): string | undefined {
  if (flag.value.length <= 253 && objectName.test(flag.value)) return undefined;
  return `-${flag.name} must be lower-case letters, digits, "-" and ".": got ${JSON.stringify(flag.value)}`;
}
