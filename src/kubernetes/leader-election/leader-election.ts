import type { Monotonic } from '#base/units.ts';
import type { Announcement } from './announcements.ts';
import type { Predecessor } from './plan-predecessor.ts';

/** This process reconciles, and disrupts once its predecessor is waited out. */
export type Leading =
  | {
      readonly kind: 'leading';
      /** `<uid of the Lease>/<leaseTransitions>/<id of this process>`. */
      readonly term: string;
      readonly predecessor: Predecessor;
      /** Aborts when the Lease is lost or given up. Also ask `leads` just before each disruptive request is sent. */
      readonly signal: AbortSignal;
    }
  /** The Role permits no Lease, or a flag asks for none: it leads as the only replica, as the peer always did. */
  | {
      readonly kind: 'unavailable';
      /** A sentence for people: what is missing. */
      readonly because: string;
      /** Never `ended`: without a Lease that cannot be recorded. */
      readonly predecessor: Predecessor;
      /** Aborts when a Lease can be had after all, or this process ends. */
      readonly signal: AbortSignal;
    };

/** What this process is now. */
export type LeaderState =
  | Leading
  /** It follows; `because` is a clause for people: who holds the Lease, or why it cannot be taken. */
  | { readonly kind: 'candidate'; readonly because: string }
  /** It led, and may not any more; `because` is a sentence for people. */
  | { readonly kind: 'lost'; readonly because: string }
  /** It was asked to stop; `isClean` where that was written down for the successor. */
  | { readonly kind: 'ended'; readonly isClean: boolean };

/** Thrown when a process that led may not any more: it ends, with `message` as its last word. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

/** How the work under a Lease ended. */
export interface EndOptions {
  /**
   * Whether no request of this process is without its answer, none will be sent, and no group still waits for a
   * predecessor of its own. Only then may the successor go on at once.
   */
  readonly isClean: boolean;
}

/** One process's part in who leads. */
export interface LeaderElection {
  readonly state: LeaderState;
  /**
   * Takes part until `signal` aborts, {@link end} is called, or the Lease is lost. After a loss it may be called again, and
   * follows. An abort alone writes nothing: to the successor it looks like a crash. @throws never
   */
  run(signal: AbortSignal): Promise<void>;
  /** Calls `listener`, which must not throw, after each change of {@link state}. @returns a function that ends that */
  onChange(listener: (state: LeaderState) => void): () => void;
  /** Resolves as soon as this process leads, at once if it does. @throws the reason of `signal` when that aborts first */
  leading(signal: AbortSignal): Promise<Leading>;
  /**
   * Reports whether the Lease is ours at `now`; false at once when the renew deadline has passed, also after a pause of the
   * process.
   */
  isHeld(now: Monotonic): boolean;
  /** Reports whether this process may disrupt at `now`: it holds the Lease, or leads without one. */
  leads(now: Monotonic): boolean;
  /**
   * Has the Lease name `request` before it is sent, so that a successor knows whether it may be under way; at once without a
   * Lease, as no successor knows anything then.
   *
   * @throws {TransportError} `not-sent`, when `signal` aborts before
   */
  announce(request: string, signal: AbortSignal): Promise<Announcement>;
  /**
   * Ends {@link run}. After a clean end the Lease has no holder and says which term ended, in one update; where that
   * cannot be written within the renew deadline, nothing is claimed. @throws never
   */
  end(options: EndOptions): Promise<void>;
}
