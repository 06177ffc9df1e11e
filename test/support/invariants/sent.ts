import type { Call } from '#cluster/event-log.ts';
import { ordinalIn, type SetFacts } from '../history/facts.ts';
import type { DisruptionStatement, StatementBook } from '../history/statement.ts';

/** A deletion that left a client. */
export interface Sent {
  readonly call: Call;
  readonly uid: string;
  readonly statement: DisruptionStatement;
}

/**
 * Returns those of `calls` that were stated, in the order in which they left; each with its own statement where one
 * instant has several.
 */
export function sentOf(calls: readonly Call[], statements: StatementBook): readonly Sent[] {
  const counts = new Map<string, number>();
  const found = calls
    .toSorted((one, other) => one.callId - other.callId)
    .flatMap((call): readonly Sent[] => {
      const uid = call.preconditions?.uid;
      if (uid === undefined) return [];
      const key = `${uid} ${call.startedAt}`;
      const count = counts.get(key) ?? 0;
      counts.set(key, count + 1);
      const stated = statements.findAll(uid, call.startedAt);
      const statement = stated[count] ?? stated.at(-1);
      return statement === undefined ? [] : [{ call, uid, statement }];
    });
  return found.sort((one, other) => statements.compare(one.statement, other.statement));
}

/** Returns the ordinals of the slots of `set` for which one of `requests` asks. */
export function slotsAskedFor(set: SetFacts, requests: readonly Sent[]): readonly number[] {
  return requests.flatMap(({ call }) => {
    const ordinal = ordinalIn(call.name, set.name);
    return ordinal === undefined ? [] : [ordinal];
  });
}
