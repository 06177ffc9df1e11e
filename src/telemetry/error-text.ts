/** Deeper chains are cut: a cause may, by mistake, hold itself. */
const maxDepth = 10;

/**
 * Returns the message of `error` and of all that caused it, outermost first, joined with `: `; the members of an
 * `AggregateError` are joined with `; `. A cause that its parent already quotes is not repeated.
 */
export function errorText(error: unknown): string {
  return describe(error, 0);
}

function describe(error: unknown, depth: number): string {
  if (!(error instanceof Error)) return String(error);
  if (depth === maxDepth) return '…';
  const own = error.message === '' ? error.name : error.message;
  const parts = [own, membersOf(error, depth), causeOf(error, depth)];
  const told: string[] = [];
  for (const part of parts) {
    if (part !== '' && !told.some((earlier) => earlier.includes(part))) told.push(part);
  }
  return told.join(': ');
}

function membersOf(error: Error, depth: number): string {
  if (!(error instanceof AggregateError)) return '';
  return error.errors.map((member) => describe(member, depth + 1)).join('; ');
}

function causeOf(error: Error, depth: number): string {
  return error.cause === undefined ? '' : describe(error.cause, depth + 1);
}
