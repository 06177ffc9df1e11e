import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { invalid, type Parsed, type Problem, valid } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import type { Limit } from '#disruption/budget.ts';
import type { ZoneBudgetSpec } from '../api.ts';
import { parseSelector } from './parse-selector.ts';
import type { PodSelector } from './selector.ts';

/** What a budget says, or what is wrong with it. */
export type ParsedZoneBudget =
  | { readonly kind: 'valid'; readonly spec: ZoneBudgetSpec }
  | {
      readonly kind: 'invalid';
      readonly problem: Problem;
      /** Which pods it may be meant for, none too few: nothing that it may govern is given away (D-25). */
      readonly selector: PodSelector;
    };

const highestInt32 = 2_147_483_647;
const lowestInt32 = -2_147_483_648;
/** What Go reads as an integer of 64 bits. */
const highestInt64 = 2n ** 63n - 1n;
const lowestInt64 = -(2n ** 63n);

/** Reads a ZoneDisruptionBudget (ZDB-6, ZDB-8, ZAU-30). Total. */
export function parseZoneBudget(object: JsonObject): ParsedZoneBudget {
  const { spec = null } = object;
  if (spec !== null && !isJsonObject(spec)) {
    const problem = { path: 'spec', message: 'must be an object' };
    return { kind: 'invalid', problem, selector: [] };
  }
  const { selector, maxUnavailable, dryRun = null } = spec ?? {};
  const read = parseSelector(selector, 'spec.selector');
  const limit = parseLimit(maxUnavailable);
  const isDryRun = parseFlag(dryRun, 'spec.dryRun');
  if (read.problem !== undefined) return refused(read.problem, read.selector);
  if (limit.kind === 'invalid') return refused(limit.problem, read.selector);
  if (isDryRun.kind === 'invalid') return refused(isDryRun.problem, read.selector);
  return {
    kind: 'valid',
    spec: { selector: read.selector, limit: limit.value, isDryRun: isDryRun.value },
  };
}

function refused(problem: Problem, selector: PodSelector): ParsedZoneBudget {
  return { kind: 'invalid', problem, selector };
}

const limitPath = 'spec.maxUnavailable';
const limitWanted = `must be an integer from ${lowestInt32} to ${highestInt32}, or a percentage such as "10%"`;

function parseLimit(value: JsonValue | undefined): Parsed<Limit> {
  if (typeof value === 'number') return parseCount(value);
  if (typeof value === 'string') return parsePercentage(value);
  const got = value === undefined || value === null ? 'nothing' : JSON.stringify(value);
  return invalid(limitPath, `${limitWanted}: got ${quoted(got)}`);
}

/** Reads a number of pods; one below 0 lets nothing go. */
function parseCount(count: number): Parsed<Limit> {
  const isCount = Number.isInteger(count) && count >= lowestInt32 && count <= highestInt32;
  return isCount
    ? valid({ kind: 'count', count })
    : invalid(limitPath, `${limitWanted}: got ${count}`);
}

/** Reads a percentage as Go reads it: an integer of 64 bits, with a sign or without. */
function parsePercentage(text: string): Parsed<Limit> {
  const digits = /^[+-]?\d+(?=%$)/.exec(text)?.[0];
  if (digits === undefined || !isInt64(digits)) {
    return invalid(limitPath, `${limitWanted}: got ${quoted(text)}`);
  }
  return valid({ kind: 'percent-of-all-sets', percent: Number(digits) });
}

/** How many digits a number of 64 bits has, with zeros before it that is never written. */
const mostDigits = 40;

function isInt64(text: string): boolean {
  if (text.length > mostDigits) return false;
  const number = BigInt(text.replace('+', ''));
  return number >= lowestInt64 && number <= highestInt64;
}

function parseFlag(value: JsonValue, path: string): Parsed<boolean> {
  if (value === null || typeof value === 'boolean') return valid(value === true);
  return invalid(path, 'must be true or false');
}
