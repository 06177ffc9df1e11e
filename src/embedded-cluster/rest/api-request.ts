import type { User } from '#embedded-cluster/cluster.ts';
import type { WatchSession } from '#embedded-cluster/watch/watch-session.ts';

/** The media type of bodies where nothing else is said. */
export const JSON_TYPE = 'application/json';

/** The media type of binary bodies. */
export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

/** One HTTP request as the API server sees it, whichever way it came. */
export interface ApiRequest {
  readonly method: string;
  /** Absolute path with query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text; of a protobuf body each character is one byte. */
  readonly body: string;
  readonly user: User;
  /** Identifies the connection in the event log. */
  readonly client: string;
  /** False once the client is gone: nothing that it sent may have an effect any more (D-43). */
  readonly isAlive: () => boolean;
}

/** A whole answer; `body` is written piece by piece. */
export interface WholeAnswer {
  readonly kind: 'whole';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
}

/** What the API server answers. */
export type ApiAnswer =
  | WholeAnswer
  | {
      readonly kind: 'watch';
      readonly status: 200;
      readonly headers: Readonly<Record<string, string>>;
      readonly session: WatchSession;
    }
  /** The connection breaks instead (FI-2). */
  | { readonly kind: 'dropped' };
