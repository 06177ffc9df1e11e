import { quoted } from '#base/text/quoted.ts';
import type { ApiAddress } from '../drive-ports.ts';
import type { Options } from './parse-options.ts';

/** Options by which a deploy API is found. */
export const apiAddressTable = { api: 'value', 'token-file': 'value', 'ca-file': 'value' } as const;

/** Reads where the deploy API is; undefined where none is named; or a sentence on what is wrong. */
export function apiAddressOf(options: Options): ApiAddress | string | undefined {
  const [only] = options.among(['token-file', 'ca-file']);
  const given = options.get('api');
  if (given === undefined) return only === undefined ? undefined : `--${only} needs --api`;
  const url = URL.parse(given);
  const isUsable = url !== null && /^https?:$/.test(url.protocol) && url.username === '';
  if (!isUsable)
    return `--api must be an http or https address without a user: got ${quoted(given)}`;
  // A token in the open is open to everyone.
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol === 'http:' && !isHere) return '--api must be https, unless it is on this host';
  const tokenFile = options.get('token-file');
  if (tokenFile === undefined) return '--api needs --token-file';
  return { url, tokenFile, authorityFile: options.get('ca-file') };
}
