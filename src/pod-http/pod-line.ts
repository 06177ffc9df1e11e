import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { type buildConnector, Client } from 'undici';
import { errorOf } from '#base/error-of.ts';
import { type Connected, tellConnected } from '#kubernetes/transport/connecting-socket.ts';
import type { Hop } from './redirect.ts';

/** What undici passes to a connector about where to connect. */
type Target = Pick<buildConnector.Options, 'hostname' | 'port' | 'protocol'>;

/** Made once: an error takes its stack along, which costs more than the rest of a short call. */
const over = new Error('the call is over');

/**
 * The connection of one request, used once. Owns every socket that it opens, also one that is still connecting,
 * which undici would leave to its own timer.
 */
export class PodLine {
  readonly client: Client;
  /** What is in the request line: the whole URL where a proxy forwards it. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly #sockets = new Set<Socket>();
  readonly #clients = new Set<Client>();

  constructor(hop: Hop, proxy: URL | undefined) {
    const path = hop.url.pathname + hop.url.search;
    const isForwarded = proxy !== undefined && hop.url.protocol === 'http:';
    const isTunnelled = proxy !== undefined && !isForwarded;
    this.client = this.#clientOf(isForwarded ? proxy : hop.url, isTunnelled ? proxy : undefined);
    this.path = isForwarded ? `http://${hop.host}${path}` : path;
    this.headers = {
      host: hop.host,
      ...credentials('authorization', hop.url),
      ...(isForwarded && credentials('proxy-authorization', proxy)),
    };
  }

  /** Ends all that it opened, whatever state it is in. */
  destroy(): void {
    for (const client of this.#clients) client.destroy(over).catch(() => undefined);
    for (const socket of this.#sockets) socket.destroy();
  }

  #clientOf(url: URL, tunnel: URL | undefined): Client {
    const client = new Client(url.origin, {
      // Zero asks the server to close after the answer: an idle connection to a pod serves no client.
      pipelining: 0,
      allowH2: false,
      // Deadlines are ours, on the injected clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, done) => {
        if (tunnel === undefined) this.#connect(target, done);
        else void this.#tunnel(target, tunnel, done);
      },
    });
    this.#clients.add(client);
    return client;
  }

  #connect(target: Target, done: Connected, through?: Duplex): void {
    const isSecure = target.protocol === 'https:';
    const place = { host: target.hostname, port: portOf(target) };
    const socket = isSecure
      ? connectTls({ ...place, ...tlsOptions(target, through) })
      : connectTcp(place);
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    tellConnected(socket, isSecure, done);
  }

  async #tunnel(target: Target, proxy: URL, done: Connected): Promise<void> {
    try {
      const place = `${target.hostname}:${portOf(target)}`;
      const headers = { host: place, ...credentials('proxy-authorization', proxy) };
      const answer = await this.#clientOf(proxy, undefined).connect({ path: place, headers });
      const { socket, statusCode } = answer;
      if (statusCode === 200) this.#connect(target, done, socket);
      else done(new Error(`the proxy ${proxy.host} answered CONNECT with ${statusCode}`), null);
    } catch (error) {
      done(errorOf(error), null);
    }
  }
}

function portOf(target: Target): number {
  if (target.port !== '') return Number(target.port);
  return target.protocol === 'https:' ? 443 : 80;
}

/**
 * Returns the options of TLS. The name to agree on has no dot at its end, the name to resolve may; an address is no such
 * name.
 */
function tlsOptions(target: Target, socket: Duplex | undefined): ConnectionOptions {
  const name = target.hostname.replace(/\.$/, '');
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
