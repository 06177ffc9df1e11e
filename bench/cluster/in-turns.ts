/** Objects that are created or patched at the same time. */
const atOnce = 16;

/** Calls `act` for all `items`, some at a time. */
export async function inTurns<T>(
  items: readonly T[],
  act: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await act(next);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
}
