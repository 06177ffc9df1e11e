import type { Clock } from '#base/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { type Monotonic, seconds } from '#base/units.ts';
import type { Client } from './client.ts';
import { type ResourceType, splitApiVersion } from './resource-type.ts';
import { undefinedIfAbsent } from './transport/api-error.ts';

/** The resource that a kind means, or in one sentence why none does. */
export type ResolvedKind =
  | { readonly kind: 'found'; readonly type: ResourceType }
  | { readonly kind: 'unknown'; readonly message: string };

/** How long nothing asks again for a kind that the server did not have. */
const unknownFor = seconds(30);

interface Known {
  readonly answer: Promise<ResolvedKind>;
  readonly askedAt: Monotonic;
  isUnknown: boolean;
}

/** Finds out which scalable resource a kind of a group means; what was found is remembered. */
export class ScalableKinds {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Returns the namespaced resource of `kind` in `group` that has a scale subresource, in the version that the server
   * prefers (SC-31, SC-34).
   *
   * @param group empty for the core group
   * @throws what a request to the server fails with, unless it says that there is no such group
   */
  resolve(group: string, kind: string, signal: AbortSignal): Promise<ResolvedKind> {
    const key = `${group}/${kind}`;
    const now = this.#clock.monotonic();
    const known = this.#known.get(key);
    if (known !== undefined && !(known.isUnknown && now - known.askedAt > unknownFor)) {
      return known.answer;
    }
    const asked: Known = { answer: this.#ask(group, kind, signal), askedAt: now, isUnknown: false };
    this.#known.set(key, asked);
    asked.answer.then(
      (answer) => {
        asked.isUnknown = answer.kind === 'unknown';
      },
      () => {
        if (this.#known.get(key) === asked) this.#known.delete(key);
      },
    );
    return asked.answer;
  }

  /** Forgets what was found, which the server does not serve any more: it is looked for again. */
  forget(group: string, kind: string): void {
    this.#known.delete(`${group}/${kind}`);
  }

  async #ask(group: string, kind: string, signal: AbortSignal): Promise<ResolvedKind> {
    const apiVersions = group === '' ? ['v1'] : await this.#versionsOf(group, signal);
    let isThere = false;
    for (const apiVersion of apiVersions) {
      const found = await this.#find(apiVersion, kind, signal);
      if (found.scalable !== undefined) return { kind: 'found', type: found.scalable };
      isThere ||= found.isThere;
    }
    if (isThere) return unknown(`kind "${kind}" of ${groupText(group)} has no scale subresource`);
    if (apiVersions.length === 0) return unknown(`the server has no API group "${group}"`);
    if (group !== '') return unknown(`${groupText(group)} has no kind "${kind}"`);
    return unknown(await this.#elsewhere(kind, signal));
  }

  /** Returns the versions of a group, the preferred one first; none when there is no such group. */
  async #versionsOf(group: string, signal: AbortSignal): Promise<readonly string[]> {
    const document = await this.#get(`/apis/${encodeURIComponent(group)}`, signal);
    const versions = objectsOf(document?.['versions']).map((each) => text(each['groupVersion']));
    const preferred = document?.['preferredVersion'];
    const first = isJsonObject(preferred) ? text(preferred['groupVersion']) : '';
    return [...new Set([first, ...versions])].filter((version) => version !== '');
  }

  async #find(
    apiVersion: string,
    kind: string,
    signal: AbortSignal,
  ): Promise<{ readonly scalable: ResourceType | undefined; readonly isThere: boolean }> {
    const root = apiVersion.includes('/') ? '/apis' : '/api';
    const document = await this.#get(`${root}/${apiVersion}`, signal);
    const resources = objectsOf(document?.['resources']);
    const names = new Set(resources.map((each) => text(each['name'])));
    const plurals = resources
      .filter((each) => each['kind'] === kind && each['namespaced'] === true)
      .map((each) => text(each['name']))
      .filter((name) => name !== '' && !name.includes('/'));
    const plural = plurals.find((name) => names.has(`${name}/scale`));
    const [group, version] = splitApiVersion(apiVersion);
    const scalable =
      plural === undefined ? undefined : { group, version, plural, kind, isNamespaced: true };
    return { scalable, isThere: plurals.length > 0 };
  }

  /** Says where a kind is that the core group does not have (KW-28). */
  async #elsewhere(kind: string, signal: AbortSignal): Promise<string> {
    const groups = objectsOf((await this.#get('/apis', signal))?.['groups']);
    const having: string[] = [];
    for (const group of groups) {
      const preferred = group['preferredVersion'];
      const apiVersion = isJsonObject(preferred) ? text(preferred['groupVersion']) : '';
      if (apiVersion === '') continue;
      const { isThere } = await this.#find(apiVersion, kind, signal);
      if (isThere) having.push(apiVersion);
    }
    const [only, ...more] = having;
    const missing = `the core group, which an absent api-version means, has no kind "${kind}"`;
    return only !== undefined && more.length === 0
      ? `${missing}; "${only}" has one: name it in the api-version annotation`
      : missing;
  }

  async #get(path: string, signal: AbortSignal): Promise<JsonObject | undefined> {
    const asked = this.#client.raw({ method: 'GET', path }, { signal });
    const document = await asked.catch(undefinedIfAbsent);
    return isJsonObject(document) ? document : undefined;
  }
}

function unknown(message: string): ResolvedKind {
  return { kind: 'unknown', message };
}

function groupText(group: string): string {
  return group === '' ? 'the core group' : `API group "${group}"`;
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
