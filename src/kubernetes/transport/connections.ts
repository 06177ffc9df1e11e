import type { Agent, AgentOptions, ClientRequest, RequestOptions } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { seconds } from '#base/units.ts';
import { Places } from './places.ts';
import { parseProxy } from './proxy-url.ts';
import { socksTunnel, type Tunnel } from './socks-tunnel.ts';
import { type ConnectSettings, connectOptions, type TlsSettings } from './tls-settings.ts';

// Not imported: an import of node:http evaluates all that it exports, and with it Node's own copy of undici.
const http = process.getBuiltinModule('node:http');

/** Where a connection leads; an IPv6 address has no brackets. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** How connections to a server are made. */
export interface ConnectionsOptions {
  /** Of which the origin counts. */
  readonly server: URL;
  /** Read for every new connection, so that renewed certificates take effect. */
  readonly tls: () => TlsSettings;
  /** Finds the addresses of the server. @default the system's way */
  readonly lookup?: LookupFunction;
  /** URL of a proxy of HTTP, HTTPS or SOCKS5 to go through. @default directly to the server */
  readonly proxy?: string;
  /** Most connections at once; requests beyond them wait. */
  readonly most: number;
  /** Says when a connection has taken too long to be made. */
  readonly clock: Clock;
}

/** What is sent before the body. */
export type RequestHead = Pick<RequestOptions, 'method' | 'path' | 'headers'>;

/**
 * Longer than pods take to restart, so that the deletions of the next pods find their connections open; shorter than
 * load balancers and API servers keep what is idle (60 s and more), so that none is used that is closed meanwhile.
 */
const idleConnectionsLast = seconds(30);

/** How often TCP asks whether the other side of a quiet connection is still there. */
const probedEvery = seconds(60);

/**
 * Longer than a server needs that is well; shorter than deadlines of requests, so that one of those that were given up does not
 * keep its place from others for long.
 */
const connectedWithin = seconds(10);

/** What becomes of a request; each is called at most once. */
export interface RequestSteps {
  /** It has got a place; nothing of it has been sent. */
  readonly made: (request: ClientRequest) => void;
  /** There is a connection that it can be written to. */
  readonly connected: (request: ClientRequest) => void;
  /** Something in its head is not allowed there, or its connection cannot even be begun. */
  readonly refused: (error: Error) => void;
}

type MakeConnection = Agent['createConnection'];

/** To be called when a connection is ready: null, or when it is not to be: why. */
type Ready = (error: Error | null) => void;

/** The connections to one server, kept alive between requests. Owns every socket, also one that is still connecting. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #place: Place;
  readonly #isSecure: boolean;
  readonly #agent: Agent;
  readonly #places: Places;
  /** Those that are still being made. */
  readonly #unready = new Set<Duplex>();

  /** Opens nothing yet. @throws {Error} when the proxy is no URL of a known kind */
  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#place = placeOf(options.server);
    this.#isSecure = options.server.protocol === 'https:';
    this.#places = new Places(options.most);
    this.#agent = this.#agentOf(options);
  }

  /**
   * Makes a request once there is a place for it.
   *
   * @returns gives the wait for the place up; undefined where there was one at once
   */
  request(head: RequestHead, steps: RequestSteps): (() => void) | undefined {
    return this.#places.take(() => this.#make(head, steps));
  }

  /** Ends all of them. */
  destroy(): void {
    this.#agent.destroy();
    for (const socket of this.#unready) socket.destroy();
  }

  #make(head: RequestHead, { made, connected, refused }: RequestSteps): void {
    // Not at once: a connection is free again just after the end of its request.
    const leave = (): void => process.nextTick(() => this.#places.leave());
    let request: ClientRequest;
    try {
      request = this.#requestOf(head);
    } catch (error) {
      leave();
      refused(errorOf(error));
      return;
    }
    request.once('close', leave);
    request.once('socket', (socket) => {
      if (this.#unready.has(socket)) socket.once(readyOf(socket), () => connected(request));
      else connected(request);
    });
    made(request);
  }

  #requestOf(head: RequestHead): ClientRequest {
    const { server, lookup } = this.#options;
    return http.request({
      ...head,
      ...this.#place,
      protocol: server.protocol,
      ...(lookup !== undefined && { lookup }),
      agent: this.#agent,
    });
  }

  #agentOf({ proxy }: ConnectionsOptions): Agent {
    const through = proxy === undefined ? undefined : parseProxy(proxy);
    const settings: AgentOptions = {
      keepAlive: true,
      keepAliveMsecs: probedEvery,
      timeout: idleConnectionsLast,
      ...(through?.kind === 'http' && {
        proxyEnv: { HTTP_PROXY: through.url.href, HTTPS_PROXY: through.url.href },
      }),
    };
    const agent = this.#isSecure
      ? // Each connection verifies the server: what vouches for it may have been replaced since the one before.
        new (process.getBuiltinModule('node:https').Agent)({ ...settings, maxCachedSessions: 0 })
      : new http.Agent(settings);
    agent.createConnection =
      through?.kind === 'socks'
        ? this.#throughSocks(through.url)
        : this.#asNode(agent.createConnection.bind(agent), through !== undefined);
    return agent;
  }

  /** Makes connections as Node does, which knows proxies of HTTP; its own certificates are read for each. */
  #asNode(ofNode: MakeConnection, isProxied: boolean): MakeConnection {
    return (options, done) => {
      const tunnel: { ready?: Ready } = {};
      const socket = ofNode({ ...options, ...(this.#isSecure && this.#secured()) }, (...made) => {
        tunnel.ready?.(made[0]);
        done?.(...made);
      });
      if (socket === null || socket === undefined) return socket;
      const ready = this.#own(socket);
      if (isProxied && this.#isSecure) tunnel.ready = ready;
      else socket.once(readyOf(socket), () => ready(null));
      return socket;
    };
  }

  #secured(): ConnectSettings {
    return { servername: serverNameOf(this.#place), ...connectOptions(this.#options.tls()) };
  }

  #throughSocks(proxy: URL): MakeConnection {
    return (_options, done) => {
      const secured = this.#isSecure ? this.#secured() : undefined;
      const tunnel = socksTunnel(proxy, { place: this.#place, secured });
      const ready = this.#own(tunnel.base);
      void hand(tunnel, (...made) => {
        ready(made[0]);
        done?.(...made);
      });
      return undefined;
    };
  }

  /** Ends a connection with the others, or when it takes too long, until it is ready. */
  #own(socket: Duplex): Ready {
    this.#unready.add(socket);
    // Whatever happens to it is reported by its request; an event that nothing listens for would end the process.
    socket.on('error', () => undefined);
    const giveUp = (): void =>
      void socket.destroy(new Error(`no connection within ${connectedWithin / 1_000} s`));
    const limit = this.#options.clock.timer(connectedWithin, giveUp, {
      owner: 'connection that is being made',
      background: true,
    });
    const forget = (): void => {
      limit.cancel();
      this.#unready.delete(socket);
    };
    socket.once('close', forget);
    return (error) => {
      forget();
      // Node keeps nothing of a tunnel that was not built, and would leave its connection open.
      if (error !== null) socket.destroy();
    };
  }
}

/** Names what a socket emits when it can be written to. */
function readyOf(socket: Duplex): 'connect' | 'secureConnect' {
  return socket instanceof TLSSocket ? 'secureConnect' : 'connect';
}

/** Hands the connection of a tunnel over, or says why there is none. */
async function hand(
  { base, ready }: Tunnel,
  done: NonNullable<Parameters<MakeConnection>[1]>,
): Promise<void> {
  let socket: Duplex;
  try {
    socket = await ready;
  } catch (error) {
    done(errorOf(error), base);
    return;
  }
  done(null, socket);
}

function placeOf({ hostname, port, protocol }: URL): Place {
  const defaultPort = protocol === 'https:' ? 443 : 80;
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? defaultPort : Number(port),
  };
}

/** Returns the name that the server must prove: without a dot at its end, which only a name to resolve has; an address is none. */
function serverNameOf({ host }: Place): string {
  return isIP(host) === 0 ? host.replace(/\.$/, '') : '';
}
