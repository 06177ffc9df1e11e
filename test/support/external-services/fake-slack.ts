import { type Monotonic, seconds } from '#base/units.ts';
import type { SlackCall, SlackResult } from '#notification/slack-client/slack-call.ts';
import type { SlackClient } from '#notification/slack-client/slack-client.ts';
import { type CallFate, never } from './call-fate.ts';
import { blockProblems, lengthOf } from './slack-limits.ts';

/** A call that came, and when. */
export interface SentCall {
  readonly call: SlackCall;
  readonly at: Monotonic;
}

/** The only conversation, whatever it is called. */
const channel = 'C0DEPLOYS';
/** Most changes by one token in a minute. */
const mostUpdates = 50;
/** Over which Slack takes no blocks, whatever each of them is. */
const longestBlocks = 13_000;

/** Slack in virtual time: takes at once what Slack would take, and refuses what it would not, or answers as it is set. */
export class FakeSlack implements Pick<SlackClient, 'send' | 'close'> {
  readonly calls: SentCall[] = [];
  /** The answers of the next calls, in order; a promise is answered late. */
  readonly answers: (SlackResult | Promise<SlackResult>)[] = [];
  /** Asked of each call before it leaves what becomes of it. */
  intercept: () => CallFate = () => undefined;
  readonly #now: () => Monotonic;
  /** Messages that were posted, by their `ts`. */
  readonly #standing = new Set<string>();

  constructor(now: () => Monotonic) {
    this.#now = now;
  }

  async send(call: SlackCall): Promise<SlackResult> {
    const fate = this.intercept();
    if (fate === 'not-sent') return never();
    const ts = `1700000000.${String(this.calls.length).padStart(6, '0')}`;
    const told = this.answers.shift();
    const refusal = this.#refusalOf(call);
    this.calls.push({ call, at: this.#now() });
    const usual = { kind: 'ok', channel, ts: call.kind === 'update' ? call.ts : ts } as const;
    const result = told === undefined ? (refusal ?? usual) : await told;
    this.#note(result);
    return fate === 'not-answered' ? never() : result;
  }

  #note(result: SlackResult): void {
    if (result.kind === 'ok') this.#standing.add(result.ts);
  }

  #refusalOf(call: SlackCall): SlackResult | undefined {
    if (this.#isTooFast(call)) return { kind: 'rate-limited', retryAfter: seconds(30) };
    const { text, blocks } = call.message;
    if (blockProblems(blocks).length > 0) return { kind: 'refused', error: 'invalid_blocks' };
    if (lengthOf(blocks) > longestBlocks) return { kind: 'refused', error: 'msg_blocks_too_long' };
    if (text === '') return { kind: 'refused', error: 'no_text' };
    if (call.kind === 'post') {
      const { threadTs } = call;
      const isBelowNothing = threadTs !== undefined && !this.#standing.has(threadTs);
      return isBelowNothing ? { kind: 'refused', error: 'thread_not_found' } : undefined;
    }
    if (call.channel !== channel) return { kind: 'refused', error: 'channel_not_found' };
    if (this.#standing.has(call.ts)) return undefined;
    return { kind: 'refused', error: 'message_not_found' };
  }

  /**
   * Reports whether it is more than a call a second to a channel, which has one id under all its names here, or than so many
   * changes a minute.
   */
  #isTooFast({ kind, account }: SlackCall): boolean {
    const now = this.#now();
    const last = this.calls.at(-1);
    if (last !== undefined && now - last.at < seconds(1)) return true;
    const changes = this.calls.filter(
      (each) =>
        each.call.kind === 'update' && each.call.account === account && now - each.at < seconds(60),
    );
    return kind === 'update' && changes.length >= mostUpdates;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Returns those that made a new message. */
  posts(): readonly SentCall[] {
    return this.calls.filter(({ call }) => call.kind === 'post');
  }
}
