/** What the threads that answer reviews and the one that started them say to each other. */
import type { Millis } from '#base/units.ts';
import type { KeyPair } from '#certificate/certificate-source.ts';
import type { MisdirectedRequest, ServedRequest } from '#telemetry/http-server-metrics.ts';
import type { LineLoggerOptions } from '#telemetry/line-logger.ts';
import type { AdmissionServerOptions } from '../admission-server.ts';
import type { PostedAnswer } from '../review-desk.ts';

/** How a thread serves, given to it at its start. */
export interface ThreadSettings
  extends Pick<
    AdmissionServerOptions,
    'port' | 'host' | 'certificate' | 'clusterValidation' | 'requestTimeout' | 'drain' | 'bodyRoom'
  > {
  readonly log: Pick<LineLoggerOptions, 'format' | 'level'>;
}

/** A review that a thread cannot answer at sight. */
export interface AskedReview {
  /** Of this thread, for the answer. */
  readonly id: number;
  readonly path: string;
  readonly contentType: string;
  readonly body: Uint8Array;
  /** Without `?`. */
  readonly query: string;
  /** How long ago it arrived: the clocks of threads have beginnings of their own. */
  readonly waited: Millis;
}

/** What a thread has to say of itself, gathered for some milliseconds. */
export interface Account {
  /** Lines of the log. */
  readonly lines: readonly string[];
  readonly served: readonly ServedRequest[];
  readonly misdirected: readonly MisdirectedRequest[];
  /** By how much the requests under way have changed, where they have. */
  readonly inflight: readonly InflightChange[];
}

/** More requests under way, or fewer. */
export interface InflightChange {
  readonly method: string;
  readonly route: string;
  readonly change: number;
}

/** What a thread says. */
export type FromThread =
  | { readonly kind: 'listening'; readonly port: number }
  /** It cannot serve. */
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'asked'; readonly review: AskedReview }
  /** The caller of that review has gone. */
  | { readonly kind: 'left'; readonly id: number }
  | { readonly kind: 'account'; readonly account: Account }
  /** The certificate that it was told of last is in use. */
  | { readonly kind: 'certified' }
  /** Drained; it says nothing more. */
  | { readonly kind: 'closed' };

/** What a thread is told. */
export type ToThread =
  | { readonly kind: 'answered'; readonly id: number; readonly answer: PostedAnswer }
  | { readonly kind: 'serve'; readonly settings: ThreadSettings }
  | { readonly kind: 'certificate'; readonly certificate: KeyPair }
  | { readonly kind: 'close' };
