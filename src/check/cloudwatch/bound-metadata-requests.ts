import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ClientRequest } from 'node:http';
import type { Millis } from '#base/units.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';

const channel = 'http.client.request.start';

/** Where containers and instances ask for credentials by default. */
const metadataHosts: readonly string[] = [
  '169.254.170.2',
  '169.254.170.23',
  '[fd00:ec2::23]',
  '169.254.169.254',
  '[fd00:ec2::254]',
];

/**
 * Ends requests of this process for credentials of a container or an instance that have been silent for `timeout`. The SDK sends
 * them by itself, and only warns where no answer comes: it would wait for ever, and keep the process alive. They are the only
 * ones to such hosts, as all else here goes over another client.
 *
 * @returns what ends that
 */
export function boundMetadataRequests(env: Environment, timeout: Millis): () => void {
  const hosts = new Set(metadataHosts);
  for (const name of ['AWS_CONTAINER_CREDENTIALS_FULL_URI', 'AWS_EC2_METADATA_SERVICE_ENDPOINT']) {
    const url = URL.parse(env[name] ?? '');
    if (url !== null) hosts.add(url.hostname);
  }
  const onStart = (message: unknown): void => {
    const request = requestIn(message);
    if (request === undefined) return;
    const { host } = request;
    if (!hosts.has(host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)) return;
    request.setTimeout(timeout, () => {
      request.destroy(new Error(`no answer of ${host} within ${timeout} ms`));
    });
  };
  subscribe(channel, onStart);
  return () => unsubscribe(channel, onStart);
}

function requestIn(message: unknown): ClientRequest | undefined {
  if (typeof message !== 'object' || message === null || !('request' in message)) return undefined;
  return message.request instanceof ClientRequest ? message.request : undefined;
}
