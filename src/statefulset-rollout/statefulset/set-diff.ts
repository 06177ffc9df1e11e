import { isDeepStrictEqual } from 'node:util';
import {
  isJsonArray,
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
} from '#base/json.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { keyOfList } from './list-keys.ts';
import { isSameQuantity } from './quantity.ts';

/** A value as it was wanted last, as it is, and as it is wanted now. */
interface Three {
  readonly last: JsonValue | undefined;
  readonly live: JsonValue | undefined;
  readonly wanted: JsonValue | undefined;
}

/** How a live object differs from what is wanted. */
export interface SetDiff {
  /** A strategic merge patch that makes it so; empty where it is. */
  readonly patch: JsonObject;
  /** The fields that differ, such as `spec.template.spec.containers[main].image`. */
  readonly paths: readonly string[];
}

/**
 * Returns how `live` differs from `wanted` in labels, annotations and spec. Only what is wanted counts, and what was wanted
 * `last` and is no more: all that the API server or others have added stays as it is (LOST-1). Quantities are compared by
 * their amount, and lists of named elements by their names.
 */
export function diffOfSets({
  last,
  live,
  wanted,
}: {
  readonly last: JsonObject | undefined;
  readonly live: JsonObject;
  readonly wanted: JsonObject;
}): SetDiff {
  const diff = new Diff();
  const of = (object: JsonObject): JsonObject => {
    const { labels = {}, annotations = {} } = objectAt(object, 'metadata');
    return { metadata: { labels, annotations }, spec: objectAt(object, 'spec') };
  };
  const three = { last: last && of(last), live: of(live), wanted: of(wanted) };
  const patch = diff.value(three, []);
  return { patch: isJsonObject(patch) ? patch : {}, paths: diff.paths };
}

/** Walks through the three objects at once. */
class Diff {
  readonly paths: string[] = [];

  /** Returns what the patch says of this value; undefined where it needs nothing. */
  value({ last, live, wanted }: Three, path: readonly string[]): JsonValue | undefined {
    if (isNothing(wanted)) return isNothing(live) ? undefined : this.#changed(path, null);
    if (isJsonObject(wanted) && isJsonObject(live)) {
      return this.#object({ last: isJsonObject(last) ? last : {}, live, wanted }, path);
    }
    return covers(live, wanted, path) ? undefined : this.#changed(path, wanted);
  }

  #changed(path: readonly string[], patch: JsonValue): JsonValue {
    this.paths.push(textOf(path));
    return patch;
  }

  #object(
    { last, live, wanted }: Readonly<Record<keyof Three, JsonObject>>,
    path: readonly string[],
  ): JsonObject | undefined {
    const patch: Record<string, JsonValue> = {};
    const dropped = Object.keys(last).filter((name) => wanted[name] === undefined);
    for (const name of [...Object.keys(wanted), ...dropped]) {
      const three = { last: last[name], live: live[name], wanted: wanted[name] };
      const at = [...path, name];
      const key = keyOfList(at);
      const isNamed = key !== undefined && isJsonArray(three.wanted) && isJsonArray(three.live);
      if (isNamed) Object.assign(patch, this.#list(three, at, key));
      else {
        const value = this.value(three, at);
        if (value !== undefined) patch[name] = value;
      }
    }
    return Object.keys(patch).length === 0 ? undefined : patch;
  }

  /** Returns what the patch says of a list whose elements are distinguished by `key`, with their order. */
  #list({ last, live, wanted }: Three, path: readonly string[], key: string): JsonObject {
    const [now, next] = [elementsOf(live, key), elementsOf(wanted, key)];
    if (now === undefined || next === undefined) return this.#replacedList({ live, wanted }, path);
    const before = elementsOf(last, key) ?? new Map<string, JsonObject>();
    const dropped = [...before].filter(([id]) => !next.has(id) && now.has(id));
    const patches = [
      ...this.#elements({ before, now, next, key }, path),
      ...dropped.map(([, element]) => ({ $patch: 'delete', [key]: element[key] })),
    ];
    for (const [id] of dropped) this.paths.push(textOf(elementAt(path, id)));
    if (patches.length === 0 && isInOrder(now, next)) return {};
    if (patches.length === 0) this.paths.push(textOf(path));
    const name = path.at(-1) ?? '';
    const kept = [...now].filter(([id]) => !next.has(id) && !before.has(id));
    const order = [...next.values(), ...kept.map(([, element]) => element)];
    return {
      ...(patches.length > 0 && { [name]: patches }),
      [`$setElementOrder/${name}`]: order.map((element) => ({ [key]: element[key] })),
    };
  }

  #elements(
    { before, now, next, key }: NamedLists & { readonly key: string },
    path: readonly string[],
  ): readonly JsonObject[] {
    return [...next].flatMap(([id, wanted]) => {
      const three = { last: before.get(id), live: now.get(id), wanted };
      const patch = this.#element(three, elementAt(path, id), path.at(-1) ?? '');
      return patch === undefined ? [] : [{ ...patch, [key]: wanted[key] }];
    });
  }

  #element(
    {
      last,
      live,
      wanted,
    }: {
      readonly last: JsonObject | undefined;
      readonly live: JsonObject | undefined;
      readonly wanted: JsonObject;
    },
    path: readonly string[],
    list: string,
  ): JsonObject | undefined {
    if (live === undefined) {
      this.paths.push(textOf(path));
      return wanted;
    }
    const patch = this.#object({ last: last ?? {}, live, wanted }, path);
    if (patch === undefined || list !== 'volumes') return patch;
    // Of the kinds of volumes one alone may be there.
    return { ...wanted, $retainKeys: Object.keys(wanted) };
  }

  /** Returns a list that replaces the whole, as its elements cannot be distinguished: two ports of one number, say. */
  #replacedList({ live, wanted }: Omit<Three, 'last'>, path: readonly string[]): JsonObject {
    if (!isJsonArray(wanted) || !isJsonArray(live) || isCovered(wanted, live, path)) return {};
    this.paths.push(textOf(path));
    return { [path.at(-1) ?? '']: [...wanted, { $patch: 'replace' }] };
  }
}

/** Elements by their keys, as they were wanted, as they are, and as they are wanted now. */
interface NamedLists {
  readonly before: ReadonlyMap<string, JsonObject>;
  readonly now: ReadonlyMap<string, JsonObject>;
  readonly next: ReadonlyMap<string, JsonObject>;
}

/** Reports whether what both have comes in the wanted order. */
function isInOrder(now: NamedLists['now'], next: NamedLists['next']): boolean {
  const shared = [...now.keys()].filter((id) => next.has(id));
  return isDeepStrictEqual(
    shared,
    [...next.keys()].filter((id) => now.has(id)),
  );
}

function elementAt(path: readonly string[], id: string): readonly string[] {
  return [...path.slice(0, -1), `${path.at(-1)}[${id}]`];
}

function isNothing(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}

/** Returns the elements by their key, in their order; undefined where two have the same, or one has none. */
function elementsOf(
  value: JsonValue | undefined,
  key: string,
): ReadonlyMap<string, JsonObject> | undefined {
  if (!isJsonArray(value)) return undefined;
  const elements = new Map<string, JsonObject>();
  for (const element of value) {
    const id = isJsonObject(element) ? element[key] : undefined;
    if (!isJsonObject(element) || id === undefined || id === null) return undefined;
    elements.set(JSON.stringify(id).replaceAll('"', ''), element);
  }
  return elements.size === value.length ? elements : undefined;
}

/** Reports whether the live list has as many elements, each with all that the wanted one says. */
function isCovered(wanted: JsonArray, live: JsonValue, path: readonly string[]): boolean {
  if (!isJsonArray(live) || wanted.length !== live.length) return false;
  return wanted.every((each, at) => covers(live[at], each, path));
}

/** Reports whether `live` is all that `wanted` says; the API server drops what is empty. */
function covers(live: JsonValue | undefined, wanted: JsonValue, path: readonly string[]): boolean {
  if (wanted === null) return isNothing(live);
  if (isJsonArray(wanted)) return isCovered(wanted, isNothing(live) ? [] : live, path);
  if (!isJsonObject(wanted)) return isEqual(wanted, live, path);
  const object = isNothing(live) && Object.keys(wanted).length === 0 ? {} : live;
  return isJsonObject(object) && coversAll(object, wanted, path);
}

function coversAll(live: JsonObject, wanted: JsonObject, path: readonly string[]): boolean {
  return Object.entries(wanted).every(
    ([name, value]) => value === undefined || covers(live[name], value, [...path, name]),
  );
}

/** Fields whose members are quantities, and those that are some. */
const quantities: ReadonlySet<string> = new Set(['requests', 'limits', 'capacity', 'overhead']);
const quantityFields: ReadonlySet<string> = new Set(['sizeLimit', 'divisor']);

function isEqual(wanted: JsonValue, live: JsonValue | undefined, path: readonly string[]): boolean {
  if (wanted === live) return true;
  const isQuantity = quantities.has(path.at(-2) ?? '') || quantityFields.has(path.at(-1) ?? '');
  return isQuantity && isAmount(wanted) && isAmount(live) && isSameQuantity(wanted, live);
}

function isAmount(value: JsonValue | undefined): value is number | string {
  return typeof value === 'number' || typeof value === 'string';
}

function textOf(path: readonly string[]): string {
  return path.join('.');
}
