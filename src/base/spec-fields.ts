import type { JsonObject, JsonValue } from './json.ts';
import type { Problem } from './parsed.ts';
import { quoted } from './text/quoted.ts';

/** The greatest value of an integer of the API. */
const highestInt32 = 2_147_483_647;

/** Reads the fields of a spec one by one, each named by its path, and keeps what is wrong with them. */
export class SpecFields {
  readonly problems: Problem[] = [];

  /** Reads a text. @param fallback used where nothing is given; without one, a text is required */
  text(object: JsonObject, path: string, fallback?: string): string | undefined {
    const value = object[nameIn(path)] ?? fallback;
    if (typeof value === 'string' && (value !== '' || fallback !== undefined)) return value;
    return this.refuse(path, 'must be a text that is not empty', object[nameIn(path)]);
  }

  flag(object: JsonObject, path: string): boolean {
    const value = object[nameIn(path)] ?? false;
    if (typeof value === 'boolean') return value;
    this.refuse(path, 'must be true or false', value);
    return false;
  }

  /** Returns the integer at `path` where it is at least `least`; undefined where there is nothing, and where that is wrong. */
  count(object: JsonObject, path: string, least: number): number | undefined {
    return this.between(object, path, [least, highestInt32]);
  }

  /** Returns the integer at `path` where it is in the range, its ends included; undefined as {@link count} does. */
  between(
    object: JsonObject,
    path: string,
    [least, most]: readonly [least: number, most: number],
  ): number | undefined {
    const value = object[nameIn(path)] ?? undefined;
    if (value === undefined) return undefined;
    const isCount = typeof value === 'number' && Number.isInteger(value);
    if (isCount && value >= least && value <= most) return value;
    return this.refuse(path, `must be an integer from ${least} to ${most}`, value);
  }

  number(object: JsonObject, path: string): number | undefined {
    const value = object[nameIn(path)] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    return this.refuse(path, 'must be a number', value);
  }

  /** Returns which of two words is at `path`; `first` where nothing is. */
  word<First extends string, Second extends string>(
    object: JsonObject,
    path: string,
    [first, second]: readonly [First, Second],
  ): First | Second {
    const value = object[nameIn(path)] ?? first;
    if (value === second) return second;
    if (value !== first) this.refuse(path, `must be ${first} or ${second}`, value);
    return first;
  }

  /** Keeps that `value` is not as `wanted`. */
  refuse(path: string, wanted: string, value: JsonValue | undefined): undefined {
    this.problems.push({ path, message: `${wanted}: got ${shown(value)}` });
    return undefined;
  }
}

/** Returns a part of what a user wrote, as a message shows it. */
function shown(value: JsonValue | undefined): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value === undefined || value === null ? 'nothing' : 'what is no such value';
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}
