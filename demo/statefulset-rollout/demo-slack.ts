import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';

/** A message that is in the channel, or in the thread of one. */
export interface StoredSlackMessage {
  /** What a notification shows. */
  readonly text: string;
  readonly blocks: readonly JsonObject[];
  /** The message below which it is; empty for one of the channel. */
  readonly thread: string;
  readonly changes: number;
}

/** The Slack of the demo. */
export interface DemoSlack {
  /** Where its methods are called. */
  readonly url: string;
  readonly token: string;
  /** All messages, by their `ts`, the newest last. */
  readonly messages: ReadonlyMap<string, StoredSlackMessage>;
  close(): Promise<void>;
}

/** What stands in for Slack knows, and what it notifies. */
interface SlackPlace {
  readonly token: string;
  readonly channel: string;
  readonly messages: Map<string, StoredSlackMessage>;
  readonly changed: (message: StoredSlackMessage) => void;
}

const idOfChannel = 'C0DEMO001';

/**
 * Returns stands in for Slack on 127.0.0.1, as its library speaks to it: `chat.postMessage` and `chat.update`, one token and
 * one channel.
 *
 * @param channel with its `#`
 * @param changed called with each message as it is after a call
 */
export async function startDemoSlack(
  channel: string,
  changed: SlackPlace['changed'],
): Promise<DemoSlack> {
  const token = 'xoxb-demo';
  const messages = new Map<string, StoredSlackMessage>();
  const server = createServer((request, response) => {
    const respond = (answer: JsonObject): void => {
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      response.end(JSON.stringify(answer));
    };
    readBody(request, (body) => {
      respond(answerTo({ request, body }, { token, channel, messages, changed }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url: urlOf(server), token, messages, close };
}

function readBody(request: IncomingMessage, received: (body: string) => void): void {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => received(body));
}

/** A refusal is `ok: false` with status 200, as Slack's are. */
function answerTo(
  { request, body }: { readonly request: IncomingMessage; readonly body: string },
  place: SlackPlace,
): JsonObject {
  if (request.headers.authorization !== `Bearer ${place.token}`) return refused('invalid_auth');
  const args = argumentsIn(request.headers['content-type'] ?? '', body);
  switch (request.url) {
    case '/api/chat.postMessage':
      return posted(args, place);
    case '/api/chat.update':
      return updated(args, place);
    default:
      return refused('unknown_method');
  }
}

function posted(args: JsonObject, { channel, messages, changed }: SlackPlace): JsonObject {
  const wanted = textAt(args, 'channel');
  if (wanted !== channel && wanted !== idOfChannel) return refused('channel_not_found');
  const ts = `1700000000.${String(messages.size + 1).padStart(6, '0')}`;
  const message = { ...contentIn(args), thread: textAt(args, 'thread_ts'), changes: 0 };
  messages.set(ts, message);
  changed(message);
  return { ok: true, channel: idOfChannel, ts };
}

function updated(args: JsonObject, { messages, changed }: SlackPlace): JsonObject {
  // By its id alone: a name is not taken here.
  if (textAt(args, 'channel') !== idOfChannel) return refused('channel_not_found');
  const ts = textAt(args, 'ts');
  const before = messages.get(ts);
  if (before === undefined) return refused('message_not_found');
  const message = { ...before, ...contentIn(args), changes: before.changes + 1 };
  messages.set(ts, message);
  changed(message);
  return { ok: true, channel: idOfChannel, ts };
}

function contentIn(args: JsonObject): Pick<StoredSlackMessage, 'text' | 'blocks'> {
  return { text: textAt(args, 'text'), blocks: objectsAt(args, 'blocks') };
}

/** A form has what is no text as JSON. */
function argumentsIn(type: string, body: string): JsonObject {
  if (type.startsWith('application/json')) return objectIn(body);
  const fields = Object.fromEntries(new URLSearchParams(body));
  const { blocks } = fields;
  return blocks === undefined ? fields : { ...fields, ...objectIn(`{"blocks":${blocks}}`) };
}

function objectIn(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? value : {};
}

function refused(error: string): JsonObject {
  return { ok: false, error };
}

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It listens at no port');
  return `http://127.0.0.1:${address.port}/api/`;
}
