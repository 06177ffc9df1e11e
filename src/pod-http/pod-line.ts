import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { openTunnel } from './pod-tunnel.ts';
import type { Hop } from './redirect.ts';

/** Made once: an error takes its stack along, which costs more than the rest of a short call. */
const closed = new Error('the connection was closed before it could be used');

/** The connection of one request, used once. Owns every socket that it opens, also one that is still connecting. */
export class PodLine {
  /** What is in the request line: the whole URL where a proxy forwards it. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly #pod: URL;
  readonly #proxy: URL | undefined;
  readonly #isForwarded: boolean;
  readonly #sockets = new Set<Socket>();
  #isDestroyed = false;

  /** @throws {Error} when the proxy or the credentials of a URL cannot be used */
  constructor(hop: Hop, proxy: URL | undefined) {
    const path = hop.url.pathname + hop.url.search;
    const isForwarded = proxy !== undefined && hop.url.protocol === 'http:';
    if (proxy !== undefined && !/^https?:$/.test(proxy.protocol)) {
      throw new Error(`the proxy ${proxy.protocol}//${proxy.host} is no http or https URL`);
    }
    this.#pod = hop.url;
    this.#proxy = proxy;
    this.#isForwarded = isForwarded;
    this.path = isForwarded ? `http://${hop.host}${path}` : path;
    this.headers = {
      // An idle connection to a pod serves nobody.
      connection: 'close',
      host: hop.host,
      ...credentials('authorization', hop.url),
      ...(isForwarded && credentials('proxy-authorization', proxy)),
    };
  }

  /**
   * Returns the connection, as soon as a request can be written to it.
   *
   * @throws {Error} when none can be made, and when it is destroyed before
   */
  async open(): Promise<Socket> {
    const proxy = this.#proxy;
    if (proxy === undefined) return this.#connect(this.#pod);
    const toProxy = await this.#connect(proxy);
    if (this.#isForwarded) return toProxy;
    await openTunnel(toProxy, {
      place: `${this.#pod.hostname}:${portOf(this.#pod)}`,
      proxy: proxy.host,
      headers: credentials('proxy-authorization', proxy),
    });
    return this.#connect(this.#pod, toProxy);
  }

  /** Ends all that it opened, whatever state it is in. */
  destroy(): void {
    this.#isDestroyed = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  async #connect(url: URL, through?: Socket): Promise<Socket> {
    // It may have been destroyed between two steps, when there was nothing to end.
    if (this.#isDestroyed) throw closed;
    const isSecure = url.protocol === 'https:';
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const place = { host, port: portOf(url) };
    const socket = isSecure
      ? connectTls({ ...place, ...tlsOptions(host, through) })
      : connectTcp(place);
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    await connected(socket, isSecure);
    // A request over one that was lost meanwhile has no event once that is closed, and would wait for ever.
    if (socket.destroyed) throw socket.errored ?? closed;
    return socket;
  }
}

/** Resolves when `socket` can be written to; rejects when it fails or is destroyed before. */
async function connected(socket: Socket, isSecure: boolean): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Stays for good: what happens to the socket after this is reported by the request, but must find a listener.
  socket.on('error', reject);
  socket.once('close', () => reject(closed));
  socket.once(isSecure ? 'secureConnect' : 'connect', resolve);
  await promise;
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/**
 * Returns the options of TLS. The name to agree on has no dot at its end, the name to resolve may; an address is no such
 * name.
 */
function tlsOptions(host: string, socket: Socket | undefined): ConnectionOptions {
  const name = host.replace(/\.$/, '');
  return {
    ALPNProtocols: ['http/1.1'],
    ...(isIP(name) === 0 && { servername: name }),
    ...(socket !== undefined && { socket }),
  };
}

/** Returns the header with credentials. @throws {URIError} when a part of it is no proper escape */
function credentials(header: string, url: URL): Readonly<Record<string, string>> {
  if (url.username === '' && url.password === '') return {};
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { [header]: `Basic ${Buffer.from(pair).toString('base64')}` };
}
