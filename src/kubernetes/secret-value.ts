import { isJsonObject } from '#base/json.ts';
import type { Client } from './client.ts';
import { resourceTypes } from './resource-type.ts';
import { undefinedIfAbsent } from './transport/api-error.ts';

/** Where a value is. */
export interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/**
 * Returns the bytes that are in a Secret under a key; undefined where there is no such Secret or no such key.
 *
 * @throws what the request fails with
 */
export async function secretValue(
  client: Client,
  { namespace, name, key }: SecretPlace,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const secret = await client
    .get(resourceTypes.secrets, { namespace, name }, { signal })
    .catch(undefinedIfAbsent);
  const data = secret?.['data'];
  const text = isJsonObject(data) && Object.hasOwn(data, key) ? data[key] : undefined;
  return typeof text === 'string' ? Buffer.from(text, 'base64') : undefined;
}
