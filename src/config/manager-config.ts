/** What the names of managers of controller-runtime share: their flags in common, and the configuration that these come to. */
import type { Config, LogFormat } from './config.ts';
import type { BindAddress } from './flags/bind-address.ts';
import type { Flag } from './flags/go-flags.ts';
import type { Encoder, ManagerFlags, WebhookFlags } from './flags/manager-flags.ts';
import { readConfig } from './read-config.ts';

/** What the command line and the environment decide under each of these names. */
export interface ManagerConfig {
  readonly log: Config['log'];
  /** Undefined: inside the cluster. */
  readonly kubeconfig: string | undefined;
  /** Undefined: not served. */
  readonly metrics: (BindAddress & { readonly isSecure: boolean }) | undefined;
  /** Undefined: not served. */
  readonly probes: BindAddress | undefined;
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
  /** As `-server-tls.client-ca`. */
  readonly clientCa: string;
  /** Present: a certificate of our own in place of the files. */
  readonly selfSigned: { readonly dnsName: string } | undefined;
}

/** A flag of the peer that changes nothing here. */
export interface FlagWithoutEffect {
  readonly flag: string;
  /** A clause. */
  readonly why: string;
}

/** What the objects are called that a program itself names. */
export interface OwnNames {
  /** That of the Lease. */
  readonly lease: string;
  /** That of the Secret of its own certificate. */
  readonly secret: string;
  /** That of the Service by which the API server calls it. */
  readonly service: string;
}

/** Below the folder for temporary files, as controller-runtime has it. */
const certificateFolder = 'k8s-webhook-server/serving-certs';

/** Returns what `flags` come to; a kubeconfig that is named there wins over that of the environment. */
export function managerConfig(
  flags: ManagerFlags & { readonly predecessorHorizon: Flag<ManagerConfig['predecessorHorizon']> },
  { KUBECONFIG }: { readonly KUBECONFIG?: string | undefined },
): ManagerConfig {
  return {
    ...managerServers(flags),
    log: logOf(flags),
    kubeconfig: flags.kubeconfig.value || KUBECONFIG || undefined,
    isElected: flags.isElected.value,
    predecessorHorizon: flags.predecessorHorizon.value,
    withoutEffect: withoutEffect(flags),
  };
}

/** Returns where figures and probes are served, as `flags` say. */
export function managerServers({
  metricsAddress: { value: address },
  areMetricsSecure,
  probeAddress,
}: ManagerFlags): Pick<ManagerConfig, 'metrics' | 'probes'> {
  return {
    metrics: address === undefined ? undefined : { ...address, isSecure: areMetricsSecure.value },
    probes: probeAddress.value,
  };
}

const formats: Readonly<Record<Encoder, LogFormat>> = { console: 'logfmt', json: 'json' };

/**
 * Returns how zap's flags have the log written.
 *
 * @param unsaid what holds where they do not say it. @default that of `--zap-devel` as it is
 */
export function logOf(
  { isDevelopment, encoder, logLevel }: ManagerFlags,
  unsaid?: Config['log'],
): Config['log'] {
  const usual = isDevelopment.value
    ? ({ format: 'logfmt', level: 'debug' } as const)
    : ({ format: 'json', level: 'info' } as const);
  const { format, level } = isDevelopment.isGiven ? usual : (unsaid ?? usual);
  return {
    format: encoder.value === undefined ? format : formats[encoder.value],
    level: logLevel.value ?? level,
  };
}

/** Returns where webhooks listen, and with what, as `flags` say. */
export function webhooksOf(
  { webhookPort, isSelfSigned, dnsName, clientCa }: WebhookFlags,
  { TMPDIR }: { readonly TMPDIR?: string | undefined },
): WebhookFiles {
  const folder = `${TMPDIR || '/tmp'}/${certificateFolder}`;
  return {
    port: webhookPort.value,
    certFile: `${folder}/tls.crt`,
    keyFile: `${folder}/tls.key`,
    clientCa: clientCa.value,
    selfSigned: isSelfSigned.value ? { dnsName: dnsName.value } : undefined,
  };
}

/** Returns those of `flags` that were given, and what becomes of them: nothing. */
export function withoutEffect(flags: ManagerFlags): readonly FlagWithoutEffect[] {
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
 * Returns the configuration of what a manager shares with the other names, at its defaults but for what the flags say.
 *
 * @param own the operator's own namespace, and the name of its Lease there
 * @param more further flags of the operator
 * @throws {Error} one sentence, where it cannot be run
 */
export function sharedConfig(
  { isElected, log, predecessorHorizon }: ManagerConfig,
  own: { readonly namespace: string; readonly lease: string },
  more: readonly string[] = [],
): Config {
  const outcome = readConfig([
    `-kubernetes.namespace=${own.namespace}`,
    `-log.format=${log.format}`,
    `-log.level=${log.level}`,
    `-leader-election.enabled=${isElected}`,
    `-leader-election.resource-name=${own.lease}`,
    `-rollout.predecessor-horizon=${predecessorHorizon}ms`,
    ...more,
  ]);
  if (outcome.kind === 'run') return outcome.config;
  throw new Error(outcome.stderr.trim());
}

/** Returns the flags of the operator that serve webhooks with `files`, which are a Service's in the operator's own namespace. */
export function tlsFlags(
  files: WebhookFiles | undefined,
  own: OwnNames & { readonly namespace: string },
): readonly string[] {
  if (files === undefined) return [];
  const { port, certFile, keyFile, clientCa, selfSigned } = files;
  const served = [
    '-server-tls.enabled=true',
    `-server-tls.port=${port}`,
    `-server-tls.client-ca=${clientCa}`,
  ];
  const prefix = '-server-tls.self-signed-cert';
  if (selfSigned !== undefined) {
    const dnsName = selfSigned.dnsName || `${own.service}.${own.namespace}.svc`;
    return [...served, `${prefix}.secret-name=${own.secret}`, `${prefix}.dns-name=${dnsName}`];
  }
  // The files are another owner's, such as cert-manager's, which also gives the API server their CA.
  return [
    ...served,
    `-server-tls.cert-file=${certFile}`,
    `-server-tls.key-file=${keyFile}`,
    `${prefix}.enabled=false`,
    '-webhooks.update-ca-bundle=false',
  ];
}
