import type { WatchSession } from './watch-session.ts';

/** The watches that are open now, in the order of opening. */
export class LiveWatches {
  readonly #open = new Set<WatchSession>();

  add(session: WatchSession): void {
    for (const known of this.#open) if (known.state !== 'open') this.#open.delete(known);
    if (session.state === 'open') this.#open.add(session);
  }

  /** Returns the open watches of a client, a user, a resource (`plural` or `plural.group`). */
  find(match: {
    readonly client?: string;
    readonly user?: string;
    readonly resource?: string;
  }): readonly WatchSession[] {
    return [...this.#open].filter(
      ({ state, options }) =>
        state === 'open' &&
        (match.client === undefined || match.client === options.client) &&
        (match.user === undefined || match.user === options.user) &&
        (match.resource === undefined || match.resource === options.resource),
    );
  }

  /** Ends all. */
  endAll(): void {
    for (const session of this.#open) session.end();
    this.#open.clear();
  }
}
