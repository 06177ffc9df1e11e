import { errorOf } from '#base/error-of.ts';
import type { LeaderState, Leading } from './leader-election.ts';
import type { Predecessor } from './plan-predecessor.ts';

/** Led, and may not any more. */
class LeadershipEndedError extends Error {
  override readonly name = 'LeadershipEndedError';
}

type Listener = (state: LeaderState) => void;

/** Keeps the state of an election, its signal, and those who want to know. */
export class LeaderStates {
  readonly #listeners = new Set<Listener>();
  #state: LeaderState = { kind: 'candidate', because: 'the Lease was not read yet' };
  #leading: AbortController | undefined;

  get state(): LeaderState {
    return this.#state;
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async leading(signal: AbortSignal): Promise<Leading> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Leading>();
    const look = (): void => {
      if (isLeading(this.#state)) resolve(this.#state);
    };
    const abort = (): void => reject(errorOf(signal.reason));
    const leave = this.onChange(look);
    signal.addEventListener('abort', abort, { once: true });
    look();
    try {
      return await promise;
    } finally {
      leave();
      signal.removeEventListener('abort', abort);
    }
  }

  /** Starts a term; the same one again changes nothing. */
  lead(term: string, predecessor: Predecessor): void {
    if (this.#state.kind === 'leading' && this.#state.term === term) return;
    this.#enter((signal) => ({ kind: 'leading', term, predecessor, signal }));
  }

  /** Starts to lead without a Lease; changes nothing where it does already. @returns whether it is new */
  leadWithout(because: string, predecessor: Predecessor): boolean {
    if (this.#state.kind === 'unavailable') return false;
    this.#enter((signal) => ({ kind: 'unavailable', because, predecessor, signal }));
    return true;
  }

  /** Follows `state`. @returns whether it, or its reason, is new */
  follow(because: string): boolean {
    if (this.#state.kind === 'candidate' && this.#state.because === because) return false;
    this.#leave({ kind: 'candidate', because });
    return true;
  }

  lose(because: string): void {
    this.#leave({ kind: 'lost', because });
  }

  end(isClean: boolean): void {
    this.#leave({ kind: 'ended', isClean });
  }

  /** Aborts the signal of the leader; the state follows. */
  stopWork(because: string): void {
    const leading = this.#leading;
    this.#leading = undefined;
    leading?.abort(new LeadershipEndedError(because));
  }

  #enter(stateOf: (signal: AbortSignal) => LeaderState): void {
    this.stopWork('another term begins');
    this.#leading = new AbortController();
    this.#set(stateOf(this.#leading.signal));
  }

  #leave(state: LeaderState): void {
    this.stopWork('because' in state ? state.because : 'it was asked to end');
    this.#set(state);
  }

  #set(state: LeaderState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}

/** Reports whether this process leads, by its Lease or without one. */
export function isLeading(state: LeaderState): state is Leading {
  return state.kind === 'leading' || state.kind === 'unavailable';
}
