/** Changes one place of an object, and fails where there is no such place. */

/** Keys of objects and indices of lists, from the outside in. */
export type Path = readonly (string | number)[];

/**
 * `tree` with `value` at `path`.
 *
 * @throws {Error} when all of the path but its last step is not there: what was generated from has changed
 */
export function amend(tree: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof tree !== 'object' || tree === null) {
    throw new Error(`Cannot change ${path.join('.')}: there is ${String(tree)}`);
  }
  if (Array.isArray(tree)) {
    const list: readonly unknown[] = tree;
    if (typeof step !== 'number' || step >= list.length) {
      throw new Error(`Cannot change ${path.join('.')}: the list has ${list.length}`);
    }
    return list.map((item, index) => (index === step ? amend(item, rest, value) : item));
  }
  const member = (tree as Readonly<Record<string, unknown>>)[step];
  return { ...tree, [step]: amend(member, rest, value) };
}

/** {@link amend} for each place in turn. */
export function amendAll(tree: unknown, places: readonly (readonly [Path, unknown])[]): unknown {
  return places.reduce((changed, [path, value]) => amend(changed, path, value), tree);
}

/** What is at `path`. @throws {Error} when nothing does */
export function at(tree: unknown, path: Path): unknown {
  let found = tree;
  for (const step of path) {
    const member = (found as Readonly<Record<string | number, unknown>> | undefined)?.[step];
    if (member === undefined) throw new Error(`There is no ${path.join('.')}`);
    found = member;
  }
  return found;
}
