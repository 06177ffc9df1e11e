import type { Clock } from '#base/clock.ts';
import type { Monotonic } from '#base/units.ts';
import type { Client, ListQuery, ListResult } from '#kubernetes/client.ts';
import type { Freshness } from '#kubernetes/informer/freshness.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { compareRevisions, newerRevision, RevisionWentBackError } from '#kubernetes/revision.ts';

/**
 * A list is older than a write of ours that had been answered before it was sent: whatever serves it shows the past, so
 * that it proves nothing. That may pass, unlike a view that went back (D-6).
 */
export class LaggingReadError extends Error {
  override readonly name = 'LaggingReadError';

  constructor(subject: string, revisions: { readonly read: string; readonly written: string }) {
    super(
      `The API server answered a list of ${subject} as of revision ${revisions.read}, although this operator had written revision ${revisions.written} before`,
    );
  }
}

/** What a list is asked of. */
interface ListPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly type: ResourceType;
  /** Of the cache of that type; it learns of the list, and is proven by it once it has caught up. */
  readonly freshness: Freshness;
}

/** A list, and when it was asked for. */
export interface SentList {
  readonly sentAt: Monotonic;
  readonly result: ListResult;
}

/**
 * Lists without resourceVersion, and holds the answer against what was seen and written before.
 *
 * @throws what a list throws; RevisionWentBackError when the answer is older than what had been seen (D-6), and
 * LaggingReadError when it is older than what we had written
 */
export async function consistentList(
  { clock, client, type, freshness }: ListPorts,
  query: ListQuery,
  signal: AbortSignal,
): Promise<SentList> {
  // A limiter may hold the request back: its age counts from when it is handed to the socket.
  let sentAt = clock.monotonic();
  let { seen, written } = freshness;
  const beforeSend = (): void => {
    sentAt = clock.monotonic();
    ({ seen, written } = freshness);
  };
  const result = await client.list(type, query, { signal, beforeSend });
  if (written !== undefined && compareRevisions(result.resourceVersion, written) < 0) {
    throw new LaggingReadError(type.plural, { read: result.resourceVersion, written });
  }
  // What had been delivered before the request left had been stored: no consistent read is older than that.
  if (seen !== undefined && compareRevisions(result.resourceVersion, seen) < 0) {
    throw new RevisionWentBackError(type.plural, result.resourceVersion, seen);
  }
  freshness.consistentRead(result.resourceVersion, sentAt, newestOf(result));
  return { sentAt, result };
}

/** Returns the revision of the object that changed last; the cache is to show it soon. */
export function newestOf({ items }: Pick<ListResult, 'items'>): string | undefined {
  let newest: string | undefined;
  for (const { metadata } of items) newest = newerRevision(newest, metadata.resourceVersion);
  return newest;
}
