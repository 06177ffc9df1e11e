import type { Clock } from '#base/clock.ts';
import type { Monotonic } from '#base/units.ts';
import type { CheckState, KnownSince } from './check-state.ts';

type Anchor = keyof KnownSince;

/** A time of a state as it is stored, and when this process first saw it. */
interface Seen {
  readonly text: string;
  readonly since: Monotonic;
}

/**
 * Remembers for how long this process has known the times of each state: what is stored is by a wall clock that may step, and
 * a wait ends at the latest when the process has watched it pass (D-55).
 */
export class SeenStates {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #seen = new Map<string, Readonly<Record<Anchor, Seen>>>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Takes note of the state of `owner`. @returns since when each of its times is known; now for what is new */
  see(owner: string, state: CheckState): KnownSince {
    const now = this.#clock.monotonic();
    const before = this.#seen.get(owner);
    const of = (anchor: Anchor): Seen => {
      const text = `${state.subject} ${state[anchor] ?? ''}`;
      const known = before?.[anchor];
      return known?.text === text ? known : { text, since: now };
    };
    const seen = { began: of('began'), lastAnswer: of('lastAnswer'), lastError: of('lastError') };
    this.#seen.set(owner, seen);
    const { began, lastAnswer, lastError } = seen;
    return { began: began.since, lastAnswer: lastAnswer.since, lastError: lastError.since };
  }

  /** Forgets `owner`, which no longer waits for answers. */
  forget(owner: string): void {
    this.#seen.delete(owner);
  }
}
