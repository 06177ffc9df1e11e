import { monotonic } from '#base/units.ts';
import { settle } from '#notification/outbox-results.ts';
import { emptyOutbox, type Outbox } from '#notification/outbox-state.ts';
import { dropDeleted, type WantedThread, want } from '#notification/outbox-wants.ts';
import type { SlackCall, SlackResult } from '#notification/slack-client/slack-call.ts';
import { contentOf, type SlackContent } from '#notification/slack-message/slack-blocks.ts';
import { planSending } from '#notification/slack-outbox.ts';

/** A call, and when it was made, in ms. */
export interface PlayedCall {
  readonly at: number;
  readonly call: SlackCall;
  readonly result: SlackResult;
}

/** What answers a call in place of Slack. */
export type PlayedSlack = (call: SlackCall, at: number) => SlackResult | undefined;

/** Returns content that shows `text`, without blocks. */
export function shown(text: string): SlackContent {
  return contentOf({ text, blocks: [] });
}

/** Returns what a rollout in `#deploys` wants to show, with what a test is about. */
export function wantedThread(about: Partial<WantedThread> = {}): WantedThread {
  return {
    uid: 'uid-1',
    key: 'key-1',
    account: 'default',
    channel: '#deploys',
    level: 'debug',
    phase: 'RollingOut',
    isAlarm: false,
    summary: shown('summary'),
    pages: [],
    stored: undefined,
    ...about,
  };
}

/** An outbox in a time of its own, and a Slack that takes all but what a test says; calls take no time. */
export class OutboxPlay {
  outbox: Outbox = emptyOutbox;
  now = 0;
  readonly calls: PlayedCall[] = [];
  /** What messages show, by their `ts`. */
  readonly messages = new Map<string, string>();
  answer: PlayedSlack = () => undefined;

  /** Has something wanted now. */
  want(about: Partial<WantedThread> = {}): void {
    this.outbox = want(this.outbox, wantedThread(about), monotonic(this.now));
  }

  /** Deletes the resource now. */
  drop(uid = 'uid-1'): void {
    this.outbox = dropDeleted(this.outbox, uid, monotonic(this.now));
  }

  /** Lets time go on to `at`; all calls are made that can be. */
  runTo(at: number): void {
    for (let steps = 0; steps < 100_000; steps += 1) {
      const step = planSending(this.outbox, monotonic(this.now));
      this.outbox = step.outbox;
      if (step.kind === 'call') {
        this.#make(step.call);
        continue;
      }
      if (step.kind === 'idle' || step.until > at) break;
      if (step.until <= this.now) throw new Error(`waits until ${step.until} at ${this.now}`);
      this.now = step.until;
    }
    this.now = at;
  }

  /** Returns what was called, in one line each: time in seconds, method, page and text. */
  get log(): readonly string[] {
    return this.calls.map(
      ({ at, call }) => `${at / 1_000} ${call.kind} ${call.page} ${call.message.text}`,
    );
  }

  #make(call: SlackCall): void {
    const refusal = this.answer(call, this.now);
    const ts = call.kind === 'update' ? call.ts : `ts-${this.calls.length}`;
    const result = refusal ?? { kind: 'ok', channel: 'C0000001', ts };
    if (refusal === undefined) this.messages.set(ts, call.message.text);
    this.calls.push({ at: this.now, call, result });
    this.outbox = settle(this.outbox, { call, result }, monotonic(this.now));
  }
}
