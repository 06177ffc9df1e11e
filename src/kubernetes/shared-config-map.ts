import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { CallOptions, Client } from './client.ts';
import type { KubernetesObject } from './object.ts';
import { resourceTypes } from './resource-type.ts';
import { isAlreadyExists, isConflict, isNotFound } from './transport/api-error.ts';

/** A ConfigMap as it was read or written. */
export interface SharedTexts {
  /** Keyed as the ConfigMap is; what is under `binaryData` is there in base64. */
  readonly texts: ReadonlyMap<string, string>;
  /** Undefined: there is none. */
  readonly configMap: KubernetesObject | undefined;
}

/** What a ConfigMap is read and written through. */
export type ConfigMapClient = Pick<Client, 'create' | 'get' | 'replace'>;

/** What becomes of the keys of the ConfigMap; undefined: they go. */
export type TextChanges = ReadonlyMap<string, string | undefined>;

/**
 * A ConfigMap that several processes write, by compare-and-swap: every write names the version that it was made from,
 * and keeps all that it does not change.
 */
export class SharedConfigMap {
  readonly #client: ConfigMapClient;
  readonly #key: { readonly namespace: string; readonly name: string };

  constructor(client: ConfigMapClient, key: { readonly namespace: string; readonly name: string }) {
    this.#client = client;
    this.#key = key;
  }

  /** Reads the map, which may be absent. @throws what the client throws */
  async read(options: CallOptions): Promise<SharedTexts> {
    try {
      return sharedTexts(await this.#client.get(resourceTypes.configMaps, this.#key, options));
    } catch (error) {
      if (isNotFound(error)) return { configMap: undefined, texts: new Map() };
      throw error;
    }
  }

  /** Writes `changes` on top of `map`; makes it where there was none. @throws what the client throws, a conflict too */
  async write(map: SharedTexts, changes: TextChanges, options: CallOptions): Promise<SharedTexts> {
    const { configMap } = map;
    const type = resourceTypes.configMaps;
    if (configMap !== undefined) {
      const body = { ...configMap, ...changedData(configMap, changes) };
      return sharedTexts(await this.#client.replace(type, this.#key, { body, ...options }));
    }
    const body: JsonObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...this.#key },
      ...changedData({}, changes),
    };
    const { namespace } = this.#key;
    return sharedTexts(await this.#client.create(type, { namespace }, { body, ...options }));
  }
}

/** Reports whether a write was refused as another client has written, made or removed the object since it was read. */
export function hasLostSwap(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}

function sharedTexts(configMap: KubernetesObject): SharedTexts {
  const entries = [...textsIn(configMap['binaryData']), ...textsIn(configMap['data'])];
  return { configMap, texts: new Map(entries) };
}

function textsIn(value: unknown): readonly (readonly [string, string])[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, text]) =>
    typeof text === 'string' ? [[key, text] as const] : [],
  );
}

/** A key may be in one of the two only. */
function changedData({ data, binaryData }: JsonObject, changes: TextChanges): JsonObject {
  const kept = textsIn(data).filter(([key]) => !changes.has(key));
  const written = [...changes].flatMap(([key, text]) =>
    text === undefined ? [] : [[key, text] as const],
  );
  const binary = textsIn(binaryData).filter(([key]) => !changes.has(key));
  return {
    data: objectOf([...kept, ...written]),
    ...(isJsonObject(binaryData) && { binaryData: objectOf(binary) }),
  };
}

function objectOf(entries: readonly (readonly [string, string])[]): JsonObject {
  return Object.fromEntries<string>(entries);
}
