import { type Millis, minutes } from '#base/units.ts';

/** Everything that the command line decides; deeply frozen. */
export interface Config {
  readonly log: { readonly format: LogFormat; readonly level: LogLevel };
  readonly server: {
    readonly port: number;
    readonly clusterValidation: ClusterValidationConfig;
  };
  readonly kubernetes: KubernetesConfig;
  readonly pods: {
    /** Time limit of one HTTP request to a pod; undefined means none (FL-18). */
    readonly clientTimeout: Millis | undefined;
  };
  readonly reconcile: {
    /** Time between two periodic looks at a group; undefined switches them off (D-14). */
    readonly resync: Millis | undefined;
  };
  readonly leaderElection: LeaderElectionConfig;
  readonly rollout: {
    /** How long a pod is not ready without a break before that alone makes it stuck; undefined means never (D-48). */
    readonly stuckAfter: Millis | undefined;
    /** How long a process that starts, or gains the Lease, waits for what its predecessor may have sent (D-50). */
    readonly predecessorHorizon: Millis;
  };
  readonly tls: TlsConfig;
  readonly zoneTracker: { readonly isEnabled: boolean; readonly configMapName: string };
  readonly zpdb: { readonly podReadyAnnotationPatchTimeout: Millis };
}

/** The least severe events that are logged (FL-11). */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** How log lines are written (FL-10). */
export type LogFormat = 'logfmt' | 'json';

/** What the server does about the `X-Cluster` header (FL-22…FL-25, ME-40). */
export interface ClusterValidationConfig {
  readonly isEnabled: boolean;
  /** Log and count, but serve. */
  readonly isSoft: boolean;
  /** Literal fragments of paths that are exempt, besides the built-in ones. */
  readonly excludedPaths: readonly string[];
  readonly excludedUserAgents: readonly RegExp[];
}

/** How the API server is reached (FL-13…FL-20). */
export interface KubernetesConfig {
  /** Undefined: as the kubeconfig says, or else from inside the cluster. */
  readonly apiUrl: string | undefined;
  readonly configFile: string | undefined;
  /** Time limit of one request; undefined means none. */
  readonly clientTimeout: Millis | undefined;
  /** Undefined means that requests are not limited: so it is unless `-kubernetes.client-qps` is given (D-14). */
  readonly limiter: { readonly qps: number; readonly burst: number } | undefined;
  /** Last part of the names of pods, used as it is, such as `cluster.local.`. */
  readonly clusterDomain: string;
  readonly namespace: string;
  /** The pod of this process; undefined: as the environment says. */
  readonly podName: string | undefined;
}

/** The TLS server and its certificate (FL-26…FL-36). */
export interface TlsConfig {
  readonly isEnabled: boolean;
  readonly port: number;
  readonly certFile: string;
  readonly keyFile: string;
  /** The file of the CAs that clients must have a certificate of; empty: all clients are answered. */
  readonly clientCa: string;
  readonly requestTimeout: Millis;
  readonly updatesCaBundle: boolean;
  readonly selfSigned: {
    readonly isEnabled: boolean;
    readonly secretName: string;
    /** Never empty. */
    readonly dnsName: string;
    readonly organization: string;
    readonly expiration: Millis;
  };
}

/**
 * The longest duration of a Lease that may be asked for. What a Lease says beyond it, no process of ours can have written, and it
 * keeps no replica waiting for ever.
 */
export const longestLease: Millis = minutes(10);

/** Which of several replicas reconciles; client-go's words and durations. */
export interface LeaderElectionConfig {
  /** Off: this process leads, and every start waits for its predecessor. */
  readonly isEnabled: boolean;
  /** How long others leave a Lease alone that is not renewed. At most 10 minutes. */
  readonly leaseDuration: Millis;
  /** How long the holder acts without having renewed; less than `leaseDuration`. */
  readonly renewDeadline: Millis;
  /** From one try to the next; 1.2 times of it are less than `renewDeadline`. */
  readonly retryPeriod: Millis;
  /** Name of the Lease. */
  readonly resourceName: string;
}
