import { ProxyAgent } from 'undici';
import { connectOptions, type DispatcherFactory } from './undici-transport.ts';

/** Makes the connections of a transport through the proxy at `uri`. */
export function throughProxy(uri: string): DispatcherFactory {
  return (settings, tls) => new ProxyAgent({ ...settings, uri, requestTls: connectOptions(tls()) });
}
