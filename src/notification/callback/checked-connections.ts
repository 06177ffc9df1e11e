import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import Agent from 'undici/lib/dispatcher/agent.js';
import { type Connected, tellConnected } from '#kubernetes/transport/connecting-socket.ts';
import {
  connectOptions,
  type DispatcherFactory,
  type TlsSettings,
} from '#kubernetes/transport/undici-transport.ts';
import type { CheckedAddress } from './callback-target.ts';

type Target = Parameters<buildConnector.connector>[0];

/**
 * Makes connections to addresses that were checked, whatever their name would be found to mean by now (E-21), and through no
 * proxy (E-22). The name stays what the server's certificate must carry. Owns every socket, also one that is still connecting,
 * which undici would leave to its own timer.
 */
export class CheckedConnections {
  /** Makes the pool of a transport that connects this way. */
  readonly dispatcherOf: DispatcherFactory;
  readonly #lookup: LookupFunction;
  readonly #sockets = new Set<Socket>();

  /** Opens nothing yet. @param addresses at least one; tried in their order, the next one where one does not answer */
  constructor(addresses: readonly CheckedAddress[]) {
    this.#lookup = (_name, options, done) => {
      const [first] = addresses;
      if (options.all === true) done(null, [...addresses]);
      else if (first === undefined) done(new Error('no address was checked'), '');
      else done(null, first.address, first.family);
    };
    this.dispatcherOf = (settings, tls) =>
      new Agent({ ...settings, connect: (target, done) => this.#connect(target, tls(), done) });
  }

  /** Ends all that it opened, whatever state it is in. */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  #connect(target: Target, tls: TlsSettings, done: Connected): void {
    const isSecure = target.protocol === 'https:';
    const socket = isSecure ? this.#secure(target, tls) : connectTcp(this.#placeOf(target));
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    const fail = tellConnected(socket, isSecure, done);
    // Stays for good, as undici reports what happens later.
    socket.on('close', () => fail(new Error('the connection was closed')));
  }

  /** Sets TLS up: the server name has no dot at its end, the name to resolve may; an address is not a server name. */
  #secure(target: Target, tls: TlsSettings): Socket {
    const name = target.hostname.replace(/\.$/, '');
    return connectTls({
      ...connectOptions(tls),
      ...this.#placeOf(target),
      ALPNProtocols: ['http/1.1'],
      ...(isIP(name) === 0 && { servername: name }),
    });
  }

  /** Returns the address to connect to. A host that is an address is not looked up: it is what was checked. */
  #placeOf({ hostname, port, protocol }: Target): {
    readonly host: string;
    readonly port: number;
    readonly lookup: LookupFunction;
  } {
    const defaultPort = protocol === 'https:' ? 443 : 80;
    return {
      host: hostname,
      port: port === '' ? defaultPort : Number(port),
      lookup: this.#lookup,
    };
  }
}
