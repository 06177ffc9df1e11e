import { assertNever } from '#base/assert-never.ts';
import type { Because } from '#base/because.ts';
import { type Backoff, backoffAfter } from '#base/time/backoff.ts';
import { after, type Instant, type Millis, millis, minutes, seconds } from '#base/units.ts';
import type { HostRefusal } from '#kubernetes/outgoing/allowed-hosts.ts';

/** How one attempt to send a callback ended. */
export type CallbackOutcome =
  /** The receiver has answered, whatever its status. */
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** What it asks to wait; absent where it asks for nothing. */
      readonly retryAfter?: Millis;
      /** The first 200 characters of its answer. */
      readonly excerpt: string;
    }
  /** Nothing was sent, as nothing may be; `why` is a clause. */
  | {
      readonly kind: 'refused';
      readonly reason: HostRefusal | 'AddressNotAllowed' | 'InvalidCallbackUrl';
      readonly why: string;
    }
  /** No name, no route, no agreement on TLS, or the connection broke. The receiver may have acted. */
  | { readonly kind: 'unreachable'; readonly why: string }
  /** No status in time. The receiver may have acted. */
  | { readonly kind: 'timed-out'; readonly why: string }
  /** The caller gave it up, or the client was closed: no attempt that counts. */
  | { readonly kind: 'given-up' };

/** Why a callback is delivered, or is not. */
export type CallbackReason =
  | 'CallbackDelivered'
  /** The list of hosts does not have the receiver (E-20). */
  | 'HostNotAllowed'
  /** The receiver is to be called by http, which its entry does not permit (E-22). */
  | 'HttpsRequired'
  /** The name of the receiver leads where no callback goes (E-21). */
  | 'AddressNotAllowed'
  | 'InvalidCallbackUrl'
  /** There is no key to sign the callback with, which is wanted signed. */
  | 'SigningKeyMissing'
  /** The receiver redirects, which is not followed (E-22). */
  | 'CallbackRedirected'
  /** The receiver refuses the callback for good (E-8). */
  | 'CallbackRefused'
  /** The receiver cannot take the callback now (E-9). */
  | 'ReceiverUnavailable'
  | 'ReceiverUnreachable'
  | 'ReceiverTimedOut'
  /** The last attempt has failed, too (E-13). */
  | 'CallbackAttemptsUsedUp';

/** What an outcome means for the callback. */
export type CallbackVerdict =
  | { readonly kind: 'delivered'; readonly because: Because<CallbackReason> }
  /** Another attempt would end the same way. */
  | { readonly kind: 'permanent'; readonly because: Because<CallbackReason> }
  | TemporaryFailure
  /** Nothing is known, and nothing counts. */
  | { readonly kind: 'given-up' };

/** A failure after which another attempt may succeed. */
export interface TemporaryFailure {
  readonly kind: 'temporary';
  readonly because: Because<CallbackReason>;
  /** The next attempt is not made before; at most 10 min. Absent where nothing was asked for. */
  readonly retryAfter?: Millis;
}

/** Longer waits that a receiver asks for are cut to this (E-9); no next attempt lies further ahead. */
export const longestRetryAfter = minutes(10);
/** It has the callback already: that of an attempt whose answer got lost. */
const alreadyKnown = 409;
/** Below 500, and to be tried again (E-9). */
const temporary: readonly number[] = [408, 425, 429];

/** Says what `outcome` means (E-7, E-8, E-9). Of refusals that were not foreseen, another attempt would bring the same. */
export function verdictOf(outcome: CallbackOutcome): CallbackVerdict {
  switch (outcome.kind) {
    case 'answered':
      return verdictOfAnswer(outcome);
    case 'refused':
      return permanent(outcome.reason, outcome.why);
    case 'unreachable':
      return { kind: 'temporary', because: because('ReceiverUnreachable', outcome.why) };
    case 'timed-out':
      return { kind: 'temporary', because: because('ReceiverTimedOut', outcome.why) };
    case 'given-up':
      return outcome;
    default:
      return assertNever(outcome);
  }
}

function verdictOfAnswer(
  answer: Extract<CallbackOutcome, { kind: 'answered' }>,
): Exclude<CallbackVerdict, { kind: 'given-up' }> {
  const { status, retryAfter, excerpt } = answer;
  const said = excerpt === '' ? '' : `: ${JSON.stringify(excerpt)}`;
  const message = `the receiver answers ${status}${said}`;
  if (isDelivery(status)) {
    return { kind: 'delivered', because: because('CallbackDelivered', message) };
  }
  if (status >= 300 && status < 400) return permanent('CallbackRedirected', message);
  if (isRefusal(status)) return permanent('CallbackRefused', message);
  const failure = { kind: 'temporary', because: because('ReceiverUnavailable', message) } as const;
  if (retryAfter === undefined) return failure;
  return { ...failure, retryAfter: millis(Math.min(Math.max(0, retryAfter), longestRetryAfter)) };
}

function isDelivery(status: number): boolean {
  return (status >= 200 && status < 300) || status === alreadyKnown;
}

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && !temporary.includes(status);
}

function permanent(
  reason: CallbackReason,
  message: string,
): Extract<CallbackVerdict, { kind: 'permanent' }> {
  return { kind: 'permanent', because: because(reason, message) };
}

function because(reason: CallbackReason, message: string): Because<CallbackReason> {
  return { reason, message };
}

/** What the time of the next attempt rests on. */
export interface AttemptsMade {
  /** Attempts of this outcome of the rollout that have ended, the one that just failed included; 1 or more. */
  readonly attempts: number;
  /** @default 10 */
  readonly mostAttempts?: number;
  /** When the last one ended. */
  readonly now: Instant;
  /** From 0 up to, but not including, 1; drawn again each time. */
  readonly random: number;
}

/** What follows a failure that may be temporary. */
export type NextAttempt =
  | { readonly kind: 'attempt'; readonly at: Instant }
  | { readonly kind: 'used-up'; readonly because: Because<CallbackReason> };

const backoff: Backoff = { first: seconds(2), longest: minutes(5) };

/**
 * Returns when to try again (E-12): 2 s after the first failure, then twice as long each time, at most 5 min. Of each wait a part
 * of up to a half is left out at random, so that rollouts that ended together do not call together. What the receiver asks
 * for is waited in full.
 */
export function nextAttempt(
  failure: TemporaryFailure,
  { attempts, mostAttempts = 10, now, random }: AttemptsMade,
): NextAttempt {
  if (attempts >= mostAttempts) {
    const { message } = failure.because;
    const text = `given up after ${attempts} attempts: ${message}`;
    return { kind: 'used-up', because: because('CallbackAttemptsUsedUp', text) };
  }
  const whole = backoffAfter(Math.max(0, attempts - 1), backoff);
  const wait = Math.max(whole * (1 - random / 2), failure.retryAfter ?? 0);
  return { kind: 'attempt', at: after(now, millis(Math.ceil(wait))) };
}
