import { type Monotonic, minutes, seconds } from '#base/units.ts';
import { type Rates, unusedRates } from './slack-client/slack-rates.ts';
import type { NewsPhase } from './slack-message/rollout-news.ts';
import type { SlackContent } from './slack-message/slack-blocks.ts';

/** How much is sent to Slack: all pods, the summary alone, or failures alone. */
export type SlackLevel = 'debug' | 'info' | 'error';

/** One message, and what it is to show: newer content takes the place of older, so nothing queues. */
export interface MessageSlot {
  /** What it is to show; undefined after a start, until it is set. */
  readonly content: SlackContent | undefined;
  /** Where it is; undefined where it was not posted. */
  readonly ts: string | undefined;
  /** Of what it shows; empty where it shows nothing that is known. */
  readonly sentHash: string;
  /** Of what is not tried any more; empty where there is none. */
  readonly givenUpHash: string;
  readonly lastSent: Monotonic | undefined;
  /** Whether a phase has changed since it was sent: it does not wait. */
  readonly isUrgent: boolean;
  /** Until when the content is worth a call. @default for ever */
  readonly until: Monotonic | undefined;
  /** Calls with this content that failed. */
  readonly attempts: number;
  /** Whether this content goes as text, as Slack did not take its blocks. */
  readonly isPlain: boolean;
  /** How often it had to be posted again. */
  readonly reposts: number;
  /** When it may be posted again. @default at once */
  readonly repostAt: Monotonic | undefined;
}

/** A message that was not posted yet, and about which nothing is known. */
export const emptySlot: MessageSlot = Object.freeze({
  content: undefined,
  ts: undefined,
  sentHash: '',
  givenUpHash: '',
  lastSent: undefined,
  isUrgent: true,
  until: undefined,
  attempts: 0,
  isPlain: false,
  reposts: 0,
  repostAt: undefined,
});

/** The messages of one rollout: a summary, and pages below it. */
export interface Thread {
  readonly id: string;
  /** UID of the resource. */
  readonly uid: string;
  /** Another one for each rollout of the resource. */
  readonly key: string;
  readonly account: string;
  /** As the resource says. */
  readonly channel: string;
  /** The id behind it, by Slack's answer. */
  readonly conversation: string | undefined;
  readonly level: SlackLevel;
  readonly phase: NewsPhase;
  /** Whether it has failed, or was deleted half way: now it is sent to all. */
  readonly isAlarm: boolean;
  /** The summary at 0, then the pages. */
  readonly slots: ReadonlyMap<number, MessageSlot>;
  /** Whether a call is under way: one at a time, so that answers come in order. */
  readonly isBusy: boolean;
  /** Whether it is not stored yet where its newest message is: nothing follows until then. */
  readonly isHeld: boolean;
  /** Failures in a row. */
  readonly failures: number;
  readonly retryAt: Monotonic | undefined;
  readonly isTokenDoubted: boolean;
  /** How the last call failed; undefined after one that did not. */
  readonly error: string | undefined;
  /** Whether nothing is sent any more for that. */
  readonly isStopped: boolean;
  /** Why nothing new will come, so that it is forgotten once the summary is sent. */
  readonly ending: 'superseded' | 'deleted' | undefined;
}

/** All that is to be sent, and when something may be. */
export interface Outbox {
  /** By their ids. */
  readonly threads: ReadonlyMap<string, Thread>;
  readonly rates: Rates;
}

/** Nothing to send. */
export const emptyOutbox: Outbox = Object.freeze({ threads: new Map(), rates: unusedRates });

/** How long the last content of a rollout is worth a call. */
export const flushTime = minutes(10);
/** The same for a resource that is deleted: its finalizer waits. */
export const farewellTime = seconds(60);

/** Returns what names the messages of one rollout. */
export function threadId(uid: string, key: string): string {
  return `${uid}|${key}`;
}

/** Returns the summary of a thread. */
export function summaryOf({ slots }: Thread): MessageSlot {
  return slots.get(0) ?? emptySlot;
}

/** Reports whether it is to show something that it does not show. */
export function isPending({ content, sentHash, givenUpHash }: MessageSlot): boolean {
  return content !== undefined && content.hash !== sentHash && content.hash !== givenUpHash;
}

/** Reports whether `phase` is final. */
export function isLastPhase(phase: NewsPhase): boolean {
  return phase === 'RolloutDone' || phase === 'RolloutFailed';
}

/** Returns the outbox with `thread` as it is now. */
export function withThread(outbox: Outbox, thread: Thread): Outbox {
  return { ...outbox, threads: new Map(outbox.threads).set(thread.id, thread) };
}

/** Returns the thread with a message of it as it is now. */
export function withSlot(thread: Thread, page: number, slot: MessageSlot): Thread {
  return { ...thread, slots: new Map(thread.slots).set(page, slot) };
}

/** Returns the thread where every message is changed. */
export function mapSlots(
  thread: Thread,
  change: (slot: MessageSlot, page: number) => MessageSlot,
): Thread {
  const slots = [...thread.slots].map(([page, slot]) => [page, change(slot, page)] as const);
  return { ...thread, slots: new Map(slots) };
}
