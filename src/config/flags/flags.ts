import { millis, minutes, seconds } from '#base/units.ts';
import { clientCaFlag } from './client-ca-flag.ts';
import {
  boolKind,
  csvKind,
  durationKind,
  floatKind,
  intKind,
  prometheusDurationKind,
  stringKind,
} from './flag-kind.ts';
import { FlagSet } from './go-flags.ts';

/** Every flag of the program (FL-10…FL-39), each at its default until `set` has parsed a command line. */
export type OperatorFlags = ReturnType<typeof flagsOf>;

/** Returns a fresh set of flags; parsing changes them, so each command line gets its own. */
export function operatorFlags(): OperatorFlags {
  return flagsOf(new FlagSet('rollout-operator'));
}

function flagsOf(set: FlagSet) {
  return {
    set,
    log: logFlags(set),
    server: serverFlags(set),
    kubernetes: kubernetesFlags(set),
    rollout: rolloutFlags(set),
    leaderElection: leaderElectionFlags(set),
    tls: tlsFlags(set),
    selfSigned: selfSignedFlags(set),
  } as const;
}

function logFlags(set: FlagSet) {
  return {
    format: set.add('log.format', stringKind, {
      default: 'logfmt',
      help: 'Format of the log on standard error: logfmt or json.',
    }),
    level: set.add('log.level', stringKind, {
      default: 'debug',
      help: 'Least severe level that is logged: debug, info, warn or error.',
    }),
  } as const;
}

function serverFlags(set: FlagSet) {
  const prefix = 'server.cluster-validation.http';
  return {
    port: set.add('server.port', intKind, {
      default: 8001,
      help: 'Port of the plain HTTP server with /ready and /metrics, on all interfaces.',
    }),
    isValidated: set.add(`${prefix}.enabled`, boolKind, {
      default: false,
      help: 'Reject requests whose X-Cluster header is not the namespace of this operator.',
    }),
    isSoft: set.add(`${prefix}.soft-validation`, boolKind, {
      default: false,
      help: `Log and count such requests, but serve them. Needs -${prefix}.enabled.`,
    }),
    excludedPaths: set.add(`${prefix}.excluded-paths`, csvKind, {
      default: [],
      help:
        'Comma-separated fragments of paths that are not validated. When empty: ' +
        'the paths of the admission webhooks.',
    }),
    excludedUserAgents: set.add(`${prefix}.excluded-user-agents`, csvKind, {
      default: [],
      help: 'Comma-separated regular expressions; a request with a User-Agent that matches one is not validated.',
    }),
  } as const;
}

function kubernetesFlags(set: FlagSet) {
  return {
    apiUrl: set.add('kubernetes.api-url', stringKind, {
      default: '',
      help: 'URL of the API server, instead of the one in -kubernetes.config-file.',
    }),
    configFile: set.add('kubernetes.config-file', stringKind, {
      default: '',
      help: 'Path of a kubeconfig. When empty, the service account of the pod is used.',
    }),
    clientTimeout: set.add('kubernetes.client-timeout', durationKind, {
      default: minutes(5),
      help: 'Time limit of one request to the API server; watches are renewed at least as often. 0 means none.',
    }),
    qps: set.add('kubernetes.client-qps', floatKind, {
      default: 5,
      help:
        'Requests per second and API group that are sent to the API server. Limits only when it is set; ' +
        '0 or less means no limit.',
    }),
    burst: set.add('kubernetes.client-burst', intKind, {
      default: 10,
      help: 'Requests that may be sent at once before -kubernetes.client-qps limits them.',
    }),
    clusterDomain: set.add('kubernetes.cluster-domain', stringKind, {
      default: 'cluster.local.',
      help: 'Last part of the DNS names of pods.',
    }),
    namespace: set.add('kubernetes.namespace', stringKind, {
      default: '',
      help: 'The one namespace that is served. Required.',
    }),
    podName: set.add('kubernetes.pod-name', stringKind, {
      default: '',
      help: 'Name of the pod of this process, which is labelled while it answers reviews. POD_NAME when empty.',
    }),
  } as const;
}

function rolloutFlags(set: FlagSet) {
  return {
    interval: set.add('reconcile.interval', durationKind, {
      default: seconds(5),
      help:
        'Time between two periodic looks at a rollout group; changes are acted on at once. ' +
        '0 or less means no periodic look.',
    }),
    podTimeout: set.add('pods.client-timeout', durationKind, {
      default: seconds(5),
      help: 'Time limit of one HTTP request to a pod. 0 or less means none.',
    }),
    stuckAfter: set.add('rollout.stuck-after', durationKind, {
      default: minutes(30),
      help:
        'How long an outdated pod is not ready on end before it is replaced without waiting for other zones. ' +
        '0 means never by time; pods whose containers cannot start are replaced in any case.',
    }),
    annotationPatchTimeout: set.add('zpdb.pod-ready-annotation-patch-timeout', durationKind, {
      default: seconds(5),
      help: 'Time limit of the patch that marks a pod as ready for its disruption budget.',
    }),
    isZoneTracked: set.add('use-zone-tracker', boolKind, {
      default: false,
      help: 'Keep the times of the last down-scales in a ConfigMap rather than in annotations.',
    }),
    zoneTrackerConfigMap: set.add('zone-tracker.config-map-name', stringKind, {
      default: 'rollout-operator-zone-tracker',
      help: 'Name of the ConfigMap of -use-zone-tracker.',
    }),
    predecessorHorizon: set.add('rollout.predecessor-horizon', durationKind, {
      default: seconds(120),
      help:
        'Time for which nothing is disrupted after a start, unless the Lease says that the process before ended ' +
        'in good order: for as long its last requests may still arrive.',
    }),
  } as const;
}

function leaderElectionFlags(set: FlagSet) {
  const prefix = 'leader-election';
  return {
    isEnabled: set.add(`${prefix}.enabled`, boolKind, {
      default: true,
      help:
        'Let only the replica that holds a Lease reconcile. When false: run one replica, and every start waits ' +
        'for -rollout.predecessor-horizon.',
    }),
    leaseDuration: set.add(`${prefix}.lease-duration`, durationKind, {
      default: seconds(15),
      help: 'Time after the last observed renewal before another replica takes the Lease. At most 10m.',
    }),
    renewDeadline: set.add(`${prefix}.renew-deadline`, durationKind, {
      default: seconds(10),
      help: 'Time after its last renewal for which the leader acts. Less than the lease duration.',
    }),
    retryPeriod: set.add(`${prefix}.retry-period`, durationKind, {
      default: seconds(2),
      help: 'Time between two tries to take or to renew the Lease. 1.2 times this must be less than the renew deadline.',
    }),
    resourceName: set.add(`${prefix}.resource-name`, stringKind, {
      default: 'rollout-operator',
      help: 'Name of the Lease.',
    }),
    leaseName: set.add(`${prefix}.lease-name`, stringKind, {
      default: '',
      help: 'The same, as the peer calls it; of both given this one counts.',
    }),
  } as const;
}

function tlsFlags(set: FlagSet) {
  return {
    isEnabled: set.add('server-tls.enabled', boolKind, {
      default: false,
      help: 'Serve the admission webhooks over TLS.',
    }),
    port: set.add('server-tls.port', intKind, {
      default: 8443,
      help: 'Port of the TLS server.',
    }),
    certFile: set.add('server-tls.cert-file', stringKind, {
      default: '',
      help: 'Path of the certificate, when it is not self-signed.',
    }),
    keyFile: set.add('server-tls.key-file', stringKind, {
      default: '',
      help: 'Path of the private key, when the certificate is not self-signed.',
    }),
    clientCa: clientCaFlag(set),
    requestTimeout: set.add('server-tls.request-timeout', durationKind, {
      default: seconds(10),
      help: 'Time limit of reading and of answering one request of the TLS server.',
    }),
    updatesCaBundle: set.add('webhooks.update-ca-bundle', boolKind, {
      default: true,
      help: 'Write the self-signed CA into the webhook configurations of this operator.',
    }),
  } as const;
}

function selfSignedFlags(set: FlagSet) {
  const prefix = 'server-tls.self-signed-cert';
  return {
    isEnabled: set.add(`${prefix}.enabled`, boolKind, {
      default: true,
      help: 'Create a self-signed certificate and keep it in a Secret.',
    }),
    secretName: set.add(`${prefix}.secret-name`, stringKind, {
      default: 'rollout-operator-self-signed-certificate',
      help: 'Name of the Secret of the self-signed certificate.',
    }),
    dnsName: set.add(`${prefix}.dns-name`, stringKind, {
      default: '',
      help: 'DNS name in the self-signed certificate. When empty: rollout-operator.<namespace>.svc.',
    }),
    organization: set.add(`${prefix}.org`, stringKind, {
      default: 'Grafana Labs',
      help: 'Organization in the self-signed certificate.',
    }),
    expiration: set.add(`${prefix}.expiration`, prometheusDurationKind, {
      default: millis(31_536_000_000),
      help: 'Time for which the self-signed certificate is valid, such as 90d or 1y.',
    }),
  } as const;
}
