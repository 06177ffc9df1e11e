import type { Config } from './config.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { BindAddress } from './flags/bind-address.ts';
import {
  type OwnPhasedFlags,
  type PhasedRolloutFlags,
  phasedRolloutFlags,
  webhookServiceName,
} from './flags/phased-flags.ts';
import { readConfig } from './read-config.ts';

/** The variables that the sts-phased-rollout-operator reads, and where files for a while are kept. */
export interface PhasedRolloutEnvironment {
  readonly ENABLE_WEBHOOKS?: string | undefined;
  readonly KUBECONFIG?: string | undefined;
  readonly TMPDIR?: string | undefined;
}

/** All that the command line and the environment decide under this name; deeply frozen. */
export interface PhasedRolloutConfig {
  readonly log: Config['log'];
  /** Undefined: inside the cluster. */
  readonly kubeconfig: string | undefined;
  /** Undefined: not served. */
  readonly metrics: (BindAddress & { readonly isSecure: boolean }) | undefined;
  /** Undefined: not served. */
  readonly probes: BindAddress | undefined;
  /** Undefined: `ENABLE_WEBHOOKS` is `false`. */
  readonly webhooks: WebhookFiles | undefined;
  readonly isElected: boolean;
  readonly predecessorHorizon: Config['rollout']['predecessorHorizon'];
  /** Flags that were given, and what becomes of them: nothing. */
  readonly withoutEffect: readonly FlagWithoutEffect[];
}

/** Where the webhooks listen, and with what. */
export interface WebhookFiles {
  readonly port: number;
  readonly certFile: string;
  readonly keyFile: string;
  /** Present: a certificate of our own in place of the files. */
  readonly selfSigned: { readonly dnsName: string } | undefined;
}

/** A flag of the peer that changes nothing here. */
export interface FlagWithoutEffect {
  readonly flag: string;
  /** A clause. */
  readonly why: string;
}

/** What the command line asks for: run, or print `stderr` and exit with `code`. */
export type PhasedRolloutOutcome =
  | {
      readonly kind: 'run';
      readonly config: PhasedRolloutConfig;
      /** The first argument that is no flag, and all that follow. */
      readonly ignored: readonly string[];
    }
  | { readonly kind: 'exit'; readonly code: 0 | 2; readonly stderr: string };

/** Name of the Lease, which replicas of the peer take as well. */
export const leaseName = '304add93.sts.plus';
/** The name of the Secret of our own certificate: that of the peer's manifests is cert-manager's. */
export const secretName = 'phased-rollout-self-signed-certificate';
/** Below the folder for temporary files, as controller-runtime has it. */
const certificateFolder = 'k8s-webhook-server/serving-certs';

/** Reads the command line of the sts-phased-rollout-operator, by Go's rules (spec 5.4). */
export function readPhasedRolloutConfig(
  args: readonly string[],
  env: PhasedRolloutEnvironment,
): PhasedRolloutOutcome {
  const flags = phasedRolloutFlags();
  const outcome = flags.set.parse(args);
  if (outcome.kind === 'help') return { kind: 'exit', code: 0, stderr: flags.set.usage() };
  if (outcome.kind === 'refused') {
    return { kind: 'exit', code: 2, stderr: `${outcome.reason}\n${flags.set.usage()}` };
  }
  return { kind: 'run', config: deepFreeze(configOf(flags, env)), ignored: outcome.ignored };
}

function configOf(flags: PhasedRolloutFlags, env: PhasedRolloutEnvironment): PhasedRolloutConfig {
  const address = flags.metricsAddress.value;
  return {
    log: logOf(flags),
    kubeconfig: flags.kubeconfig.value || env.KUBECONFIG || undefined,
    metrics:
      address === undefined ? undefined : { ...address, isSecure: flags.areMetricsSecure.value },
    probes: flags.probeAddress.value,
    webhooks: env.ENABLE_WEBHOOKS === 'false' ? undefined : webhooksOf(flags, env),
    isElected: flags.isElected.value,
    predecessorHorizon: flags.predecessorHorizon.value,
    withoutEffect: withoutEffect(flags),
  };
}

/** Returns how zap's flags have the log written. */
export function logOf({
  isDevelopment,
  encoder,
  logLevel,
}: Pick<PhasedRolloutFlags, 'isDevelopment' | 'encoder' | 'logLevel'>): Config['log'] {
  const usual = isDevelopment.value ? 'console' : 'json';
  return {
    format: (encoder.value ?? usual) === 'json' ? 'json' : 'logfmt',
    level: logLevel.value ?? (isDevelopment.value ? 'debug' : 'info'),
  };
}

/** Returns where the files of controller-runtime's webhooks are, below the folder for temporary ones. */
function certificateFiles(TMPDIR: string | undefined): Pick<WebhookFiles, 'certFile' | 'keyFile'> {
  const folder = `${TMPDIR || '/tmp'}/${certificateFolder}`;
  return { certFile: `${folder}/tls.crt`, keyFile: `${folder}/tls.key` };
}

/** Returns where webhooks listen, and with what, as `flags` say. */
export function webhooksOf(
  {
    webhookPort,
    isSelfSigned,
    dnsName,
  }: Pick<PhasedRolloutFlags, 'webhookPort' | 'isSelfSigned' | 'dnsName'>,
  { TMPDIR }: Pick<PhasedRolloutEnvironment, 'TMPDIR'>,
): WebhookFiles {
  return {
    port: webhookPort.value,
    ...certificateFiles(TMPDIR),
    selfSigned: isSelfSigned.value ? { dnsName: dnsName.value } : undefined,
  };
}

/** Returns those of `flags` that were given, and what becomes of them: nothing. */
export function withoutEffect(flags: OwnPhasedFlags): readonly FlagWithoutEffect[] {
  const { isHttp2Wanted, stacktraceLevel, timeEncoding } = flags;
  const told = [
    {
      flag: isHttp2Wanted,
      isTold: isHttp2Wanted.value,
      why: 'the servers speak HTTP/1.1, as they do without it',
    },
    {
      flag: stacktraceLevel,
      isTold: stacktraceLevel.isGiven,
      why: 'errors are logged with what caused them, at every level',
    },
    {
      flag: timeEncoding,
      isTold: timeEncoding.isGiven && !/^rfc3339/i.test(timeEncoding.value),
      why: 'times are written as RFC 3339',
    },
  ];
  return told
    .filter(({ isTold }) => isTold)
    .map(({ flag, why }) => ({ flag: `--${flag.name}`, why }));
}

/**
 * Returns the configuration of what this name shares with the others, at its defaults but for what the flags say.
 *
 * @param namespace the operator's own, where its Lease is
 * @throws {Error} one sentence, where it cannot be run
 */
export function sharedConfigOf(config: PhasedRolloutConfig, namespace: string): Config {
  const { isElected, webhooks, log, predecessorHorizon } = config;
  const outcome = readConfig([
    `-kubernetes.namespace=${namespace}`,
    `-log.format=${log.format}`,
    `-log.level=${log.level}`,
    `-leader-election.enabled=${isElected}`,
    `-leader-election.resource-name=${leaseName}`,
    `-rollout.predecessor-horizon=${predecessorHorizon}ms`,
    ...(webhooks === undefined
      ? []
      : tlsFlags(webhooks, { namespace, secretName, serviceName: webhookServiceName })),
  ]);
  if (outcome.kind === 'run') return outcome.config;
  throw new Error(outcome.stderr.trim());
}

/** What the objects of a program's own certificate are called. */
export interface OwnCertificate {
  /** The operator's own, as a certificate is for one Service there. */
  readonly namespace: string;
  readonly secretName: string;
  readonly serviceName: string;
}

/** Returns the flags of the operator that serve webhooks with `files`. */
export function tlsFlags(
  { port, certFile, keyFile, selfSigned }: WebhookFiles,
  own: OwnCertificate,
): readonly string[] {
  const served = ['-server-tls.enabled=true', `-server-tls.port=${port}`];
  const prefix = '-server-tls.self-signed-cert';
  if (selfSigned !== undefined) {
    const dnsName = selfSigned.dnsName || `${own.serviceName}.${own.namespace}.svc`;
    return [...served, `${prefix}.secret-name=${own.secretName}`, `${prefix}.dns-name=${dnsName}`];
  }
  // The files are another owner's, such as cert-manager's, who also tells the API server of their CA.
  return [
    ...served,
    `-server-tls.cert-file=${certFile}`,
    `-server-tls.key-file=${keyFile}`,
    `${prefix}.enabled=false`,
    '-webhooks.update-ca-bundle=false',
  ];
}
