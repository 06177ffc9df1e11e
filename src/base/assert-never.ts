/**
 * Closes an exhaustive `switch`: compiles only when every case was handled.
 *
 * @throws {Error} when a value outside the union arrives at run time, which is a bug of the parser that let it in
 */
export function assertNever(value: never): never {
  throw new Error(`Cannot handle ${JSON.stringify(value)} as the union has no such member`);
}
