import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import type { Millis } from '#base/units.ts';
import { seconds } from '#base/units.ts';
import type { LogLevel } from '../config.ts';
import type { BindAddress } from './bind-address.ts';
import { parseBindAddress } from './bind-address.ts';
import { clientCaFlag } from './client-ca-flag.ts';
import { boolKind, durationKind, type FlagKind, intKind, stringKind } from './flag-kind.ts';
import type { Flag, FlagSet } from './go-flags.ts';

/** How zap writes a line. */
export type Encoder = 'console' | 'json';

/** The flags of a manager of controller-runtime, whose names no other peer of ours has. */
export type ManagerFlags = ReturnType<typeof serverFlags> &
  ReturnType<typeof clusterFlags> &
  ReturnType<typeof logFlags>;

/** The flags of webhooks. */
export type WebhookFlags = ReturnType<typeof allOfWebhooks>;

/** Defaults that are another program's where its flags are read, too. */
export interface ManagerDefaults {
  /** Undefined: not served. */
  readonly probes: BindAddress | undefined;
  /** @default not served, and where an address is given, over HTTPS */
  readonly metrics?: { readonly address: BindAddress; readonly isSecure: boolean };
  readonly isElected: boolean;
  /** Whether the log is for people, and has all. @default true, as controller-runtime's managers are made */
  readonly isDevelopment?: boolean;
}

/** Adds to `set` the flags of a manager. */
export function managerFlags(set: FlagSet, defaults: ManagerDefaults): ManagerFlags {
  return {
    ...serverFlags(set, defaults),
    ...clusterFlags(set, defaults),
    ...logFlags(set, defaults),
  };
}

/** Adds to `set` the flags of webhooks that the API server calls by the Service `service`. */
export function webhookFlags(set: FlagSet, service: string): WebhookFlags {
  return allOfWebhooks(set, service);
}

function allOfWebhooks(set: FlagSet, service: string) {
  return {
    webhookPort: set.add('server-tls.port', intKind, {
      default: 9_443,
      help: 'Port of the webhooks.',
    }),
    isSelfSigned: set.add('server-tls.self-signed-cert.enabled', boolKind, {
      default: false,
      help:
        'Serve the webhooks with a certificate of our own, kept in a Secret, and write its CA into the webhook ' +
        'configurations that are labelled for it; else with the files of the folder of serving certificates.',
    }),
    dnsName: set.add('server-tls.self-signed-cert.dns-name', stringKind, {
      default: '',
      help: `DNS name in that certificate. When empty: ${service}.<namespace>.svc.`,
    }),
    clientCa: clientCaFlag(set),
  } as const;
}

function serverFlags(set: FlagSet, { probes, metrics }: ManagerDefaults) {
  return {
    /** Undefined: not served. */
    metricsAddress: set.add('metrics-bind-address', addressKind, {
      default: metrics?.address,
      help: 'Address of /metrics, such as :8443; 0 switches it off.',
    }),
    areMetricsSecure: set.add('metrics-secure', boolKind, {
      default: metrics?.isSecure ?? true,
      help: 'Serve /metrics over HTTPS, and only to clients that the API server permits getting it.',
    }),
    /** Undefined: not served. */
    probeAddress: set.add('health-probe-bind-address', addressKind, {
      default: probes,
      help: 'Address of /healthz and /readyz; 0 switches them off.',
    }),
    isHttp2Wanted: set.add('enable-http2', boolKind, {
      default: false,
      help: 'Has no effect here: the servers speak HTTP/1.1.',
    }),
  } as const;
}

function clusterFlags(set: FlagSet, { isElected }: ManagerDefaults) {
  return {
    isElected: set.add('leader-elect', boolKind, {
      default: isElected,
      help: 'Let only the replica that holds a Lease reconcile.',
    }),
    kubeconfig: set.add('kubeconfig', stringKind, {
      default: '',
      help: 'Path of a kubeconfig. When empty: KUBECONFIG, or the service account of the pod.',
    }),
  } as const;
}

/** Adds the wait for an earlier process, which no peer has. */
export function horizonFlag(set: FlagSet): Flag<Millis> {
  return set.add('rollout.predecessor-horizon', durationKind, {
    default: seconds(120),
    help:
      'Time for which no pod is let go after a start, unless the Lease says that the process before ended ' +
      'in good order.',
  });
}

function logFlags(set: FlagSet, { isDevelopment = true }: ManagerDefaults) {
  return {
    isDevelopment: set.add('zap-devel', boolKind, {
      default: isDevelopment,
      help: 'Log from debug on and as logfmt; when false, from info on and as JSON.',
    }),
    encoder: set.add('zap-encoder', encoderKind, {
      default: undefined,
      help: 'Format of the log: console, which is logfmt here, or json.',
    }),
    logLevel: set.add('zap-log-level', levelKind, {
      default: undefined,
      help: 'Least severe level that is logged: debug, info, error, panic, or a number above 0 for debug.',
    }),
    stacktraceLevel: set.add('zap-stacktrace-level', oneOf(['info', 'error', 'panic']), {
      default: '',
      help: 'Has no effect here: errors are logged with what caused them.',
    }),
    timeEncoding: set.add('zap-time-encoding', oneOf(timeEncodings), {
      default: '',
      help: 'Has no effect here: times are written as RFC 3339.',
    }),
  } as const;
}

/** The peers name `nano` in their usage listing, and take `nanos`. */
const timeEncodings = [
  'epoch',
  'millis',
  'nano',
  'nanos',
  'iso8601',
  'rfc3339',
  'rfc3339nano',
] as const;

/** `0`, and nothing at all, is no address, as for the peer. */
const addressKind: FlagKind<BindAddress | undefined> = {
  placeholder: 'string',
  isBoolean: false,
  parse: (text) => (text === '0' || text === '' ? valid(undefined) : parseBindAddress(text)),
  show: (value) => JSON.stringify(value === undefined ? '0' : `${value.host ?? ''}:${value.port}`),
};

const encoderKind: FlagKind<Encoder | undefined> = {
  placeholder: 'value',
  isBoolean: false,
  parse: (text) => {
    const encoder = text.toLowerCase();
    return encoder === 'console' || encoder === 'json' ? valid(encoder) : notOneOf(text);
  },
  show: () => undefined,
};

const levels: Readonly<Record<string, LogLevel>> = {
  debug: 'debug',
  info: 'info',
  error: 'error',
  // Nothing here is more severe than an error.
  panic: 'error',
};

const levelKind: FlagKind<LogLevel | undefined> = {
  placeholder: 'value',
  isBoolean: false,
  parse: (text) => {
    const word = text.toLowerCase();
    const level = Object.hasOwn(levels, word) ? levels[word] : undefined;
    if (level !== undefined) return valid(level);
    return /^\+?0*[1-9]\d{0,17}$/.test(text) ? valid('debug') : notOneOf(text);
  },
  show: () => undefined,
};

function oneOf(words: readonly string[]): FlagKind<string> {
  return {
    placeholder: 'value',
    isBoolean: false,
    parse: (text) => (words.includes(text.toLowerCase()) ? valid(text) : notOneOf(text)),
    show: (value) => (value === '' ? undefined : value),
  };
}

function notOneOf(text: string): Parsed<never> {
  return invalid('value', `it is not known here: ${quoted(text)}`);
}
