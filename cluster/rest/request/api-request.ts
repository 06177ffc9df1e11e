import type { Millis } from '#base/units.ts';
import type { User } from '../../cluster.ts';
import type { WatchSession } from '../../watch/watch-session.ts';

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
  /** False once the client is gone: no client reads an answer, and what it sent has no effect any more (D-43) unless it is late. */
  readonly isAlive: () => boolean;
  /**
   * How much longer it is on its way once its client is gone; undefined: it never arrives. A killed process takes
   * nothing back that it had sent (D-57).
   */
  readonly lateness?: () => Millis | undefined;
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
