import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { SpecFields } from '#base/spec-fields.ts';
import { quoted } from '#base/text/quoted.ts';
import { type SecuredQuery, securedQuery } from '#check/credentials/secured-query.ts';
import { querySpecOf } from '#check/prometheus/query-spec.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { parseGoFloat } from './spec/go-float.ts';
import { type MostUnavailable, parseMostUnavailable } from './spec/step-limit.ts';

/** What the `spec` of a ZoneAwareUpdate says. */
export interface ZoneAwareUpdateSpec {
  /** Name of the StatefulSet, in the same namespace; empty for none. */
  readonly statefulSet: string;
  /** What is wrong with it matters once a step is due, and not before (ZAU-32). */
  readonly maxUnavailable: Parsed<MostUnavailable>;
  /** As above (ZAU-34). */
  readonly exponentialFactor: Parsed<number>;
  /** Name of the alarm that pauses the rollout; undefined for none, or where it is to be ignored. */
  readonly alarm: string | undefined;
  /** The query of Prometheus that pauses the rollout while it does not pass; undefined as above. Ours. */
  readonly query: SecuredQuery | undefined;
  /** Whether the update is only planned, and no pod is deleted. */
  readonly isDryRun: boolean;
}

/** What the schema puts where nothing is written. */
export const defaultFactor = '2.0';

/** Reads the `spec` of a stored ZoneAwareUpdate. */
export function parseZoneAwareUpdate(object: JsonObject): Parsed<ZoneAwareUpdateSpec> {
  const spec = objectAt(object, 'spec');
  const texts = ['statefulset', 'exponentialFactor', 'pauseRolloutAlarm'] as const;
  const flags = ['ignoreAlarm', 'dryRun'] as const;
  const wrongText = texts.find((name) => !isAbsent(spec[name]) && typeof spec[name] !== 'string');
  if (wrongText !== undefined) return refused(`spec.${wrongText}`, 'a text', spec[wrongText]);
  const wrongFlag = flags.find((name) => !isAbsent(spec[name]) && typeof spec[name] !== 'boolean');
  if (wrongFlag !== undefined)
    return refused(`spec.${wrongFlag}`, 'true or false', spec[wrongFlag]);
  const textAt = (name: (typeof texts)[number], fallback = ''): string => {
    const value = spec[name];
    return typeof value === 'string' ? value : fallback;
  };
  const alarm = textAt('pauseRolloutAlarm');
  const isIgnored = spec['ignoreAlarm'] === true;
  const query = isIgnored ? noQuery : parsePauseQuery(spec);
  if (query.kind === 'invalid') return query;
  return valid({
    statefulSet: textAt('statefulset'),
    maxUnavailable: parseMostUnavailable(
      spec['maxUnavailable'] ?? undefined,
      'spec.maxUnavailable',
    ),
    exponentialFactor: factorOf(textAt('exponentialFactor', defaultFactor)),
    alarm: alarm === '' || isIgnored ? undefined : alarm,
    query: query.value,
    isDryRun: spec['dryRun'] === true,
  });
}

const noQuery: Parsed<undefined> = valid(undefined);

/** What its values must be within has to be said: "pause" could mean that the query finds something, or that it does not. */
function parsePauseQuery(spec: JsonObject): Parsed<SecuredQuery | undefined> {
  const written = spec['pauseRolloutQuery'] ?? undefined;
  if (written === undefined) return noQuery;
  const path = 'spec.pauseRolloutQuery';
  if (!isJsonObject(written))
    return refused(path, 'a query with url, expr and thresholdRange', written);
  const fields = new SpecFields();
  const query = querySpecOf(written, path, fields);
  const [problem] = fields.problems;
  if (problem !== undefined) return { kind: 'invalid', problem };
  if (query.bounds === undefined) {
    const wanted =
      'must have a number as min, or as max: the rollout goes on while every value is within';
    return invalid(`${path}.thresholdRange`, `${wanted}: got nothing`);
  }
  return valid(securedQuery('query', query));
}

function factorOf(text: string): Parsed<number> {
  const factor = parseGoFloat(text);
  if (factor !== undefined) return valid(factor);
  return invalid(
    'spec.exponentialFactor',
    `must be a number such as "2.0", or "0": got ${quoted(text)}`,
  );
}

function isAbsent(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}

function refused(path: string, wanted: string, value: JsonValue | undefined): Parsed<never> {
  return invalid(path, `must be ${wanted}: got ${JSON.stringify(value)}`);
}
