import type { JsonArray, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';

/** Returns what tells elements of a list apart: the value of the merge key as text, or the element itself in a set. */
export function identityOf(element: JsonValue, key: string | undefined): string | undefined {
  if (key === undefined) return JSON.stringify(element);
  const value = isJsonObject(element) ? element[key] : undefined;
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? undefined : JSON.stringify(value);
}

/** Returns the positions by identity; the first one counts. */
function positions(list: JsonArray, key: string | undefined): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [index, element] of list.entries()) {
    const identity = identityOf(element, key);
    if (identity !== undefined && !found.has(identity)) found.set(identity, index);
  }
  return found;
}

/**
 * Returns `merged` in the order of strategic merge (PA-5): elements named in `wanted` are ordered as there, the others as in
 * `live`, and where the two meet the order of `live` decides. `key` is undefined for a set.
 */
export function inMergeOrder(
  merged: JsonArray,
  orders: { readonly wanted: JsonArray; readonly live: JsonArray },
  key: string | undefined,
): JsonArray {
  const wanted = positions(orders.wanted, key);
  const live = positions(orders.live, key);
  const placeIn = (order: ReadonlyMap<string, number>, element: JsonValue): number | undefined => {
    const identity = identityOf(element, key);
    return identity === undefined ? undefined : order.get(identity);
  };
  const sorted = (order: ReadonlyMap<string, number>, isWanted: boolean): JsonValue[] =>
    merged
      .filter((element) => (placeIn(wanted, element) !== undefined) === isWanted)
      .sort((a, b) => (placeIn(order, a) ?? Infinity) - (placeIn(order, b) ?? Infinity) || 0);
  const [named, others] = [sorted(wanted, true), sorted(live, false)];
  return interleaved(others, named, (element) => placeIn(live, element));
}

/** Merges two lists, which keep their order; an element of `left` goes before one of `right` when its live place is lower. */
function interleaved(
  left: JsonArray,
  right: JsonArray,
  place: (element: JsonValue) => number | undefined,
): JsonArray {
  const result: JsonValue[] = [];
  let taken = 0;
  for (const element of right) {
    const limit = place(element) ?? -1;
    const rest = left.slice(taken);
    const stop = rest.findIndex((other) => (place(other) ?? Infinity) >= limit);
    const before = stop < 0 ? rest : rest.slice(0, stop);
    result.push(...before, element);
    taken += before.length;
  }
  result.push(...left.slice(taken));
  return result;
}
