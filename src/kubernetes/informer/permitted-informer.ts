import { aborted } from '#base/async/aborted.ts';
import type { Clock } from '#base/clock.ts';
import type { Millis } from '#base/units.ts';
import { type AccessAnswer, canList } from '../authorization/access-review.ts';
import type { Client } from '../client.ts';
import type { Cached, Informer } from './informer.ts';

/** How far the objects of a type are known that need not be there, and that our Role need not permit. */
export type TypeSight =
  /** Whether they may be listed is being found out. */
  | 'asking'
  /** They may not be listed. */
  | 'denied'
  /** The server does not serve the type. */
  | 'absent'
  /** They are being listed. */
  | 'listing'
  | 'known';

/** What {@link PermittedInformer} goes through. */
export interface PermittedInformerOptions<T extends Cached> {
  readonly client: Client;
  readonly clock: Clock;
  /** Allows the type to be absent. */
  readonly informer: Informer<T>;
  /** Where they are listed; empty for all namespaces. */
  readonly namespace: string;
  /** How soon is asked again what was denied; undefined: never. */
  readonly askAgain: Millis | undefined;
}

/** Runs an informer where, and as soon as, our Role permits listing its type; else nothing is read (D-63, D-65). */
export class PermittedInformer<T extends Cached> {
  readonly informer: Informer<T>;
  /** Resolves when it is known which objects there are, or that they may not be listed. Never rejects. */
  readonly settled: Promise<void>;
  readonly #options: PermittedInformerOptions<T>;
  readonly #settling = Promise.withResolvers<void>();
  readonly #handlers: (() => void)[] = [];
  #access: 'asking' | 'denied' | 'permitted' = 'asking';

  constructor(options: PermittedInformerOptions<T>) {
    const { informer } = options;
    this.#options = options;
    this.informer = informer;
    this.settled = this.#settling.promise;
    informer.onState(() => this.#tell());
  }

  get sight(): TypeSight {
    if (this.#access !== 'permitted') return this.#access;
    const { isAbsent, hasSynced } = this.informer;
    if (isAbsent) return 'absent';
    return hasSynced ? 'known' : 'listing';
  }

  /** Calls `handler` after {@link sight} has changed, and perhaps when it has not. */
  onState(handler: () => void): void {
    this.#handlers.push(handler);
  }

  /**
   * Asks, and lists and watches where that is permitted, until `signal` aborts.
   *
   * @param proven resolves when the API server has shown that it knows our Role: what it denies before may be wrong
   * @throws as the informer does
   */
  async run(proven: Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, askAgain, informer } = this.#options;
    const known = proven.catch(() => undefined);
    if ((await this.#ask(signal)) !== 'allowed') {
      await Promise.race([known, aborted(signal)]);
      while (!signal.aborted && (await this.#ask(signal)) === 'denied') {
        this.#enter('denied');
        if (askAgain === undefined) return aborted(signal);
        const owner = `check whether ${informer.type.plural} may be listed`;
        await clock.sleep(askAgain, { signal, owner, background: true }).catch(() => undefined);
      }
    }
    if (signal.aborted) return;
    this.#enter('permitted');
    await informer.run(signal);
  }

  /** What cannot be found out is no reason not to try, once the server knows our Role. */
  async #ask(signal: AbortSignal): Promise<AccessAnswer['kind']> {
    const { client, namespace, informer } = this.#options;
    return (await canList(client, { type: informer.type, namespace }, { signal })).kind;
  }

  #enter(access: 'denied' | 'permitted'): void {
    if (this.#access === access) return;
    this.#access = access;
    this.#tell();
  }

  #tell(): void {
    const { sight } = this;
    if (sight !== 'asking' && sight !== 'listing') this.#settling.resolve();
    for (const handler of this.#handlers) handler();
  }
}
