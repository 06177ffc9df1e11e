import type { JsonObject } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import type { Client, ObjectKey } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { createdUnlessShipped } from '#kubernetes/shipped-object.ts';
import { isAlreadyExists, isConflict, isNotFound } from '#kubernetes/transport/api-error.ts';
import { formatTimestamp } from '#telemetry/timestamp.ts';
import { NEXT_KEYS, SECRET_KEYS, type SecretState } from '../api.ts';
import type { ContentToStore, PairToStore } from '../plan-store.ts';
import type { KeyPair } from '../x509/certificate-source.ts';
import type { IssuedPair } from '../x509/issue.ts';
import { parseSecret } from './parse-secret.ts';

/** The Secret as it was read: what it holds, and what a write must be based on. */
export interface StoredSecret {
  readonly state: SecretState;
  /** Undefined where there is none. */
  readonly object: KubernetesObject | undefined;
}

/** Reads and writes the Secret that all replicas share. */
export class SecretStore {
  readonly #client: Client;
  readonly #key: Required<ObjectKey>;
  /** Nearly every look finds what the last one found: its certificates are not parsed again. */
  #last: StoredSecret | undefined;

  constructor(client: Client, key: Required<ObjectKey>) {
    this.#client = client;
    this.#key = key;
  }

  /** Reads the Secret. @throws {ApiError | TransportError} when it cannot be read */
  async read(signal: AbortSignal): Promise<StoredSecret> {
    try {
      return this.#stored(await this.#client.get(resourceTypes.secrets, this.#key, { signal }));
    } catch (error) {
      if (isNotFound(error)) return { state: { kind: 'absent' }, object: undefined };
      throw error;
    }
  }

  /**
   * Stores `content` in place of `basis`, keeping whatever else the object has; the first of several writers wins.
   *
   * @returns what is stored now; undefined when another client was first
   * @throws {ApiError | TransportError} for any other failure; the write may have had its effect
   */
  async write(
    basis: StoredSecret,
    content: ContentToStore & { readonly issued: IssuedPair | undefined },
    signal: AbortSignal,
  ): Promise<StoredSecret | undefined> {
    const body = this.#body(basis.object, dataOf(content));
    try {
      const { namespace, name } = this.#key;
      const written =
        basis.object === undefined
          ? await createdUnlessShipped({ kind: 'Secret', namespace, name }, () =>
              this.#client.create(resourceTypes.secrets, { namespace }, { body, signal }),
            )
          : await this.#client.replace(
              resourceTypes.secrets,
              { namespace, name },
              { body, signal },
            );
      return this.#stored(written);
    } catch (error) {
      const isLost = isAlreadyExists(error) || isConflict(error);
      // Deleted in between: the next look recreates it.
      if (isLost || (basis.object !== undefined && isNotFound(error))) return undefined;
      throw error;
    }
  }

  #body(object: KubernetesObject | undefined, data: JsonObject): JsonObject {
    const { namespace, name } = this.#key;
    if (object === undefined) {
      return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, data };
    }
    const known: readonly string[] = [...Object.values(SECRET_KEYS), ...Object.values(NEXT_KEYS)];
    const old = isJsonObject(object['data']) ? object['data'] : {};
    const foreign = Object.entries(old).filter(([key]) => !known.includes(key));
    return {
      ...object,
      apiVersion: 'v1',
      kind: 'Secret',
      data: { ...Object.fromEntries(foreign), ...data },
    };
  }

  #stored(object: KubernetesObject): StoredSecret {
    const { namespace, name } = this.#key;
    const seen = this.#last?.object?.metadata;
    const { uid, resourceVersion } = object.metadata;
    if (this.#last === undefined || seen?.uid !== uid || seen.resourceVersion !== resourceVersion) {
      this.#last = { state: parseSecret(`${namespace}/${name}`, object), object };
    }
    return this.#last;
  }
}

function dataOf({
  current,
  next,
  authorities,
  issued,
}: ContentToStore & { readonly issued: IssuedPair | undefined }): JsonObject {
  const cas = [...authorities.map(({ pem }) => pem), ...(issued === undefined ? [] : [issued.ca])];
  const pair = pairOf(current, issued);
  const base = {
    [SECRET_KEYS.ca]: base64(cas.join('')),
    [SECRET_KEYS.cert]: base64(pair.cert),
    [SECRET_KEYS.key]: base64(pair.key),
  };
  if (next === undefined) return base;
  const coming = pairOf(next.pair, issued);
  return {
    ...base,
    [NEXT_KEYS.cert]: base64(coming.cert),
    [NEXT_KEYS.key]: base64(coming.key),
    [NEXT_KEYS.from]: base64(formatTimestamp(next.from)),
  };
}

function pairOf(pair: PairToStore, issued: IssuedPair | undefined): KeyPair {
  if (pair !== 'new') return pair;
  if (issued === undefined) throw new Error('Cannot store a new certificate as none was issued');
  return issued;
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
