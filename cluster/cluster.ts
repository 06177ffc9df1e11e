import type { Clock } from '#base/clock.ts';
import type { Millis } from '#base/units.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import type { EventLog } from './event-log.ts';

/** Who speaks to the API server. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

/** A connection of one client; revoking it is how a simulated process is killed (D-43). */
export interface ClusterTransport extends Transport {
  /** Identifies this client in the event log. */
  readonly client: string;
  /**
   * Revokes the client: from now on nothing that it sends arrives, and no answer or event reaches it; nothing throws,
   * promises stay pending. What it had sent is void.
   *
   * @param late what it had sent arrives all the same, each request so long after now as this says (D-57)
   */
  revoke(late?: () => Millis): void;
}

/** An HTTP(S) listener of the cluster. */
export interface Listener {
  /** Such as `https://127.0.0.1:34567`. */
  readonly url: string;
  /** The certificate to trust, as PEM; undefined for plain HTTP. */
  readonly ca: string | undefined;
  /** Returns a new bearer token of `user`. @default the administrator */
  token(user?: User): string;
  /** Returns a kubeconfig (YAML) with one context and the token of `user`. @default the administrator */
  kubeconfig(user?: User): string;
  close(): Promise<void>;
}

/** Options of `createCluster`; see {@link Cluster}. */
export interface ClusterOptions {
  readonly clock: Clock;
  /** Source of all randomness: uids, suffixes, jitter, orders. */
  readonly seed: number;
  /** Minor version that is emulated. @default '1.36' (D-44) */
  readonly version?: string;
}

/** A Kubernetes API server in this process, without controllers; see `startControllers` and `startKubelet`. */
export interface Cluster {
  readonly clock: Clock;
  readonly eventLog: EventLog;
  /** Returns a new in-process client connection. @param user a user name, or a user with groups. @default `system:admin` */
  transport(user?: User | string): ClusterTransport;
  /** Serves HTTP on 127.0.0.1. @throws with a virtual clock (CK-5) */
  listen(options?: { readonly port?: number; readonly isTls?: boolean }): Promise<Listener>;
  /** Ends listeners, watches and timers; leaves nothing behind (EM-1). */
  close(): Promise<void>;
}
