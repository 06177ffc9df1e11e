import type { Agent, AgentOptions, ClientRequest, RequestOptions } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorOf } from '#base/error-of.ts';
import { seconds } from '#base/units.ts';
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
  /** Most connections at once; requests beyond them wait. While a proxy builds tunnels, there may be more. */
  readonly most: number;
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

type MakeConnection = Agent['createConnection'];

/** The connections to one server, kept alive between requests. Owns every socket, also one that is still connecting. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #place: Place;
  readonly #isSecure: boolean;
  readonly #agent: Agent;
  /** Those that are still connecting, and the connections to a proxy that tunnels lead through. */
  readonly #unready = new Set<Duplex>();

  /** Opens nothing yet. @throws {Error} when the proxy is no URL of a known kind */
  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#place = placeOf(options.server);
    this.#isSecure = options.server.protocol === 'https:';
    this.#agent = this.#agentOf(options);
  }

  /**
   * Returns a request of which nothing has been sent.
   *
   * @param connected called once, when there is a connection that it can be written to
   * @throws {TypeError} when something in the head is not allowed there
   */
  request(head: RequestHead, connected: () => void): ClientRequest {
    const { server, lookup } = this.#options;
    const request = http.request({
      ...head,
      ...this.#place,
      protocol: server.protocol,
      ...(lookup !== undefined && { lookup }),
      agent: this.#agent,
    });
    request.once('socket', (socket) => {
      if (this.#unready.has(socket)) socket.once(this.#whenReady, connected);
      else connected();
    });
    return request;
  }

  /** Ends all of them. */
  destroy(): void {
    this.#agent.destroy();
    for (const socket of this.#unready) socket.destroy();
  }

  /** Names what a socket emits when requests can be written to it. */
  get #whenReady(): 'connect' | 'secureConnect' {
    return this.#isSecure ? 'secureConnect' : 'connect';
  }

  #agentOf({ most, proxy }: ConnectionsOptions): Agent {
    const through = proxy === undefined ? undefined : parseProxy(proxy);
    const settings: AgentOptions = {
      keepAlive: true,
      keepAliveMsecs: probedEvery,
      maxSockets: most,
      timeout: idleConnectionsLast,
      ...(through?.kind === 'http' && {
        proxyEnv: { HTTP_PROXY: through.url.href, HTTPS_PROXY: through.url.href },
      }),
    };
    const agent = this.#isSecure
      ? // Each connection verifies the server: what vouches for it may have been replaced since the one before.
        new (process.getBuiltinModule('node:https').Agent)({ ...settings, maxCachedSessions: 0 })
      : new http.Agent(settings);
    const make =
      through?.kind === 'socks'
        ? this.#throughSocks(through.url)
        : this.#asNode(agent.createConnection.bind(agent));
    agent.createConnection = (options, done) => {
      const socket = make(options, done);
      if (socket !== null && socket !== undefined) this.#await(socket);
      return socket;
    };
    return agent;
  }

  /** Makes connections as Node does, which knows proxies of HTTP; its own certificates are read for each. */
  #asNode(ofNode: MakeConnection): MakeConnection {
    return this.#isSecure
      ? (options, done) => ofNode({ ...options, ...this.#secured() }, done)
      : ofNode;
  }

  #secured(): ConnectSettings {
    return { servername: serverNameOf(this.#place), ...connectOptions(this.#options.tls()) };
  }

  #throughSocks(proxy: URL): MakeConnection {
    return (_options, done) => {
      const secured = this.#isSecure ? this.#secured() : undefined;
      const tunnel = socksTunnel(proxy, { place: this.#place, secured });
      this.#await(tunnel.base);
      void hand(tunnel, done);
      return undefined;
    };
  }

  #await(socket: Duplex): void {
    this.#unready.add(socket);
    const forget = (): void => void this.#unready.delete(socket);
    socket.once(this.#whenReady, forget);
    socket.once('close', forget);
  }
}

/** Hands the connection of a tunnel over, or says why there is none. */
async function hand({ base, ready }: Tunnel, done: Parameters<MakeConnection>[1]): Promise<void> {
  let socket: Duplex;
  try {
    socket = await ready;
  } catch (error) {
    done?.(errorOf(error), base);
    return;
  }
  done?.(null, socket);
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
