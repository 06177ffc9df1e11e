/**
 * Which message goes to Slack next, and when: what is newest first, within Slack's limits. The room posts messages and
 * callbacks and reads their answers; nothing of a rollout waits for it, and what has happened is decided elsewhere.
 */
import { type Millis, type Monotonic, monotonic, seconds } from '#base/units.ts';
import {
  isLastPhase,
  isPending,
  type MessageSlot,
  mapSlots,
  type Outbox,
  summaryOf,
  type Thread,
  withThread,
} from './outbox-state.ts';
import type { SlackCall } from './slack-client/slack-call.ts';
import { charged, freeAt } from './slack-client/slack-rates.ts';
import {
  plainMessage,
  type SlackContent,
  type SlackMessage,
} from './slack-message/slack-blocks.ts';

/** What is to be done next. Each has the outbox as it is from now on. */
export type OutboxStep =
  /** Make the call, and pass the result to {@link settle}. */
  | { readonly kind: 'call'; readonly call: SlackCall; readonly outbox: Outbox }
  /** Ask again then, or when something new is wanted. */
  | { readonly kind: 'wait'; readonly until: Monotonic; readonly outbox: Outbox }
  /** Ask again when something new is wanted, or a call has ended. */
  | { readonly kind: 'idle'; readonly outbox: Outbox };

const summarySpacing = seconds(5);
const pageSpacing = seconds(15);

/** A call that could be made, and when. */
interface Candidate {
  readonly thread: Thread;
  readonly page: number;
  readonly slot: MessageSlot;
  readonly call: SlackCall;
  readonly readyAt: number;
}

/** Returns the next call, or until when there is none. */
export function planSending(outbox: Outbox, now: Monotonic): OutboxStep {
  const current = withoutExpired(outbox, now);
  const candidates = [...current.threads.values()].flatMap((thread) =>
    candidatesOf(thread, current),
  );
  const [first] = candidates.filter(({ readyAt }) => readyAt <= now).toSorted(byUrgency);
  if (first !== undefined) {
    const { call, thread } = first;
    const rates = charged(current.rates, call, now);
    return {
      kind: 'call',
      call,
      outbox: { ...withThread(current, { ...thread, isBusy: true }), rates },
    };
  }
  if (candidates.length === 0) return { kind: 'idle', outbox: current };
  const until = candidates.reduce(
    (least, { readyAt, slot }) => Math.min(least, readyAt, slot.until ?? readyAt),
    Infinity,
  );
  return { kind: 'wait', until: monotonic(until), outbox: current };
}

/** Ends first, then summaries, then what has waited longest. */
function byUrgency(a: Candidate, b: Candidate): number {
  return (
    Number(isAtEnd(b.thread)) - Number(isAtEnd(a.thread)) ||
    Number(b.page === 0) - Number(a.page === 0) ||
    (a.slot.lastSent ?? 0) - (b.slot.lastSent ?? 0) ||
    a.page - b.page
  );
}

function isAtEnd({ phase, ending }: Thread): boolean {
  return ending !== undefined || isLastPhase(phase);
}

function candidatesOf(thread: Thread, { rates }: Outbox): readonly Candidate[] {
  if (thread.isBusy || thread.isHeld || thread.isStopped || !isTold(thread)) return [];
  return [...thread.slots].flatMap(([page, slot]) => {
    const { content } = slot;
    if (content === undefined || !isPending(slot) || !canSend(thread, page)) return [];
    const call = callOf(thread, page, { slot, content });
    const readyAt = Math.max(
      dueAt(slot, page),
      thread.retryAt ?? Number.NEGATIVE_INFINITY,
      freeAt(rates, call),
    );
    return [{ thread, page, slot, call, readyAt }];
  });
}

/** Reports whether the level lets anything be sent now. A message that was posted is kept up to date. */
function isTold(thread: Thread): boolean {
  const isStanding = summaryOf(thread).ts !== undefined;
  if (thread.ending === 'superseded') return isStanding;
  return thread.level !== 'error' || thread.isAlarm || isStanding;
}

/** Reports whether a page can be sent: a page is below a summary, or nowhere. */
function canSend(thread: Thread, page: number): boolean {
  return page === 0 || summaryOf(thread).ts !== undefined;
}

function dueAt({ isUrgent, lastSent, ts, repostAt }: MessageSlot, page: number): number {
  const never = Number.NEGATIVE_INFINITY;
  if (ts === undefined) return repostAt ?? never;
  if (isUrgent || lastSent === undefined) return never;
  return after(lastSent, page === 0 ? summarySpacing : pageSpacing);
}

function after(start: Monotonic, span: Millis): Monotonic {
  return monotonic(start + span);
}

function callOf(
  thread: Thread,
  page: number,
  { slot, content }: { readonly slot: MessageSlot; readonly content: SlackContent },
): SlackCall {
  const { id, uid, key, account, channel, conversation, isTokenDoubted } = thread;
  const message = slot.isPlain ? plainMessage(content) : messageIn(content);
  const parts = { thread: id, page, hash: content.hash, account, isTokenDoubted, message };
  if (slot.ts !== undefined && conversation !== undefined) {
    return { ...parts, kind: 'update', channel: conversation, ts: slot.ts };
  }
  const { ts } = summaryOf(thread);
  return {
    ...parts,
    kind: 'post',
    channel: conversation ?? channel,
    metadata: { uid, key },
    ...(page > 0 && ts !== undefined && { threadTs: ts }),
  };
}

function messageIn({ text, blocks }: SlackContent): SlackMessage {
  return { text, blocks };
}

/** Forgets what needs no report any more, and the messages of rollouts that have ended for good. */
function withoutExpired(outbox: Outbox, now: Monotonic): Outbox {
  const threads = [...outbox.threads.values()].flatMap((thread) => {
    const kept = mapSlots(thread, (slot) => expired(slot, now));
    const isOver = kept.ending !== undefined && !kept.isBusy && !isWaiting(kept);
    return isOver ? [] : [kept];
  });
  return { ...outbox, threads: new Map(threads.map((thread) => [thread.id, thread])) };
}

function isWaiting(thread: Thread): boolean {
  return !thread.isStopped && isTold(thread) && isPending(summaryOf(thread));
}

function expired(slot: MessageSlot, now: Monotonic): MessageSlot {
  if (slot.until === undefined || slot.until > now || !isPending(slot)) return slot;
  return { ...slot, givenUpHash: slot.content?.hash ?? '' };
}
