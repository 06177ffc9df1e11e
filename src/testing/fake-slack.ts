import type { Monotonic } from '#base/units.ts';
import type { SlackCall, SlackResult } from '#notification/slack-call.ts';
import type { SlackClient } from '#notification/slack-client.ts';

/** A call that came, and when. */
export interface SentCall {
  readonly call: SlackCall;
  readonly at: Monotonic;
}

/** Slack in virtual time: takes every message at once, or answers as it is told to. */
export class FakeSlack implements Pick<SlackClient, 'send' | 'close'> {
  readonly calls: SentCall[] = [];
  /** Of the next calls, in order; a promise is answered late. */
  readonly answers: (SlackResult | Promise<SlackResult>)[] = [];
  readonly #now: () => Monotonic;

  constructor(now: () => Monotonic) {
    this.#now = now;
  }

  async send(call: SlackCall): Promise<SlackResult> {
    const ts = `1700000000.${String(this.calls.length).padStart(6, '0')}`;
    this.calls.push({ call, at: this.#now() });
    const usual = { kind: 'ok', channel: 'C0DEPLOYS', ts: call.kind === 'update' ? call.ts : ts };
    return this.answers.shift() ?? (usual as SlackResult);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Those that made a new message. */
  posts(): readonly SentCall[] {
    return this.calls.filter(({ call }) => call.kind === 'post');
  }
}
