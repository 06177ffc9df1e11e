import type { Millis } from '#base/units.ts';

/** HTTP methods that the Kubernetes API knows. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request to the API server. */
export interface TransportRequest {
  readonly method: Method;
  /** Absolute path with query, such as `/api/v1/namespaces/demo/pods?limit=500`. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Aborts the request, and a stream while it is read. */
  readonly signal?: AbortSignal;
  /** Time until the response has arrived in full (streams: until the headers). @default none */
  readonly timeout?: Millis;
  /**
   * The same, but counted from when the client's rate limiter let the request go, however long it had waited there
   * (D-53). The layers of a client turn it into `timeout`; a bare network does not know it. @default none
   */
  readonly answerWithin?: Millis;
  /**
   * Called synchronously just before the request is handed to the connection. What it throws is what the
   * caller gets, and nothing is sent: the last place to check that a decision is still fresh (D-3).
   */
  readonly beforeSend?: () => void;
}

/** A request whose body need not be text. */
export interface ByteRequest extends Omit<TransportRequest, 'body'> {
  readonly body?: string | Uint8Array;
  /**
   * Most bytes that a whole answer may have, so that it is not kept; a longer one fails for an {@link AnswerTooLongError}.
   * @default any number
   */
  readonly longestAnswer?: number;
  /** Called with the length of each piece of a whole answer as it comes, before it is kept; may abort `signal`. */
  readonly onBytes?: (bytes: number) => void;
}

/** A whole answer. */
export interface TransportResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** An answer that is read as it arrives. */
export interface TransportStream {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Bytes as they arrive, cut anywhere. Iterating applies back-pressure; leaving the loop closes the stream.
   * Ends cleanly at the end of the answer. @throws {TransportError} when the connection breaks first
   */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * The way to the API server (D-43). Adapters: Node's own HTTP(S), the in-process dispatcher of the embedded
 * cluster; decorators (rate limiter, metrics, headers) wrap one another. One contract suite holds for all.
 */
export interface Transport {
  /** Sends and reads the whole answer, whatever its status. @throws {TransportError} when there is no whole answer */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Sends and resolves when the headers are there. @throws {TransportError} when there are none */
  stream(request: TransportRequest): Promise<TransportStream>;
  /** Ends all connections; requests under way fail. */
  close(): Promise<void>;
}

/** What is known of a request that has no (whole) answer. */
export type TransportFailure =
  /** Never handed to a connection: surely without effect. */
  | 'not-sent'
  /** The deadline passed. The server may have acted. */
  | 'timeout'
  /** The connection ended before the whole answer. The server may have acted. */
  | 'connection'
  /** The caller's signal aborted it. The server may have acted. */
  | 'aborted';

/** The cause of a failure by `longestAnswer`. */
export class AnswerTooLongError extends Error {
  override readonly name = 'AnswerTooLongError';

  constructor(longest: number) {
    super(`the answer is longer than ${longest} bytes`);
  }
}

/** A request without a whole answer; `failure` says whether the server may have acted on it. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly failure: TransportFailure;

  constructor(message: string, failure: TransportFailure, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}
