import type { JsonObject } from '#base/json.ts';
import { type Parsed, type Problem, valid } from '#base/parsed.ts';
import { SpecFields } from '#base/spec-fields.ts';
import { type Millis, seconds } from '#base/units.ts';
import { type GateQuerySpec, querySpecOf } from '#check/prometheus/query-spec.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { additionalQueriesOf } from './spec/parse-queries.ts';

/** One of the queries that must pass in addition to the first. Ours. */
export interface AdditionalQuerySpec extends GateQuerySpec {
  /** Names it in messages; no two of a check have the same. */
  readonly name: string;
}

/** How many checks of a step may fail, and what is done when they have. Ours. */
export interface FailureBudget {
  /** Failing checks in a row with which it is spent; 1 or more. @default any number is waited out */
  readonly consecutiveFailures?: number;
  /** Failing checks of a step with which it is spent; 1 or more. @default any number is waited out */
  readonly totalFailures?: number;
  /** `Pause`: nothing more is asked, or let go. `Rollback`: pods of the new revision are replaced by those of the old one, too. */
  readonly onFailure: 'Pause' | 'Rollback';
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
  /** At least one where they are there. Ours. @default none */
  readonly additionalQueries?: readonly AdditionalQuerySpec[];
  /** Ours. @default a failing check is waited out */
  readonly failureBudget?: FailureBudget;
  /** How many pods go, one after the other, from one analysis to the next; 2 or more. Ours. @default 1 */
  readonly stepSize?: number;
  /** Whether what would be done to the set and its pods is reported, and not done. Ours. @default false */
  readonly isDryRun?: boolean;
}

/** What the webhook puts where there is nothing, and where 0 does. */
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

/**
 * Returns the fields of `spec.check` that the webhook adds or changes: the peer takes a written 0 for nothing written, so that
 * neither "no delay" nor "no period" can be said.
 */
export function defaultedFields(object: JsonObject): Readonly<Partial<Record<CheckField, number>>> {
  const check = objectAt(objectAt(object, 'spec'), 'check');
  const missing = checkFields.filter((field) => (check[field] ?? 0) === 0);
  return Object.fromEntries(missing.map((field) => [field, checkDefaults[field]]));
}

/**
 * Reads the `spec` of a stored PhasedRollout, which no webhook may have seen: what is missing has its default here, too
 *. A written delay of 0 is none; a period of 0 would ask without a pause, and a threshold of 0 without need, so
 * that both count as not written.
 */
export function parsePhasedRollout(object: JsonObject): Parsed<PhasedRolloutSpec> {
  const { read, problems } = readSpec(object);
  const [problem] = problems;
  return problem === undefined ? valid(read) : { kind: 'invalid', problem };
}

/** Paths of what the peer does not know, below `spec`. */
const ours =
  /^spec\.(?:stepSize|dryRun|check\.(?:additionalQueries|failureBudget|query\.(?:thresholdRange|onNoData|headers)))\b/;

/** Returns what is wrong with those fields of the `spec` that the peer does not know. */
export function problemsOfOurs(object: JsonObject): readonly Problem[] {
  return readSpec(object).problems.filter(({ path }) => ours.test(path));
}

function readSpec(object: JsonObject): {
  readonly read: PhasedRolloutSpec;
  readonly problems: readonly Problem[];
} {
  const spec = objectAt(object, 'spec');
  const check = objectAt(spec, 'check');
  const fields = new SpecFields();
  const targetRef = fields.text(spec, 'spec.targetRef') ?? '';
  const query = querySpecOf(objectAt(check, 'query'), 'spec.check.query', fields);
  const read: PhasedRolloutSpec = {
    targetRef,
    standardRollingUpdate: fields.flag(spec, 'spec.standardRollingUpdate'),
    initialDelay: seconds(countOf('initialDelaySeconds', check, fields)),
    period: seconds(countOf('periodSeconds', check, fields) || checkDefaults.periodSeconds),
    successThreshold: countOf('successThreshold', check, fields) || checkDefaults.successThreshold,
    query,
    ...additionalQueriesOf(check, query, fields),
    ...failureBudgetOf(check, fields),
    ...stepSizeOf(spec, fields),
    ...(fields.flag(spec, 'spec.dryRun') && { isDryRun: true }),
  };
  return { read, problems: fields.problems };
}

/** Returns an integer of `check`; a wrong one is reported, and its default replaces it. */
function countOf(field: CheckField, check: JsonObject, fields: SpecFields): number {
  return fields.count(check, `spec.check.${field}`, 0) ?? checkDefaults[field];
}

function failureBudgetOf(
  check: JsonObject,
  fields: SpecFields,
): Pick<PhasedRolloutSpec, 'failureBudget'> {
  const path = 'spec.check.failureBudget';
  const written = check['failureBudget'] ?? undefined;
  if (written === undefined) return {};
  const budget = objectAt(check, 'failureBudget');
  const before = fields.problems.length;
  const consecutiveFailures = fields.count(budget, `${path}.consecutiveFailures`, 1);
  const totalFailures = fields.count(budget, `${path}.totalFailures`, 1);
  const isBare = consecutiveFailures === undefined && totalFailures === undefined;
  if (isBare && fields.problems.length === before) {
    fields.refuse(path, 'must have consecutiveFailures, or totalFailures, or both', written);
  }
  return {
    failureBudget: {
      ...(consecutiveFailures !== undefined && { consecutiveFailures }),
      ...(totalFailures !== undefined && { totalFailures }),
      onFailure: fields.word(budget, `${path}.onFailure`, ['Pause', 'Rollback']),
    },
  };
}

function stepSizeOf(spec: JsonObject, fields: SpecFields): Pick<PhasedRolloutSpec, 'stepSize'> {
  const stepSize = fields.count(spec, 'spec.stepSize', 1) ?? 1;
  return stepSize === 1 ? {} : { stepSize };
}
