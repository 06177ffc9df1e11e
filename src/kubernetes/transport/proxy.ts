import { BlockList, isIP } from 'node:net';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the proxy through which `server` is reached according to `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` (EN-2), with
 * Go's meaning: never for loopback addresses, `NO_PROXY` names hosts, domains, addresses and networks (`10.0.0.0/8`, where a
 * cluster's service address usually lies), each with an optional port.
 *
 * @returns the proxy's URL, or undefined to connect directly
 */
export function proxyFor(server: URL, env: Environment): string | undefined {
  const isSecure = server.protocol === 'https:';
  const proxy = variable(env, isSecure ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  const host = server.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (proxy === '' || isLoopback(host)) return undefined;
  const port = server.port === '' ? defaultPort(isSecure) : server.port;
  const exceptions = variable(env, 'NO_PROXY').toLowerCase().split(',');
  if (exceptions.some((each) => excepts(each.trim(), host, port))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function variable(env: Environment, name: string): string {
  return env[name] ?? env[name.toLowerCase()] ?? '';
}

function defaultPort(isSecure: boolean): string {
  return isSecure ? '443' : '80';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function excepts(entry: string, host: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  if (entry.includes('/')) return isInNetwork(host, entry);
  if (isIP(entry) !== 0) return entry === host;
  const [, name = '', onlyPort = port] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry) ?? [];
  return onlyPort === port && covers(name, host);
}

/** `.a.b` and `*.a.b` stand for what lies below `a.b`, `a.b` for itself too. */
function covers(name: string, host: string): boolean {
  if (isIP(host) !== 0) return name === host;
  if (name.startsWith('*.') || name.startsWith('.')) return host.endsWith(name.replace(/^\*/, ''));
  return host === name || host.endsWith(`.${name}`);
}

function isInNetwork(host: string, network: string): boolean {
  const [address = '', prefix = ''] = network.split('/');
  const family = isIP(host) === 6 ? 'ipv6' : 'ipv4';
  const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
  const most = family === 'ipv6' ? 128 : 32;
  if (isIP(host) === 0 || isIP(host) !== isIP(address) || bits < 0 || bits > most) return false;
  const list = new BlockList();
  list.addSubnet(address, bits, family);
  return list.check(host, family);
}
