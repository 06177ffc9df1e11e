import type { JsonObject, JsonValue } from '#base/json.ts';
import { type Parsed, type Problem, valid } from '#base/parsed.ts';
import { quoted } from '#base/quoted.ts';
import { type Millis, seconds } from '#base/units.ts';
import type { Bounds } from '#check/plan-reading.ts';
import { objectAt } from '#statefulset/parse-fields.ts';

/** What the gate asks of Prometheus. */
export interface GateQuerySpec {
  /** PromQL, as it is written. */
  readonly expr: string;
  /** As it is written; see `readPrometheusUrl`. */
  readonly url: string;
  readonly insecureSkipVerify: boolean;
  /** Name of the Secret with credentials; undefined for none. */
  readonly secretRef: string | undefined;
  /** What every value must be within, both ends in; absent: any data passes. Ours. */
  readonly bounds?: Bounds;
  /** Whether a query that finds nothing passes. Ours. @default false */
  readonly isNoDataGood?: boolean;
}

/** What the `spec` of a PhasedRollout says, defaults put in. */
export interface PhasedRolloutSpec {
  /** Name of the StatefulSet. */
  readonly targetRef: string;
  /** Whether updates roll without any check. */
  readonly standardRollingUpdate: boolean;
  readonly initialDelay: Millis;
  /** More than 0. */
  readonly period: Millis;
  /** At least 1. */
  readonly successThreshold: number;
  readonly query: GateQuerySpec;
}

/** What the webhook puts where nothing stands, and where 0 does (A1). */
const checkDefaults = Object.freeze({
  initialDelaySeconds: 60,
  periodSeconds: 60,
  successThreshold: 3,
});

type CheckField = keyof typeof checkDefaults;

const checkFields: readonly CheckField[] = [
  'initialDelaySeconds',
  'periodSeconds',
  'successThreshold',
];

const highestInt32 = 2_147_483_647;

/**
 * Returns the fields of `spec.check` that the webhook adds or changes: the peer takes a written 0 for nothing written, so that
 * neither "no delay" nor "no period" can be said (A1).
 */
export function defaultedFields(object: JsonObject): Readonly<Partial<Record<CheckField, number>>> {
  const check = objectAt(objectAt(object, 'spec'), 'check');
  const missing = checkFields.filter((field) => (check[field] ?? 0) === 0);
  return Object.fromEntries(missing.map((field) => [field, checkDefaults[field]]));
}

/**
 * Reads the `spec` of a stored PhasedRollout, which no webhook may have seen: what is missing has its default here, too
 * (C4, W11). A written delay of 0 is none; a period of 0 would ask without a pause, and a threshold of 0 without need, so
 * that both count as not written.
 */
export function parsePhasedRollout(object: JsonObject): Parsed<PhasedRolloutSpec> {
  const spec = objectAt(object, 'spec');
  const check = objectAt(spec, 'check');
  const query = objectAt(check, 'query');
  const fields = new Fields();
  const read: PhasedRolloutSpec = {
    targetRef: fields.text(spec, 'spec.targetRef') ?? '',
    standardRollingUpdate: fields.flag(spec, 'spec.standardRollingUpdate'),
    initialDelay: seconds(fields.count(check, 'initialDelaySeconds')),
    period: seconds(fields.count(check, 'periodSeconds') || checkDefaults.periodSeconds),
    successThreshold: fields.count(check, 'successThreshold') || checkDefaults.successThreshold,
    query: {
      expr: fields.text(query, 'spec.check.query.expr') ?? '',
      url: fields.text(query, 'spec.check.query.url') ?? '',
      insecureSkipVerify: fields.flag(query, 'spec.check.query.insecureSkipVerify'),
      // An empty name is none (P7).
      secretRef: fields.text(query, 'spec.check.query.secretRef', '') || undefined,
      ...fields.bounds(query),
      ...fields.onNoData(query),
    },
  };
  const [problem] = fields.problems;
  return problem === undefined ? valid(read) : { kind: 'invalid', problem };
}

/** Reads fields one by one, and keeps what is wrong with each. */
class Fields {
  readonly problems: Problem[] = [];

  /** @param fallback stands where nothing does; without one, something must */
  text(object: JsonObject, path: string, fallback?: string): string | undefined {
    const value = object[nameIn(path)] ?? fallback;
    if (typeof value === 'string' && (value !== '' || fallback !== undefined)) return value;
    return this.#refuse(path, 'must be a text that is not empty', object[nameIn(path)]);
  }

  flag(object: JsonObject, path: string): boolean {
    const value = object[nameIn(path)] ?? false;
    if (typeof value === 'boolean') return value;
    this.#refuse(path, 'must be true or false', value);
    return false;
  }

  count(check: JsonObject, field: CheckField): number {
    const value = check[field] ?? checkDefaults[field];
    const isCount = typeof value === 'number' && Number.isInteger(value);
    if (isCount && value >= 0 && value <= highestInt32) return value;
    const wanted = `must be an integer from 0 to ${highestInt32}`;
    this.#refuse(`spec.check.${field}`, wanted, value);
    return checkDefaults[field];
  }

  bounds(query: JsonObject): Pick<GateQuerySpec, 'bounds'> {
    const path = 'spec.check.query.thresholdRange';
    const written = query['thresholdRange'] ?? undefined;
    if (written === undefined) return {};
    const range = objectAt(query, 'thresholdRange');
    const [min, max] = [this.#bound(range, `${path}.min`), this.#bound(range, `${path}.max`)];
    if (min === undefined && max === undefined) {
      this.#refuse(path, 'must have a number as min, or as max, or both', written);
    }
    if (min !== undefined && max !== undefined && min > max) {
      this.#refuse(`${path}.min`, `must not be above max, which is ${max}`, min);
    }
    return {
      bounds: { ...(min !== undefined && { min }), ...(max !== undefined && { max }) },
    };
  }

  #bound(range: JsonObject, path: string): number | undefined {
    const value = range[nameIn(path)] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    return this.#refuse(path, 'must be a number', value);
  }

  onNoData(query: JsonObject): Pick<GateQuerySpec, 'isNoDataGood'> {
    const value = query['onNoData'] ?? 'Fail';
    if (value === 'Fail') return {};
    if (value === 'Pass') return { isNoDataGood: true };
    this.#refuse('spec.check.query.onNoData', 'must be Fail or Pass', value);
    return {};
  }

  #refuse(path: string, wanted: string, value: JsonValue | undefined): undefined {
    this.problems.push({ path, message: `${wanted}: got ${shown(value)}` });
    return undefined;
  }
}

/** A part of what a user wrote, as a message shows it. */
function shown(value: JsonValue | undefined): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value === undefined ? 'nothing' : 'what is no such value';
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}
