import type { Clock } from '#base/clock.ts';
import { type Monotonic, monotonic, seconds } from '#base/units.ts';
import type { Client } from '../client.ts';
import type { ListScope } from '../list-watch/list-scope.ts';
import { statusOf } from '../list-watch/list-watch-failure.ts';
import type { ResourceType } from '../resource-type.ts';
import { SharedRequest } from '../shared-request.ts';

/** The server does not serve a type, as far as is known. */
export interface Absence {
  /** When the request was sent whose answer last said so. */
  readonly provenAt: Monotonic;
}

/** What {@link TypePresence} looks through. */
export interface TypePresenceOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly type: ResourceType;
  /** Which objects of the type; only they need be permitted. */
  readonly scope: ListScope;
  /** A look has found the type that was absent. */
  readonly appeared: () => void;
}

/** Longest time that the answer to a look is waited for. */
const lookPatience = seconds(10);

/** Whether the server serves the type of an informer, as answers to lists have shown (D-51). */
export class TypePresence {
  readonly #options: TypePresenceOptions;
  #absence: Absence | undefined;
  /** When the newest request was sent that found the type. */
  #servedAt: Monotonic | undefined;
  readonly #looking = new SharedRequest(() => this.#ask());

  constructor(options: TypePresenceOptions) {
    this.#options = options;
  }

  get absence(): Absence | undefined {
    return this.#absence;
  }

  /**
   * Notes that a list that was sent at `sentAt` was answered that there is no such type.
   * @returns whether that is new of now: the type may have been found since that request was sent
   */
  absent(sentAt: Monotonic): boolean {
    if (this.#servedAt !== undefined && sentAt < this.#servedAt) return false;
    const before = this.#absence?.provenAt ?? sentAt;
    this.#absence = { provenAt: monotonic(Math.max(before, sentAt)) };
    return true;
  }

  /** Notes that a list that was sent at `sentAt` found the type. @returns whether it was absent before */
  served(sentAt: Monotonic): boolean {
    this.#servedAt = monotonic(Math.max(this.#servedAt ?? sentAt, sentAt));
    const wasAbsent = this.#absence !== undefined;
    this.#absence = undefined;
    return wasAbsent;
  }

  /**
   * Asks the server once whether it serves the type now, if it did not; all that ask at the same time share one request.
   *
   * @throws what the client throws for any answer but a list or a 404: whether the type is there is not known then
   * @throws the reason of `signal` when that aborts first
   */
  async look(signal: AbortSignal): Promise<void> {
    if (this.#absence !== undefined) await this.#looking.join(signal);
  }

  async #ask(): Promise<void> {
    const { client, clock, type, scope } = this.#options;
    let sentAt = clock.monotonic();
    const beforeSend = (): void => {
      sentAt = clock.monotonic();
    };
    try {
      await client.list(type, { ...scope, limit: 1 }, { beforeSend, answerWithin: lookPatience });
    } catch (error) {
      if (statusOf(error) !== 404) throw error;
      this.absent(sentAt);
      return;
    }
    if (this.served(sentAt)) this.#options.appeared();
  }
}
