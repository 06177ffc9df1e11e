import type { Millis } from '#base/units.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';

/** What the scripted server does with every request of one path. */
export type Behaviour =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: string;
    }
  /** Headers, then the chunks one by one, then the end, silence, or a broken connection. */
  | {
      readonly kind: 'stream';
      readonly chunks: readonly string[];
      readonly ending: 'end' | 'hang' | 'reset';
    }
  /** Writes this many bytes in chunks of 64 KiB, each as soon as the reader has room. */
  | { readonly kind: 'flood'; readonly bytes: number }
  /** Takes the request and says nothing. */
  | { readonly kind: 'hang' }
  /** Takes the request and breaks the connection before any header. */
  | { readonly kind: 'reset' }
  /** Announces `announced` bytes, sends `body`, and closes. */
  | { readonly kind: 'short'; readonly announced: number; readonly body: string };

/** Behaviour by path; the paths are literal, without query. */
export type Script = Readonly<Record<string, Behaviour>>;

/** One request as the server saw it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** One transport with the server behind it, as an adapter's test provides them. */
export interface TransportUnderTest {
  readonly transport: Transport;
  /** Everything that reached the server, in order. */
  readonly received: readonly ReceivedRequest[];
  /** Resolves when the server has taken a request for `path`. */
  readonly arrived: (path: string) => Promise<void>;
  /** Resolves when the client has closed an exchange of `path` before its end. */
  readonly left: (path: string) => Promise<void>;
  /** Bytes that the flood of `path` has got rid of so far. */
  readonly written: (path: string) => number;
  /** Connections made so far; undefined where there is no such thing. */
  readonly connections: () => number | undefined;
  /** Moves the transport's clock. */
  readonly advance: (span: Millis) => void;
  readonly close: () => Promise<void>;
}
