import { isJsonObject, type JsonObject } from '#base/json.ts';
import { isNotFound } from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { CLAIMS_NAME } from './claim.ts';
import { callOf, type Deadline } from './deadline.ts';

/** The ConfigMap of the claims as it was read. */
export interface ClaimMap {
  /** By key; what stands under `binaryData` is there in base64. */
  readonly texts: ReadonlyMap<string, string>;
  /** Undefined: there is none. */
  readonly configMap: KubernetesObject | undefined;
}

/** What becomes of the keys of the ConfigMap; undefined: they go. */
export type ClaimChanges = ReadonlyMap<string, string | undefined>;

/** Where claims stand. */
export interface ClaimStore {
  /** Reads the map, which may be absent. @throws what the client throws */
  read(deadline: Deadline): Promise<ClaimMap>;
  /** Writes `changes` on top of `map`; keeps all else. @throws what the client throws, a conflict too */
  write(map: ClaimMap, changes: ClaimChanges, deadline: Deadline): Promise<ClaimMap>;
}

/** The ConfigMap of the claims. Every write names the version that it was made from. */
export class SharedClaims implements ClaimStore {
  readonly #client: Client;
  readonly #namespace: string;

  /** @param namespace the operator's */
  constructor(client: Client, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  async read(deadline: Deadline): Promise<ClaimMap> {
    try {
      const type = resourceTypes.configMaps;
      return mapOf(await this.#client.get(type, this.#key(), callOf(deadline)));
    } catch (error) {
      if (isNotFound(error)) return { configMap: undefined, texts: new Map() };
      throw error;
    }
  }

  async write(map: ClaimMap, changes: ClaimChanges, deadline: Deadline): Promise<ClaimMap> {
    const { configMap } = map;
    const type = resourceTypes.configMaps;
    if (configMap !== undefined) {
      const body = { ...configMap, ...changedData(configMap, changes) };
      return mapOf(await this.#client.replace(type, this.#key(), { body, ...callOf(deadline) }));
    }
    const body: JsonObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...this.#key() },
      ...changedData({}, changes),
    };
    const namespace = this.#namespace;
    return mapOf(await this.#client.create(type, { namespace }, { body, ...callOf(deadline) }));
  }

  #key(): { readonly namespace: string; readonly name: string } {
    return { namespace: this.#namespace, name: CLAIMS_NAME };
  }
}

function mapOf(configMap: KubernetesObject): ClaimMap {
  const entries = [...textsIn(configMap['binaryData']), ...textsIn(configMap['data'])];
  return { configMap, texts: new Map(entries) };
}

function textsIn(value: unknown): readonly (readonly [string, string])[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, text]) =>
    typeof text === 'string' ? [[key, text] as const] : [],
  );
}

/** A key may stand in one of the two only. */
function changedData({ data, binaryData }: JsonObject, changes: ClaimChanges): JsonObject {
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
