import type { Clock } from '#base/clock.ts';
import { seconds } from '#base/units.ts';
import type { Client, ListQuery } from '#kubernetes/client.ts';
import { WatchSilentError } from '#kubernetes/list-watch/silence-alarm.ts';
import {
  WatchDecodeError,
  WatchDecoder,
  type WatchEvent,
} from '#kubernetes/list-watch/watch-decoder.ts';
import { readWatch } from '#kubernetes/list-watch/watch-reading.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';

/** A StatefulsetRollout that is followed. */
export interface Followed<Verdict> {
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  /** Called with each state, undefined for gone. @returns what ends the wait; undefined: wait on */
  readonly judge: (object: KubernetesObject | undefined) => Verdict | undefined;
}

/** A watch that the server has ended with an error. */
class WatchEndedError extends Error {
  override readonly name = 'WatchEndedError';
}

const type = resourceTypes.statefulsetRollouts;
/** How long a watch lasts; the server ends it then, and it begins again. */
const watchSeconds = 60;
/** Over which a watch is dead, whatever the connection says. */
const silenceLimit = seconds(watchSeconds + 15);
/** From a watch that ended to the next look. */
const pause = seconds(1);

/**
 * Follows one object by list and watch until its judge has come to a verdict. Failures that pass are sat out.
 *
 * @throws the reason of `signal`, or an ApiError that the same request would get again
 */
export async function followRollout<Verdict extends object>(
  followed: Followed<Verdict>,
  signal: AbortSignal,
): Promise<Verdict> {
  for (;;) {
    try {
      const verdict = await lookAndWatch(followed, signal);
      if (verdict !== undefined) return verdict;
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
    }
    await followed.clock.sleep(pause, { signal });
  }
}

async function lookAndWatch<Verdict extends object>(
  followed: Followed<Verdict>,
  signal: AbortSignal,
): Promise<Verdict | undefined> {
  const { client, namespace, name, judge } = followed;
  const query = { namespace, fieldSelector: `metadata.name=${name}` };
  const timeout = seconds(30);
  const { items, resourceVersion } = await client.list(type, query, { signal, timeout });
  return (
    judge(items.find(({ metadata }) => metadata.name === name)) ??
    watchFrom(followed, { ...query, resourceVersion }, signal)
  );
}

async function watchFrom<Verdict extends object>(
  { client, clock, name, judge }: Followed<Verdict>,
  query: ListQuery,
  signal: AbortSignal,
): Promise<Verdict | undefined> {
  const found: { verdict: Verdict | undefined } = { verdict: undefined };
  const ending = new AbortController();
  const watched = { ...query, allowWatchBookmarks: true, timeoutSeconds: watchSeconds };
  const reading = {
    clock,
    subject: `StatefulsetRollout ${name}`,
    open: (open: AbortSignal) => client.watch(type, watched, { signal: open }),
    decoder: new WatchDecoder(),
    receive: (event: WatchEvent): void => {
      if (event.kind === 'error') throw new WatchEndedError(event.message);
      if (event.kind === 'bookmark' || event.object.metadata.name !== name) return;
      found.verdict ??= judge(event.type === 'DELETED' ? undefined : event.object);
      if (found.verdict !== undefined) ending.abort();
    },
    silenceLimit: () => silenceLimit,
  };
  try {
    await readWatch(reading, AbortSignal.any([signal, ending.signal]));
  } catch (error) {
    if (found.verdict === undefined) throw error;
  }
  return found.verdict;
}

/** Reports whether another look may well go better. */
function isPassing(error: unknown): boolean {
  if (error instanceof ApiError)
    return error.status === 429 || error.status === 410 || error.status >= 500;
  return [TransportError, WatchDecodeError, WatchSilentError, WatchEndedError].some(
    (each) => error instanceof each,
  );
}
