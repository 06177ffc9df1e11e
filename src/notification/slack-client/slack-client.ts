import type { WebClientOptions } from '@slack/web-api';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { type Millis, seconds } from '#base/units.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import type { TlsSettings } from '#kubernetes/transport/tls-settings.ts';
import { withMissingFile } from '#telemetry/missing-file.ts';
import { parseSlackAnswer, parseSlackError } from './parse-slack-answer.ts';
import type { SlackCall, SlackResult } from './slack-call.ts';
import { SlackFetch } from './slack-fetch.ts';
import type * as SlackSdk from './slack-sdk.ts';

/** Returns the token of an account as it is now; undefined where there is none. */
export type TokenSource = (
  account: string,
  /** Whether Slack did not take the one that was given before: it is to be read again. */
  how: { readonly isDoubted: boolean },
) => Promise<string | undefined>;

/** Settings of {@link createSlackClient}. */
export interface SlackClientOptions {
  readonly clock: Clock;
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are looked up. */
  readonly env: Environment;
  readonly token: TokenSource;
  /** Where the methods are called; a flag of the operator, and never part of a resource. @default Slack's own */
  readonly baseUrl?: URL;
  /** Whom a connection trusts. @default what Node brings along */
  readonly tls?: () => TlsSettings;
  /** From the request to the last byte of its answer. @default 10 s */
  readonly timeout?: Millis;
  /** Longest answer that is read, in bytes. @default 1 MiB */
  readonly longestAnswer?: number;
}

/** Slack, called over the network. */
export interface SlackClient {
  /** Makes one call, and tries nothing again. Never rejects: what goes wrong is a result, too; none holds a token. */
  send(call: SlackCall, signal: AbortSignal): Promise<SlackResult>;
  /** Gives up all calls, and ends all connections. */
  close(): Promise<void>;
}

/** Where Slack itself answers. */
const slackUrl = 'https://slack.com/api/';
const userAgent = 'rollout-operator';
const eventType = 'statefulset_rollout';
/** What a header can hold: others would be reported in an error, with the token. */
const sendable = /^[\x21-\x7e]+$/;

/**
 * Returns what posts and changes messages in Slack. Its library is loaded with the first call, and neither waits nor tries
 * again: when the next call goes is decided by `planSending` alone.
 */
export function createSlackClient(options: SlackClientOptions): SlackClient {
  return new WebSlackClient(options);
}

class WebSlackClient implements SlackClient {
  readonly #token: TokenSource;
  readonly #baseUrl: URL;
  readonly #fetch: SlackFetch;
  readonly #closing = new AbortController();

  constructor(options: SlackClientOptions) {
    const { clock, env, token, baseUrl = new URL(slackUrl) } = options;
    const { tls = () => ({}), timeout = seconds(10), longestAnswer = 1_048_576 } = options;
    this.#token = token;
    this.#baseUrl = baseUrl;
    this.#fetch = new SlackFetch({ clock, env, baseUrl, tls, timeout, longestAnswer });
  }

  async send(call: SlackCall, signal: AbortSignal): Promise<SlackResult> {
    let token: string | undefined;
    try {
      token = (await this.#token(call.account, { isDoubted: call.isTokenDoubted }))?.trim();
    } catch (error) {
      const message = `Cannot read the token of Slack: ${errorOf(error).message}`;
      return { kind: 'unreachable', message };
    }
    if (token === undefined || !sendable.test(token)) return { kind: 'no-token' };
    return this.#sendAs(token, call, AbortSignal.any([signal, this.#closing.signal]));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#fetch.close();
  }

  async #sendAs(token: string, call: SlackCall, signal: AbortSignal): Promise<SlackResult> {
    let status: number | undefined;
    const answered = (seen: number): void => {
      status = seen;
    };
    try {
      const sdk = await import('./slack-sdk.ts').catch(withMissingFile);
      const client = new sdk.WebClient(token, {
        slackApiUrl: this.#baseUrl.href,
        fetch: this.#fetch.bound({ signal, answered, token }),
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        allowAbsoluteUrls: false,
        headers: { 'User-Agent': userAgent },
        logger: silent(sdk),
      });
      return parseSlackAnswer(await client.apiCall(methodOf(call), argumentsOf(call)));
    } catch (error) {
      return parseSlackError(error, status);
    }
  }
}

/** The library would log whole messages; what goes wrong is returned with the result. */
function silent({ LogLevel }: typeof SlackSdk): NonNullable<WebClientOptions['logger']> {
  const nothing = (): void => undefined;
  const levels = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const settings = { setLevel: nothing, getLevel: () => LogLevel.ERROR, setName: nothing };
  return { ...levels, ...settings };
}

function methodOf({ kind }: SlackCall): string {
  return kind === 'post' ? 'chat.postMessage' : 'chat.update';
}

/** Returns the arguments of a call. They name also what Slack would leave as it was: blocks that are removed, and that nothing is to become a link. */
function argumentsOf(call: SlackCall): Record<string, unknown> {
  const { channel, message } = call;
  const { text, blocks } = message;
  const shared = { channel, text, parse: 'none', link_names: false };
  if (call.kind === 'update') return { ...shared, ts: call.ts, blocks };
  return {
    ...shared,
    ...(blocks.length > 0 && { blocks }),
    ...(call.threadTs !== undefined && { thread_ts: call.threadTs }),
    metadata: { event_type: eventType, event_payload: call.metadata },
    unfurl_links: false,
    unfurl_media: false,
  };
}
