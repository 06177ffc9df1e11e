import { canI } from '#kubernetes/authorization/access-review.ts';
import type { CallOptions, Client } from '#kubernetes/client.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import {
  type ConfigMapClient,
  SharedConfigMap,
  type SharedTexts,
  type TextChanges,
} from '#kubernetes/shared-config-map.ts';
import { type ApiError, isForbidden } from '#kubernetes/transport/api-error.ts';

/** What {@link LedgerStore} works with. */
export interface LedgerStoreOptions {
  readonly client: ConfigMapClient & Pick<Client, 'raw'>;
  /** Of the ConfigMap. */
  readonly key: { readonly namespace: string; readonly name: string };
  /** Returns the term in which this process leads; undefined while it does not. */
  term(): string | undefined;
  /** Called once the Role is found to permit no ConfigMap of a ledger: with the verb that was refused. */
  readonly onRefused?: ((refusal: LedgerRefusal) => void) | undefined;
}

/** What the Role does not permit to the ledger of a budget. */
export interface LedgerRefusal {
  readonly verb: 'create' | 'get';
  readonly namespace: string;
  readonly name: string;
  /** What the API server says about it. */
  readonly why: string;
}

interface Memory extends SharedTexts {
  /** In which it was written. */
  readonly term: string;
}

/**
 * The texts of a ledger: in its ConfigMap, or in the memory of the process that leads where the Role permits none, as the Roles of
 * peers do that have one replica. What is remembered is known to this process alone, and ends with its term: whoever leads next
 * finds no ledger, and waits as after one that was deleted. Once remembered, it stays so until the process ends, as a ConfigMap that
 * can be read again does not have what was given away meanwhile.
 */
export class LedgerStore {
  readonly #options: LedgerStoreOptions;
  readonly #map: SharedConfigMap;
  /** The refusal by which the ledger is remembered; undefined while it is in its ConfigMap. */
  #refusal: ApiError | undefined;
  #memory: Memory | undefined;
  /** Whether the ConfigMap was there once: others may have read from it then what they still use. */
  #hasStood = false;

  constructor(options: LedgerStoreOptions) {
    this.#options = options;
    this.#map = new SharedConfigMap(options.client, options.key);
  }

  /** Reads the texts, which may be absent. @throws what the client throws, also where another process is the one to remember */
  async read(options: CallOptions): Promise<SharedTexts> {
    if (this.#refusal !== undefined) return this.#remembered(this.#refusal);
    try {
      const texts = await this.#map.read(options);
      if (texts.configMap !== undefined) this.#hasStood = true;
      return texts;
    } catch (error) {
      if (!isForbidden(error) || !(await this.#isDenied('get', error, options))) throw error;
      return this.#remembered(error);
    }
  }

  /** Writes `changes` on top of `texts`. @throws as {@link read}, a conflict too */
  async write(
    texts: SharedTexts,
    changes: TextChanges,
    options: CallOptions,
  ): Promise<SharedTexts> {
    if (this.#refusal === undefined) return this.#store(texts, changes, options);
    const { term } = this.#remembered(this.#refusal);
    options.beforeSend?.();
    const { key } = this.#options;
    const version = Number(texts.configMap?.metadata.resourceVersion ?? '0') + 1;
    const configMap = { metadata: { ...key, uid: term, resourceVersion: `${version}` } };
    const written: SharedTexts = { configMap, texts: changed(texts.texts, changes) };
    this.#memory = { term, ...written };
    return written;
  }

  async #store(
    texts: SharedTexts,
    changes: TextChanges,
    options: CallOptions,
  ): Promise<SharedTexts> {
    try {
      return await this.#map.write(texts, changes, options);
    } catch (error) {
      // The caller asks again, and what was decided is decided on what is remembered then.
      const isNew = texts.configMap === undefined;
      if (isNew && isForbidden(error)) await this.#isDenied('create', error, options);
      throw error;
    }
  }

  /** Returns what this process remembers of the term in which it leads. @throws `refusal` where it does not lead */
  #remembered(refusal: ApiError): Memory {
    const term = this.#options.term();
    if (term === undefined) throw refusal;
    if (this.#memory?.term !== term) this.#memory = { term, ...nothing };
    return this.#memory;
  }

  /** Reports whether the Role denies `verb`, so that the ledger is remembered from now on. @throws never */
  async #isDenied(
    verb: LedgerRefusal['verb'],
    refusal: ApiError,
    { timeout }: CallOptions,
  ): Promise<boolean> {
    const { client, key, onRefused } = this.#options;
    if (this.#hasStood || this.#options.term() === undefined) return false;
    const { namespace, name } = key;
    const { configMaps, statefulSets } = resourceTypes;
    const limits = timeout === undefined ? {} : { timeout };
    const may = (verb: string, { group, plural: resource }: ResourceType, named: object) =>
      canI(client, { verb, group, resource, namespace, ...named }, limits);
    // No rule for one name permits creating it.
    const [asked, known] = await Promise.all([
      may(verb, configMaps, verb === 'get' ? { name } : {}),
      // An API server that has just started denies everything: it knows our Role once it permits what every Role of ours does.
      may('list', statefulSets, {}),
    ]);
    if (asked.kind !== 'denied' || known.kind !== 'allowed') return false;
    this.#refusal = refusal;
    onRefused?.({ verb, ...key, why: refusal.message });
    return true;
  }
}

const nothing: SharedTexts = { configMap: undefined, texts: new Map() };

function changed(
  texts: ReadonlyMap<string, string>,
  changes: TextChanges,
): ReadonlyMap<string, string> {
  const all = new Map(texts);
  for (const [key, text] of changes) {
    if (text === undefined) all.delete(key);
    else all.set(key, text);
  }
  return all;
}
