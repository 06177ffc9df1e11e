import { type Millis, type Monotonic, monotonic } from '#base/units.ts';
import {
  emptySlot,
  farewellTime,
  flushTime,
  isLastPhase,
  isPending,
  type MessageSlot,
  mapSlots,
  type Outbox,
  type SlackLevel,
  summaryOf,
  type Thread,
  threadId,
  withSlot,
  withThread,
} from './outbox-state.ts';
import type { NewsPhase } from './slack-message/rollout-news.ts';
import type { SlackContent } from './slack-message/slack-blocks.ts';
import { supersededContent } from './slack-message/slack-message.ts';
import type { StoredThread } from './stored-thread.ts';

/** What the messages of a rollout are to show. */
export interface WantedThread {
  /** UID of the resource. */
  readonly uid: string;
  /** Another one for each rollout of the resource: it has messages of its own. */
  readonly key: string;
  /** Names the token; never the token itself. */
  readonly account: string;
  /** `#name`, or the id of a conversation. */
  readonly channel: string;
  readonly level: SlackLevel;
  readonly phase: NewsPhase;
  /** Whether it has failed, or was deleted half way: only then `error` says anything. */
  readonly isAlarm: boolean;
  readonly summary: SlackContent;
  readonly pages: readonly SlackContent[];
  /** Where its messages are by the status; read where the outbox does not know them. */
  readonly stored: StoredThread | undefined;
}

/** Returns the outbox that sends `wanted`; what it was to send before of the same messages is forgotten. */
export function want(outbox: Outbox, wanted: WantedThread, now: Monotonic): Outbox {
  const known = outbox.threads.get(threadId(wanted.uid, wanted.key));
  const others = superseded(outbox, wanted, now);
  const before = known === undefined || isMoved(known, wanted) ? newThread(wanted) : known;
  const { level, phase } = wanted;
  const isUrgent = known === undefined || known.phase !== phase;
  const isAlarm = before.isAlarm || wanted.isAlarm;
  // A user may have put right what stopped it, and a step that begins asks again.
  const isStopped = before.isStopped && (!isLastPhase(before.phase) || isLastPhase(phase));
  const thread: Thread = { ...before, level, phase, isAlarm, isStopped, ending: undefined };
  const pages = level === 'debug' ? wanted.pages : [];
  const contents = [wanted.summary, ...pages];
  const until = isLastPhase(phase) ? later(now, flushTime) : undefined;
  const dropped = mapSlots(thread, (slot, page) => (page < contents.length ? slot : idle(slot)));
  return withThread(
    others,
    contents.reduce(
      (changed, content, page) =>
        withSlot(changed, page, showing(changed.slots.get(page), { content, isUrgent, until })),
      dropped,
    ),
  );
}

/** Reports whether the resource now names another place, so that messages in the former one are not changed any more. */
function isMoved({ channel, account }: Thread, wanted: WantedThread): boolean {
  return channel !== wanted.channel || account !== wanted.account;
}

function newThread(wanted: WantedThread): Thread {
  const { uid, key, account, channel, level, phase, isAlarm } = wanted;
  const stored = storedOf(wanted);
  const pages = stored?.pages.map(({ index, ...page }) => [index, storedSlot(page)] as const) ?? [];
  return {
    id: threadId(uid, key),
    uid,
    key,
    account,
    channel,
    conversation: stored?.channel,
    level,
    phase,
    isAlarm,
    slots: new Map(stored === undefined ? [] : [[0, storedSlot(stored)], ...pages]),
    isBusy: false,
    isHeld: false,
    failures: 0,
    retryAt: undefined,
    isTokenDoubted: false,
    error: undefined,
    isStopped: false,
    ending: undefined,
  };
}

/** Returns the stored thread of this rollout, only where its channel may be the wanted one: of a name that is unknown. */
function storedOf({ stored, key, channel }: WantedThread): StoredThread | undefined {
  if (stored === undefined || stored.key !== key) return undefined;
  const isId = /^[CDG][A-Z\d]{6,}$/.test(channel);
  return isId && stored.channel !== channel ? undefined : stored;
}

function storedSlot({ ts, hash }: Pick<StoredThread, 'ts' | 'hash'>): MessageSlot {
  return { ...emptySlot, ts, sentHash: hash };
}

/** Shows `content` in the slot; content that has not changed keeps its time and its failures. */
function showing(
  slot: MessageSlot = emptySlot,
  {
    content,
    isUrgent,
    until,
  }: Pick<MessageSlot, 'isUrgent' | 'until'> & { readonly content: SlackContent },
): MessageSlot {
  if (slot.content?.hash === content.hash) {
    return {
      ...slot,
      content,
      isUrgent: isPending(slot) && (slot.isUrgent || isUrgent),
      until: slot.until ?? until,
    };
  }
  const isAlreadySent = slot.sentHash === content.hash;
  return {
    ...slot,
    content,
    isUrgent: !isAlreadySent && (slot.isUrgent || isUrgent),
    until,
    attempts: 0,
    isPlain: false,
    givenUpHash: '',
  };
}

function idle(slot: MessageSlot): MessageSlot {
  return { ...slot, content: undefined };
}

/** Marks other rollouts of the same resource as superseded by this one: their summaries say so, where they were posted. */
function superseded(outbox: Outbox, { uid, key }: WantedThread, now: Monotonic): Outbox {
  return endThreads(outbox, (thread) => {
    if (thread.uid !== uid || thread.key === key || thread.ending === 'superseded') return thread;
    const { content } = summaryOf(thread);
    if (content === undefined) return undefined;
    const last = supersededContent(content);
    return ended({ ...thread, ending: 'superseded' }, last, later(now, flushTime));
  });
}

/** Returns the outbox once a resource is deleted: of its messages only the summaries are still sent, for a minute. */
export function dropDeleted(outbox: Outbox, uid: string, now: Monotonic): Outbox {
  return endThreads(outbox, (thread) => {
    const { content } = summaryOf(thread);
    if (thread.uid !== uid || thread.ending !== undefined) return thread;
    if (content === undefined) return undefined;
    return ended({ ...thread, ending: 'deleted' }, content, later(now, farewellTime));
  });
}

function ended(thread: Thread, content: SlackContent, until: Monotonic): Thread {
  const last = showing(summaryOf(thread), { content, isUrgent: true, until });
  return withSlot(mapSlots(thread, idle), 0, { ...last, isUrgent: true, until });
}

/** Ends threads, and forgets those of which nothing is left. */
function endThreads(outbox: Outbox, end: (thread: Thread) => Thread | undefined): Outbox {
  const threads = [...outbox.threads.values()].flatMap((thread) => end(thread) ?? []);
  return { ...outbox, threads: new Map(threads.map((thread) => [thread.id, thread])) };
}

function later(now: Monotonic, span: Millis): Monotonic {
  return monotonic(now + span);
}
