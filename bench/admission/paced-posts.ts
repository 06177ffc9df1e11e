import { setTimeout as sleep } from 'node:timers/promises';
import type { PostAnswer, PostConnection } from './post-connection.ts';

/** One post of an open loop. */
export interface PacedPost {
  readonly post: Buffer;
  /**
   * Told of the answer; undefined where the connection ended.
   *
   * @param late from the time when it was due to the answer, in ms; `took`: from when it was sent
   */
  answered(answer: PostAnswer | undefined, late: number, took: number): void;
}

/** How posts are sent. */
export interface Pace {
  /** A second. */
  readonly rate: number;
  readonly seconds: number;
}

/**
 * Posts at a fixed rate, whatever is answered, each over a connection that is free. Resolves once all are answered. What
 * waits for a connection is late by as much.
 */
export async function postAtRate(
  open: readonly PostConnection[],
  { rate, seconds }: Pace,
  next: (index: number) => PacedPost,
): Promise<void> {
  const free = [...open];
  const underWay = new Set<Promise<void>>();
  const start = performance.now();
  const send = async (connection: PostConnection, index: number): Promise<void> => {
    const paced = next(index);
    const sentAt = performance.now();
    const answer = await connection.post(paced.post).catch(() => undefined);
    const now = performance.now();
    if (answer !== undefined) free.push(connection);
    paced.answered(answer, now - start - (index / rate) * 1_000, now - sentAt);
  };
  const count = Math.round(rate * seconds);
  for (let sent = 0; sent < count; ) {
    const due = Math.min(count, Math.floor(((performance.now() - start) / 1_000) * rate) + 1);
    while (sent < due && free.length > 0) {
      // The one that was used longest ago, before the webhook ends it as idle; those that it has ended are left out.
      const connection = free.shift();
      if (connection?.isOpen !== true) continue;
      const work = send(connection, sent).finally(() => underWay.delete(work));
      underWay.add(work);
      sent += 1;
    }
    if (free.length + underWay.size === 0) {
      throw new Error('All connections to the webhook have ended');
    }
    await sleep(1);
  }
  await Promise.all(underWay);
}
