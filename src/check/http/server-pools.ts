import type { Clock } from '#base/clock.ts';
import { getOrAdd } from '#base/get-or-add.ts';
import { type Monotonic, minutes } from '#base/units.ts';
import { openTransport } from '#kubernetes/connect/connection.ts';
import { checkedLookup, checkHost } from '#kubernetes/outgoing/checked-lookup.ts';
import type { AddressRules } from '#kubernetes/outgoing/refused-address.ts';
import { HostLookup } from '#kubernetes/transport/host-lookup.ts';
import type { ByteTransport } from '#kubernetes/transport/http-transport.ts';
import { type Environment, proxyFor } from '#kubernetes/transport/proxy.ts';
import { type ServerTrust, tlsOf } from '#kubernetes/transport/server-trust.ts';

/** Whom connections are kept for: questions that differ in any of this share none. */
export interface Server {
  /** Names address, credentials and trust. */
  readonly key: string;
  readonly trust: ServerTrust;
}

/** Settings of {@link ServerPools}. */
export interface ServerPoolsOptions {
  readonly clock: Clock;
  readonly env: Environment;
  /** Most connections of one server to one origin. */
  readonly connections: number;
  /** Which addresses are called. @default all of them, as they are of the configuration of the program */
  readonly addresses?: AddressRules;
}

/** Longer than most periods of checks, so that what is asked again and again keeps its pool. */
const unusedAfter = minutes(10);

interface Pool {
  /** Questions that are under way. */
  inside: number;
  lastUsed: Monotonic;
  readonly tls: ReturnType<typeof tlsOf>;
  /** By origin: redirects lead to others, and must not take the connections of those who ask there. */
  readonly transports: Map<string, ByteTransport>;
}

/** Connections by server; those that have not been used for a while are ended when another client asks. */
export class ServerPools {
  readonly #options: ServerPoolsOptions;
  readonly #hosts: HostLookup;
  readonly #pools = new Map<string, Pool>();

  constructor(options: ServerPoolsOptions) {
    this.#options = options;
    this.#hosts = new HostLookup(options.clock);
  }

  /** Counts the servers that there are connections to. */
  get size(): number {
    return this.#pools.size;
  }

  /** Begins a request to `server`; each call is followed by one {@link leave}. */
  enter({ key, trust }: Server): void {
    const lastUsed = this.#options.clock.monotonic();
    this.#endUnused(lastUsed);
    const make = (): Pool => ({ inside: 0, lastUsed, tls: tlsOf(trust), transports: new Map() });
    getOrAdd(this.#pools, key, make).inside += 1;
  }

  /** Ends a request to `server`. */
  leave({ key }: Server): void {
    const pool = this.#pools.get(key);
    if (pool === undefined) return;
    pool.inside -= 1;
    pool.lastUsed = this.#options.clock.monotonic();
  }

  /** Returns connections to the origin of `url`, for a request that has entered. @throws {Error} when none can be made, or may be */
  transport({ key }: Server, url: URL): ByteTransport {
    const pool = this.#pools.get(key);
    if (pool === undefined) throw new Error('the connections have been ended');
    return getOrAdd(pool.transports, url.origin, () => this.#open(pool, url));
  }

  /** Ends all connections; questions under way fail. */
  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map(end));
  }

  #open({ tls }: Pool, url: URL): ByteTransport {
    const { clock, env, connections, addresses } = this.#options;
    if (addresses !== undefined) checkHost(url, addresses);
    // The name of a server behind a proxy is looked up by that; here only its own is, which the environment gives.
    const isDirect = proxyFor(url, env) === undefined;
    const { lookup: any } = this.#hosts;
    const lookup = isDirect && addresses !== undefined ? checkedLookup(any, addresses) : any;
    return openTransport({ server: url, tls, connections, lookup }, { clock, env });
  }

  #endUnused(now: Monotonic): void {
    for (const [key, pool] of this.#pools) {
      if (pool.inside > 0 || now - pool.lastUsed < unusedAfter) continue;
      this.#pools.delete(key);
      void end(pool);
    }
  }
}

async function end({ transports }: Pool): Promise<void> {
  await Promise.all([...transports.values()].map((each) => each.close()));
}
