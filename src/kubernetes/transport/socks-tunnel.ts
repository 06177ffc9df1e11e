import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { withMissingFile } from '#telemetry/missing-file.ts';
import type { Place } from './connections.ts';
import type { ConnectSettings } from './tls-settings.ts';

/** A connection that is being made through a proxy. */
export interface Tunnel {
  /** The connection to the proxy, which carries the other. */
  readonly base: Socket;
  /** What requests can be written to. Rejects where there is none. */
  readonly ready: Promise<Socket>;
}

/** Where a tunnel ends, and how its end is secured. */
export interface TunnelEnd {
  readonly place: Place;
  /** How TLS is agreed there; undefined for plain HTTP. */
  readonly secured: ConnectSettings | undefined;
}

/** Begins a connection through a SOCKS5 proxy, which looks the name up. @param proxy its URL, with or without credentials */
export function socksTunnel(proxy: URL, end: TunnelEnd): Tunnel {
  const port = proxy.port === '' ? 1080 : Number(proxy.port);
  const base = connectTcp({ host: proxy.hostname.replace(/^\[(.*)\]$/, '$1'), port });
  return { base, ready: pass(base, proxy, end) };
}

async function pass(base: Socket, proxy: URL, { place, secured }: TunnelEnd): Promise<Socket> {
  const [{ SocksClient }] = await Promise.all([
    import('socks').catch(withMissingFile),
    once(base, 'connect'),
  ]);
  await SocksClient.createConnection({
    command: 'connect',
    destination: { ...place },
    proxy: {
      type: 5,
      host: proxy.hostname,
      port: base.remotePort ?? 0,
      ...(proxy.username !== '' && {
        userId: decodeURIComponent(proxy.username),
        password: decodeURIComponent(proxy.password),
      }),
    },
    existing_socket: base,
  });
  if (secured === undefined) return base;
  const socket = connectTls({ ...secured, host: place.host, socket: base });
  await once(socket, 'secureConnect');
  return socket;
}
