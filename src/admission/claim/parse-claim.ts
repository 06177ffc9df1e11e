import { isJsonObject, type JsonObject, jsonIn } from '#base/json.ts';
import { parseTimestamp } from '#base/time/timestamp.ts';
import { integerAt, stringAt } from '#statefulset/parse-fields.ts';
import type { StoredClaim } from './claim.ts';

/** Longest text that can be a claim: names are short. */
const longest = 2_048;
const setName = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Reads the value of one key; undefined: there is none. Total. */
export function parseClaim(text: string | undefined): StoredClaim {
  if (text === undefined) return { kind: 'none' };
  if (text.length > longest) return corrupt(`it is longer than ${longest} characters`);
  const value = jsonIn(text);
  return isJsonObject(value) ? claimOf(value) : corrupt('it is not a JSON object');
}

function claimOf(value: JsonObject): StoredClaim {
  const set = stringAt(value, 'set') ?? '';
  if (!setName.test(set)) return corrupt('"set" is not the name of a StatefulSet');
  const replica = stringAt(value, 'replica') ?? '';
  if (replica === '') return corrupt('"replica" names no process');
  const until = stringAt(value, 'until') ?? '';
  if (parseTimestamp(until, 'until').kind === 'invalid') return corrupt('"until" is not a time');
  const generation = integerAt(value, 'generation');
  if (generation === undefined) return corrupt('"generation" is not an integer');
  const state = stringAt(value, 'state');
  if (state !== 'under-way' && state !== 'allowed') {
    return corrupt('"state" is neither "under-way" nor "allowed"');
  }
  return { kind: 'claim', claim: { set, replica, until, generation, state } };
}

function corrupt(why: string): StoredClaim {
  return { kind: 'corrupt', why };
}
