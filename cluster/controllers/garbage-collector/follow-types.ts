import type { Clock, Timer } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { apiVersionOf, type ResourceType } from '#kubernetes/resource-type.ts';
import { discoverTypes, isDeletable, type ServedType } from '../discover-types.ts';

/** What a {@link TypeFollower} is made of. */
export interface TypeFollowerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Starts to follow the objects of `types`; resolves when all are known. */
  readonly follow: (types: readonly ResourceType[]) => Promise<void>;
}

const rediscoverEvery = seconds(30);

/** Keeps the garbage collector informed of every type that can be deleted, custom resources included (GC-1). */
export class TypeFollower {
  readonly #options: TypeFollowerOptions;
  readonly #followed = new Set<string>();
  #served: readonly ServedType[] = [];
  #next: Timer | undefined;
  #isStopped = false;

  constructor(options: TypeFollowerOptions) {
    this.#options = options;
  }

  /** Returns the type that is served under these names; undefined when there is none. */
  typeOf(apiVersion: string, kind: string): ResourceType | undefined {
    return this.#served.find(({ type }) => apiVersionOf(type) === apiVersion && type.kind === kind)
      ?.type;
  }

  /** Asks what is served, and follows what is new. @throws {Error} when the server does not say */
  async discover(): Promise<void> {
    this.#served = await discoverTypes(this.#options.client);
    const fresh = this.#served
      .filter(isDeletable)
      .map(({ type }) => type)
      .filter((type) => type.kind !== 'Event' && !this.#followed.has(keyOf(type)));
    for (const type of fresh) this.#followed.add(keyOf(type));
    await this.#options.follow(fresh);
  }

  /** Discovers again and again from now on. */
  repeat(): void {
    if (this.#isStopped) return;
    const look = async (): Promise<void> => {
      try {
        await this.discover();
      } catch (error) {
        this.#options.log.warn('discovery failed', { error: errorOf(error) });
      }
      this.repeat();
    };
    this.#next = this.#options.clock.timer(rediscoverEvery, () => void look(), {
      owner: 'garbage-collector-discovery',
      background: true,
    });
  }

  /** Discovers no more. */
  stop(): void {
    this.#isStopped = true;
    this.#next?.cancel();
  }
}

function keyOf(type: ResourceType): string {
  return `${type.plural}.${type.group}`;
}
