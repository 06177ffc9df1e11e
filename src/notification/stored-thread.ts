import type { JsonObject } from '#base/json.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import type { Instant } from '#base/units.ts';
import { arrayAt, integerAt, objectsIn, stringAt } from '#statefulset/parse-fields.ts';
import { summaryOf, type Thread } from './outbox-state.ts';

/** Where the messages of a rollout are, as `status.slackMessage` keeps it. */
export interface StoredThread {
  readonly key: string;
  /** The id of the conversation. */
  readonly channel: string;
  readonly ts: string;
  readonly hash: string;
  readonly pages: readonly StoredPage[];
}

/** Where one page is; the first has the index 1. */
interface StoredPage {
  readonly index: number;
  readonly ts: string;
  readonly hash: string;
}

/** Returns where messages are by a stored `slackMessage`; undefined where no summary is, or it cannot be read. */
export function readStoredThread(stored: JsonObject): StoredThread | undefined {
  const [channel, ts] = [stringAt(stored, 'channel'), stringAt(stored, 'ts')];
  if (channel === undefined || ts === undefined || channel === '' || ts === '') return undefined;
  return {
    key: stringAt(stored, 'key') ?? '',
    channel,
    ts,
    hash: stringAt(stored, 'hash') ?? '',
    pages: objectsIn(arrayAt(stored, 'pages')).flatMap(pageOf),
  };
}

function pageOf(page: JsonObject): readonly StoredPage[] {
  const [index, ts] = [integerAt(page, 'index'), stringAt(page, 'ts')];
  if (index === undefined || index < 1 || ts === undefined || ts === '') return [];
  return [{ index, ts, hash: stringAt(page, 'hash') ?? '' }];
}

/** Returns what of a stored `slackMessage` must be known after a process: what its messages show can be sent once more. */
export function standingIn(stored: JsonObject): JsonObject {
  const { hash: _shown, lastSent: _sent, pages: _pages, ...rest } = stored;
  const pages = objectsIn(arrayAt(stored, 'pages')).map(({ index, ts }) => ({ index, ts }));
  return { ...rest, pages };
}

/**
 * Returns `slackMessage` as it is to be stored; undefined where nothing was sent, and nothing went wrong.
 *
 * @param lastSent when Slack took a message last; undefined where it has not since the start
 */
export function formatThread(
  thread: Thread,
  lastSent: Instant | undefined,
): JsonObject | undefined {
  const { ts, sentHash } = summaryOf(thread);
  const { key, conversation, error } = thread;
  if (ts === undefined && error === undefined) return undefined;
  const pages = [...thread.slots]
    .filter(([page]) => page > 0)
    .sort(([a], [b]) => a - b)
    .flatMap(([index, slot]) =>
      slot.ts === undefined ? [] : [{ index, ts: slot.ts, hash: slot.sentHash }],
    );
  return {
    key,
    ...(conversation !== undefined && { channel: conversation }),
    ...(ts !== undefined && { ts, hash: sentHash }),
    ...(pages.length > 0 && { pages }),
    ...(lastSent !== undefined && { lastSent: formatUtcSeconds(lastSent) }),
    ...(error !== undefined && { error }),
  };
}
