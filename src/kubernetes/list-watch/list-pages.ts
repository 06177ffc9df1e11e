import type { Clock } from '#base/clock.ts';
import { type Monotonic, millis } from '#base/units.ts';
import type { Client, ListQuery } from '../client.ts';
import type { KubernetesObject } from '../object.ts';
import type { ResourceType } from '../resource-type.ts';
import type { ListScope } from './list-scope.ts';

/** What {@link listPages} lists. */
export interface PagedList {
  readonly client: Client;
  readonly clock: Clock;
  readonly type: ResourceType;
  /** Which objects of the type. */
  readonly scope: ListScope;
  /** Called with each page as it comes. */
  readonly onPage: (items: readonly KubernetesObject[]) => void;
}

const pageSize = 500;

/**
 * Lists in consistent pages: without resourceVersion, so that the first is read at the newest revision (D-5). Other work
 * gets its turn after each. No pass waits for it, so that each page may take as long as the client's own deadline says.
 *
 * @returns the revision of all pages, and when the request for the first was sent
 * @throws what the client throws
 */
export async function listPages(
  { client, clock, type, scope, onPage }: PagedList,
  signal: AbortSignal,
): Promise<{ readonly revision: string; readonly sentAt: Monotonic }> {
  let revision: string | undefined;
  let sentAt = clock.monotonic();
  const beforeSend = (): void => {
    if (revision === undefined) sentAt = clock.monotonic();
  };
  let next: string | undefined;
  do {
    const rest = next === undefined ? {} : { continue: next };
    const query: ListQuery = { ...scope, limit: pageSize, ...rest };
    const page = await client.list(type, query, { signal, beforeSend, answerWithin: millis(0) });
    revision ??= page.resourceVersion;
    onPage(page.items);
    next = page.continue === '' ? undefined : page.continue;
    await clock.yield();
  } while (next !== undefined);
  return { revision, sentAt };
}
