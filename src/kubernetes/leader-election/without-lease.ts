import type { Clock } from '#base/clock.ts';
import { notNamed } from './announcements.ts';
import type { LeaderElection } from './leader-election.ts';
import { LeaderStates } from './leader-states.ts';

/**
 * Leads from the start and without a Lease: `-leader-election.enabled=false`. Every start then waits for its predecessor,
 * as its end cannot be recorded; a second replica would lead as well.
 *
 * @param because why there is none, as a sentence
 */
export function withoutLease(clock: Clock, because: string): LeaderElection {
  const states = new LeaderStates();
  const startedAt = clock.monotonic();
  states.leadWithout(because, { kind: 'unclean', countedFrom: startedAt, because });
  const leads = (): boolean => states.state.kind === 'unavailable';
  return {
    get state() {
      return states.state;
    },
    run: async (signal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const leave = states.onChange(() => resolve());
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (!signal.aborted && leads()) await promise;
      leave();
      if (leads()) states.end(false);
    },
    onChange: (listener) => states.onChange(listener),
    leading: (signal) => states.leading(signal),
    isHeld: () => false,
    leads,
    announce: async () => notNamed,
    end: async () => states.end(false),
  };
}
