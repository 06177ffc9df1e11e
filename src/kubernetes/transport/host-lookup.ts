import {
  type LookupAddress,
  type LookupAllOptions,
  type LookupOptions,
  lookup as systemLookup,
} from 'node:dns';
import type { LookupFunction } from 'node:net';
import { CallLanes } from '#base/async/call-lanes.ts';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { getOrAdd } from '#base/get-or-add.ts';
import { seconds } from '#base/units.ts';

/** Finds all addresses of a name, as the system does. */
export type Resolve = (
  name: string,
  options: LookupAllOptions,
) => Promise<readonly LookupAddress[]>;

/** How the last lookup of a name went: not yet known, quick, or neither. Each waits only for its like. */
type Standing = 'new' | 'quick' | 'bad';

/** A name that takes longer holds up no other. */
const quickWithin = seconds(1);
/** Names that are remembered; a forgotten one counts as new. */
const mostNames = 10_000;

/**
 * Looks up names that resources mention. The system's lookup, which alone knows search lists and host files, holds one of the four
 * threads of the process for as long as it hangs: names that any client may write into a resource must not take them all from
 * the API server's, nor from one another. So there are three lookups at once at most: of names that were found quickly,
 * of those that were not, and of new ones, one each. A name that is being looked up is not looked up again.
 */
export class HostLookup {
  /** For `net.connect`. */
  readonly lookup: LookupFunction;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #resolve: Resolve;
  readonly #lanes = new CallLanes(1);
  readonly #standings = new Map<string, Standing>();
  readonly #underWay = new Map<string, Promise<readonly LookupAddress[]>>();

  /** @param resolve the system's lookup, or a stand-in */
  constructor(clock: Pick<Clock, 'monotonic'>, resolve: Resolve = ofSystem) {
    this.#clock = clock;
    this.#resolve = resolve;
    this.lookup = (name, options, done) => void this.#look({ name, options }, done);
  }

  async #look(
    { name, options }: { readonly name: string; readonly options: LookupOptions },
    done: Parameters<LookupFunction>[2],
  ): Promise<void> {
    let addresses: readonly LookupAddress[];
    try {
      addresses = await this.#found(name, { ...options, all: true });
    } catch (error) {
      done(errorOf(error), '');
      return;
    }
    tell(addresses, options.all === true, done);
  }

  #found(name: string, options: LookupAllOptions): Promise<readonly LookupAddress[]> {
    const key = JSON.stringify([name, options]);
    return getOrAdd(this.#underWay, key, async () => {
      try {
        return await this.#inTurn(name, options);
      } finally {
        this.#underWay.delete(key);
      }
    });
  }

  async #inTurn(name: string, options: LookupAllOptions): Promise<readonly LookupAddress[]> {
    const { signal: never } = new AbortController();
    const leave = await this.#lanes.enter(this.#standings.get(name) ?? 'new', never);
    const begun = this.#clock.monotonic();
    let standing: Standing = 'bad';
    try {
      const addresses = await this.#resolve(name, options);
      if (this.#clock.monotonic() - begun <= quickWithin) standing = 'quick';
      return addresses;
    } finally {
      if (this.#standings.size >= mostNames) this.#standings.clear();
      this.#standings.set(name, standing);
      leave?.();
    }
  }
}

function tell(
  addresses: readonly LookupAddress[],
  wantsAll: boolean,
  done: Parameters<LookupFunction>[2],
): void {
  const [first] = addresses;
  if (wantsAll) done(null, [...addresses]);
  else if (first === undefined) done(new Error('the name has no address'), '');
  else done(null, first.address, first.family);
}

function ofSystem(name: string, options: LookupAllOptions): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(name, options, (error, addresses) => {
      if (error === null) resolve(addresses);
      else reject(error);
    });
  });
}
