import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, LocalServer } from './local-server.ts';
import { blockProblems, lengthOf } from './slack-limits.ts';

/** A channel as this server has it. */
export interface StoredChannel {
  readonly id: string;
  /** Without `#`. */
  readonly name: string;
  readonly isArchived?: boolean;
  /** Whether the app has to be invited, and was not. */
  readonly isClosed?: boolean;
}

/** A token as this server knows it. */
export interface StoredToken {
  /** Whose messages it may change. */
  readonly bot: string;
  readonly scopes: readonly string[];
  readonly isRevoked?: boolean;
}

/** A message that was posted. */
export interface StoredMessage {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs: string | undefined;
  readonly bot: string;
  readonly text: string;
  readonly blocks: readonly unknown[];
  readonly metadata: unknown;
  readonly edits: number;
}

/** One call as the server saw it. */
export interface ReceivedCall {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Arguments as JSON, whatever the encoding. */
  readonly args: Readonly<Record<string, unknown>>;
}

/** What answers a call in place of the server, once. */
export type SlackObstacle = (response: ServerResponse) => void;

/** A refusal, by Slack's word for it. */
class Refusal extends Error {
  override readonly name = 'Refusal';
}

/**
 * Stands in for Slack on 127.0.0.1: `chat.postMessage` and `chat.update` as their reference describes them, with channels, scopes,
 * limits of blocks and rates. A refusal is `ok: false` with status 200; only a rate has a status of its own.
 *
 * @see https://docs.slack.dev/reference/methods/chat.postMessage
 * @see https://docs.slack.dev/reference/methods/chat.update
 * @see https://docs.slack.dev/apis/web-api/rate-limits
 */
export class SlackServer {
  readonly received: ReceivedCall[] = [];
  readonly channels: StoredChannel[] = [{ id: 'C0000001', name: 'deploys' }];
  readonly tokens = new Map<string, StoredToken>();
  /** Kept in the order in which they were posted. */
  readonly messages: StoredMessage[] = [];
  /** Answer the next calls, one each. */
  readonly obstacles: SlackObstacle[] = [];
  /** The time in ms, where rates are kept: a post a second to a channel, and 50 changes a minute. @default they are not */
  now: (() => number) | undefined;
  readonly #server: LocalServer;
  readonly #taken: { readonly rate: string; readonly at: number }[] = [];

  constructor() {
    this.#server = new LocalServer((request, response) => void this.#serve(request, response));
  }

  /** Starts listening. @returns the base URL of the methods */
  async listen(): Promise<URL> {
    const port = await this.#server.listen();
    return new URL(`http://127.0.0.1:${port}/api/`);
  }

  /** Ends all connections and stops listening. */
  close(): Promise<void> {
    return this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const method = (request.url ?? '').replace('/api/', '');
    const { headers } = request;
    const args = argumentsIn(headers['content-type'] ?? '', body);
    const call = { method, headers, args };
    this.received.push(call);
    const obstacle = this.obstacles.shift();
    if (obstacle !== undefined) obstacle(response);
    else this.#answer(call, response);
  }

  #answer(call: ReceivedCall, response: ServerResponse): void {
    try {
      const { bot } = this.#tokenOf(call);
      const retryAfter = this.#retryAfter(call);
      if (retryAfter !== undefined) {
        rateLimited(retryAfter)(response);
        return;
      }
      const message =
        call.method === 'chat.update' ? this.#update(call, bot) : this.#post(call, bot);
      const { channel, ts, text } = message;
      answerJson(response, { ok: true, channel, ts, text, message: { type: 'message', ts, text } });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      answerJson(response, { ok: false, error: error.message });
    }
  }

  #tokenOf({ method, headers }: ReceivedCall): StoredToken {
    if (method !== 'chat.postMessage' && method !== 'chat.update')
      throw new Refusal('unknown_method');
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
    if (token === undefined) throw new Refusal('not_authed');
    const stored = this.tokens.get(token);
    if (stored === undefined) throw new Refusal('invalid_auth');
    if (stored.isRevoked === true) throw new Refusal('token_revoked');
    if (!stored.scopes.includes('chat:write')) throw new Refusal('missing_scope');
    return stored;
  }

  /** Returns how long to wait in seconds, where the call is one too many. */
  #retryAfter({ method, args }: ReceivedCall): number | undefined {
    if (this.now === undefined) return undefined;
    const at = this.now();
    const isPost = method === 'chat.postMessage';
    const { rate, most, span } = isPost
      ? { rate: `post ${stringOf(args['channel'])}`, most: 1, span: 1_000 }
      : { rate: 'update', most: 50, span: 60_000 };
    const recent = this.#taken.filter((each) => each.rate === rate && at - each.at < span);
    const [oldest] = recent;
    if (recent.length >= most && oldest !== undefined) {
      return Math.max(1, Math.ceil((oldest.at + span - at) / 1_000));
    }
    this.#taken.push({ rate, at });
    return undefined;
  }

  #post({ args }: ReceivedCall, bot: string): StoredMessage {
    const wanted = stringOf(args['channel']);
    const channel = this.channels.find(({ id, name }) => wanted === id || wanted === `#${name}`);
    if (channel === undefined) throw new Refusal('channel_not_found');
    if (channel.isArchived === true) throw new Refusal('is_archived');
    if (channel.isClosed === true) throw new Refusal('not_in_channel');
    const content = contentIn(args, 40_000);
    const threadTs = args['thread_ts'] === undefined ? undefined : stringOf(args['thread_ts']);
    const ts = `1700000000.${String(this.messages.length + 1).padStart(6, '0')}`;
    const message = { channel: channel.id, ts, threadTs, bot, ...content, edits: 0 };
    this.messages.push(message);
    return message;
  }

  #update({ args }: ReceivedCall, bot: string): StoredMessage {
    const channel = this.channels.find(({ id }) => id === args['channel']);
    if (channel === undefined) throw new Refusal('channel_not_found');
    if (channel.isArchived === true) throw new Refusal('is_archived');
    const at = this.messages.findIndex(({ ts }) => ts === args['ts']);
    const before = this.messages[at];
    if (before === undefined || before.channel !== channel.id)
      throw new Refusal('message_not_found');
    if (before.bot !== bot) throw new Refusal('cant_update_message');
    const { text, blocks, metadata } = contentIn(args, 4_000);
    const kept = args['blocks'] === undefined ? before.blocks : blocks;
    const edits = before.edits + 1;
    const message = { ...before, text, blocks: kept, metadata: metadata ?? before.metadata, edits };
    this.messages[at] = message;
    return message;
  }
}

function argumentsIn(type: string, body: string): Readonly<Record<string, unknown>> {
  if (type.startsWith('application/json')) return JSON.parse(body) as Record<string, unknown>;
  return Object.fromEntries(new URLSearchParams(body));
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Reads what is posted. @param longest units of the text @throws {Refusal} as Slack does */
function contentIn(
  args: Readonly<Record<string, unknown>>,
  longest: number,
): Pick<StoredMessage, 'text' | 'blocks' | 'metadata'> {
  const text = stringOf(args['text']);
  const blocks = jsonOf(args['blocks'] ?? [], 'invalid_blocks_format');
  if (!Array.isArray(blocks)) throw new Refusal('invalid_blocks_format');
  if (text === '' && blocks.length === 0) throw new Refusal('no_text');
  if (text.length > longest) throw new Refusal('msg_too_long');
  if (blockProblems(blocks).length > 0) throw new Refusal('invalid_blocks');
  if (lengthOf(blocks) > 13_000) throw new Refusal('msg_blocks_too_long');
  const metadata = jsonOf(args['metadata'], 'invalid_metadata_format');
  return { text, blocks, metadata };
}

/** Returns an object, which forms have as a text of JSON. */
function jsonOf(value: unknown, error: string): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    throw new Refusal(error);
  }
}

function answerJson(response: ServerResponse, value: unknown): void {
  response
    .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(value));
}

/** Refuses with Slack's word for it. */
export function refusingWith(error: string): SlackObstacle {
  return (response) => answerJson(response, { ok: false, error });
}

/** Says that there were too many calls. @param seconds that the client is to wait; not said where undefined */
export function rateLimited(seconds: number | string | undefined): SlackObstacle {
  return (response) =>
    void response
      .writeHead(429, {
        'content-type': 'application/json; charset=utf-8',
        ...(seconds !== undefined && { 'retry-after': String(seconds) }),
      })
      .end('{"ok":false,"error":"ratelimited"}');
}

/** Answers `body` with `status`, whatever was asked. */
export function answeringWith(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): SlackObstacle {
  return (response) => void response.writeHead(status, headers).end(body);
}

/** Takes the call, and says nothing. */
export const unanswered: SlackObstacle = () => undefined;

/** Ends the connection in the middle of a call. */
export const cutOff: SlackObstacle = (response) => void response.destroy();
