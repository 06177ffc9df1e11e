import { assertNever } from '#base/assert-never.ts';
import { type Backoff, backoffAfter } from '#base/time/backoff.ts';
import { type Millis, type Monotonic, millis, minutes, monotonic, seconds } from '#base/units.ts';
import {
  emptySlot,
  type MessageSlot,
  mapSlots,
  type Outbox,
  type Thread,
  withSlot,
  withThread,
} from './outbox-state.ts';
import type { SlackCall, SlackResult } from './slack-client/slack-call.ts';
import { remedyOf } from './slack-client/slack-errors.ts';
import { held, identified } from './slack-client/slack-rates.ts';

/** Where Slack does not say for how long. */
const usualRetryAfter = seconds(30);
const longestRetryAfter = minutes(60);
const backoff: Backoff = { first: seconds(1), longest: minutes(5) };
const mostAttempts = 10;
/** From the second time on: a channel where nothing can be changed is not filled with copies. */
const repostSpacing = minutes(5);
const withoutToken = minutes(1);

/** A call that has ended, and the thread that it was made for. */
interface Ended {
  readonly call: SlackCall;
  readonly thread: Thread;
  /** The message that it was about. */
  readonly slot: MessageSlot;
  readonly now: Monotonic;
}

/** Returns the outbox once `call` has come to `result`. */
export function settle(
  outbox: Outbox,
  { call, result }: { readonly call: SlackCall; readonly result: SlackResult },
  now: Monotonic,
): Outbox {
  const span = waitOf(result);
  const known =
    result.kind === 'ok' ? identified(outbox.rates, call, result.channel) : outbox.rates;
  const rates = span === undefined ? known : held(outbox.rates, call, { now, span });
  const found = outbox.threads.get(call.thread);
  if (found === undefined || !isOf(call, found)) return { ...outbox, rates };
  const thread = { ...found, isBusy: false };
  const slot = thread.slots.get(call.page) ?? emptySlot;
  return { ...withThread(outbox, settled({ call, thread, slot, now }, result)), rates };
}

/** Reports whether the thread is still in the channel of the call. */
function isOf({ account, channel }: SlackCall, thread: Thread): boolean {
  return account === thread.account && channel === (thread.conversation ?? thread.channel);
}

/** Returns how long the channel is left alone; undefined where it is not. */
function waitOf(result: SlackResult): Millis | undefined {
  const isWord = result.kind === 'refused' && remedyOf(result.error) === 'wait';
  if (result.kind !== 'rate-limited' && !isWord) return undefined;
  const asked = result.kind === 'rate-limited' ? result.retryAfter : undefined;
  return millis(Math.min(asked ?? usualRetryAfter, longestRetryAfter));
}

function settled(ended: Ended, result: SlackResult): Thread {
  const { thread, now } = ended;
  switch (result.kind) {
    case 'ok':
      return taken(ended, result);
    case 'rate-limited':
      return { ...thread, error: 'ratelimited' };
    case 'no-token':
      return { ...thread, error: 'no token', retryAt: monotonic(now + withoutToken) };
    case 'unreachable':
      return failed(ended, result.message);
    case 'refused':
      return refused(ended, result.error);
    default:
      return assertNever(result);
  }
}

function taken(
  { call, thread, slot, now }: Ended,
  { channel, ts }: Extract<SlackResult, { kind: 'ok' }>,
): Thread {
  const isNewest = slot.content?.hash === call.hash;
  const sent: MessageSlot = {
    ...slot,
    ts,
    sentHash: call.hash,
    lastSent: now,
    isUrgent: slot.isUrgent && !isNewest,
    attempts: 0,
  };
  const calm = { failures: 0, retryAt: undefined, isTokenDoubted: false, error: undefined };
  return withSlot({ ...thread, ...calm, conversation: channel }, call.page, sent);
}

function refused(ended: Ended, error: string): Thread {
  const { call, thread, slot } = ended;
  const remedy = remedyOf(error);
  switch (remedy) {
    case 'wait':
      return { ...thread, error };
    case 'stop':
      return { ...thread, error, isStopped: true };
    case 'read-token':
      return { ...thread, error, isTokenDoubted: true, isStopped: thread.isTokenDoubted };
    case 'post-anew':
      return { ...postedAnew(ended), error };
    case 'send-plain':
      return withSlot({ ...thread, error }, call.page, withoutBlocks(slot, call));
    case 'try-again':
      return failed(ended, error);
    default:
      return assertNever(remedy);
  }
}

/** Marks the content to be sent without blocks; newer content is tried with blocks again. */
function withoutBlocks(slot: MessageSlot, { hash }: SlackCall): MessageSlot {
  if (slot.content?.hash !== hash) return slot;
  return slot.isPlain ? { ...slot, givenUpHash: hash } : { ...slot, isPlain: true };
}

function failed({ call, thread, slot, now }: Ended, error: string): Thread {
  const failures = thread.failures + 1;
  const retryAt = monotonic(now + backoffAfter(thread.failures, backoff));
  const attempts = slot.attempts + 1;
  const isOver = attempts >= mostAttempts;
  const counted = { ...slot, attempts, ...(isOver && { givenUpHash: call.hash }) };
  const next = slot.content?.hash === call.hash ? counted : slot;
  return withSlot({ ...thread, failures, retryAt, error }, call.page, next);
}

/** Plans to post a message again. Pages are below the summary, and go where it goes: also where a page could not be posted as the summary was missing. */
function postedAnew({ call, thread, slot, now }: Ended): Thread {
  const isWholeThread = call.page === 0 || call.kind === 'post';
  if (!isWholeThread) return withSlot(thread, call.page, unposted(slot, now));
  return mapSlots(thread, (each, page) =>
    page === 0 ? unposted(each, now) : { ...each, ts: undefined, sentHash: '' },
  );
}

function unposted(slot: MessageSlot, now: Monotonic): MessageSlot {
  const repostAt = slot.reposts === 0 ? now : monotonic(now + repostSpacing);
  return { ...slot, ts: undefined, sentHash: '', reposts: slot.reposts + 1, repostAt };
}
