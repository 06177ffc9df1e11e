import { isJsonArray, isJsonObject, type JsonObject, jsonIn } from '#base/json.ts';
import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import type { QueryReading, Sample } from './reading.ts';

/** Warnings that are kept of one answer. */
const mostWarnings = 5;
/** As Go writes and reads them; `Inf` with or without a sign. */
const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const infinity = /^([+-]?)inf(?:inity)?$/i;
/** The second form is that of native histograms. */
const noNumber: Sample = { value: Number.NaN, text: 'a histogram' };

/**
 * Reads the body of an answer to `/api/v1/query` whose HTTP status is below 400. Only an answer that calls itself a success says
 * anything of the series: the peer does not look at `status`, and takes an error that a proxy sends with 200 for an answer
 * without data. Of a success `data.result` alone is read, as at the peer. What the peer fails to decode is invalid here, too; a
 * scalar, which it cannot decode, has a reading of its own, so that a rule with bounds can judge it.
 */
export function parseReading(body: string): Parsed<QueryReading> {
  const answer = jsonIn(body);
  if (answer === undefined) return invalid('body', 'must be JSON');
  if (!isJsonObject(answer)) return invalid('body', `must be a JSON object: got ${shown(answer)}`);
  const { status } = answer;
  if (status === 'error') return valid(refusedBy(answer));
  if (status !== 'success') {
    return invalid('status', `must be "success": got ${shown(status)}`);
  }
  const warnings = warningsOf(answer);
  const data = answer['data'] ?? null;
  if (data === null) return valid({ kind: 'no-data', warnings });
  if (!isJsonObject(data)) return invalid('data', `must be a JSON object: got ${shown(data)}`);
  return resultOf(data, warnings);
}

function refusedBy(answer: JsonObject): QueryReading {
  const [type, error] = [answer['errorType'], answer['error']].map((each) =>
    typeof each === 'string' ? quoted(each) : 'none',
  );
  const message = `errorType ${type}, error ${error}`;
  return { kind: 'error', reason: 'Refused', message };
}

function resultOf(data: JsonObject, warnings: readonly string[]): Parsed<QueryReading> {
  const result = data['result'] ?? null;
  if (result === null) return valid({ kind: 'no-data', warnings });
  if (!isJsonArray(result)) return invalid('data.result', `must be a list: got ${shown(result)}`);
  if (result.length === 0) return valid({ kind: 'no-data', warnings });
  const only = typeof result[0] === 'number' ? sampleOf(result) : undefined;
  if (only !== undefined) {
    const isText = data['resultType'] === 'string';
    return valid(
      isText ? { kind: 'string', warnings } : { kind: 'scalar', sample: only, warnings },
    );
  }
  return elementsOf(result, warnings);
}

function elementsOf(result: readonly unknown[], warnings: readonly string[]): Parsed<QueryReading> {
  const samples: Sample[] = [];
  let series = 0;
  for (const [at, element] of result.entries()) {
    // The peer decodes null as a sample without a value, and counts it.
    const parsed = element === null ? undefined : element;
    if (parsed !== undefined && !isElement(parsed)) {
      return invalid(`data.result[${at}]`, `must be a series of a query: got ${shown(parsed)}`);
    }
    if (parsed !== undefined && isJsonArray(parsed['values'])) series += 1;
    samples.push((parsed !== undefined && sampleOf(parsed['value'])) || noNumber);
  }
  if (series > 0) return valid({ kind: 'matrix', series: result.length, warnings });
  return valid({ kind: 'vector', samples, warnings });
}

/** Reports whether the peer decodes it: labels are an object, of which `name` is a text, and a value is a list. */
function isElement(element: unknown): element is JsonObject {
  if (!isJsonObject(element)) return false;
  const metric = element['metric'] ?? null;
  const value = element['value'] ?? null;
  if (value !== null && !isJsonArray(value)) return false;
  if (metric === null) return true;
  return (
    isJsonObject(metric) && ['string', 'undefined'].includes(typeof (metric['name'] ?? undefined))
  );
}

/** Returns the sample of `[time, "value"]`; undefined for anything else. */
function sampleOf(pair: unknown): Sample | undefined {
  if (!isJsonArray(pair)) return undefined;
  const [, text] = pair;
  return typeof text === 'string' ? { value: numberIn(text), text: textOf(text) } : undefined;
}

function numberIn(text: string): number {
  const sign = infinity.exec(text)?.[1];
  if (sign !== undefined) return sign === '-' ? -Infinity : Infinity;
  return number.test(text) ? Number(text) : Number.NaN;
}

/** Returns what looks like a value as it is, and anything else in quotes. */
function textOf(text: string): string {
  return /^[\w.+-]{1,32}$/.test(text) ? text : quoted(text);
}

function warningsOf(answer: JsonObject): readonly string[] {
  const { warnings } = answer;
  if (!isJsonArray(warnings)) return [];
  return warnings
    .filter((each) => typeof each === 'string')
    .slice(0, mostWarnings)
    .map(quoted);
}

/** Returns what kind of value something is. What it says is not repeated: another server than Prometheus may have said it. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (isJsonArray(value)) return 'a list';
  return isJsonObject(value) ? 'an object' : `a ${typeof value}`;
}
