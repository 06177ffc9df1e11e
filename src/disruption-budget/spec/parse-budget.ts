import { parseGoDuration } from '#base/time/go-duration.ts';
import { goDurationError } from '#base/time/go-duration-error.ts';
import { type Millis, millis } from '#base/units.ts';
import { wireText } from '#disruption/decision/denial-text.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { BudgetSpan, BudgetSpec, MaxUnavailable, PodPartition } from '../api.ts';
import type { Pattern, PatternCompiler } from '../pattern/pattern.ts';
import { shortened } from './shortened.ts';
import { goText, goType, isUntypedObject, type Untyped, type UntypedObject } from './untyped.ts';

/** What a budget says, or what is wrong with it in the peer's words. */
export type ParsedBudget =
  | { readonly kind: 'valid'; readonly spec: BudgetSpec }
  | {
      readonly kind: 'invalid';
      readonly text: string;
      /** Which pods it is meant for; undefined where that cannot be read either. */
      readonly matchLabels: ReadonlyMap<string, string> | undefined;
    };

const { kind: budgetKind } = resourceTypes.zoneAwarePodDisruptionBudgets;

/** What ends the parsing: the first check that fails. Never leaves this module. */
class Refusal extends Error {
  override readonly name = 'Refusal';
}

/**
 * Reads a ZoneAwarePodDisruptionBudget, with the checks, their order and their words those of the peer. Total.
 *
 * @param compile never throws
 */
export function parseBudget(object: UntypedObject, compile: PatternCompiler): ParsedBudget {
  try {
    return { kind: 'valid', spec: budgetSpec(object, compile) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { kind: 'invalid', text: shortened(error.message), matchLabels: intendedLabels(object) };
  }
}

/** Returns what an object that is not valid selects. */
function intendedLabels({ spec }: UntypedObject): ReadonlyMap<string, string> | undefined {
  try {
    return isUntypedObject(spec) ? matchLabelsOf(spec) : undefined;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

function refuse(text: string): never {
  throw new Refusal(text);
}

function budgetSpec(object: UntypedObject, compile: PatternCompiler): BudgetSpec {
  const { spec } = object;
  if (spec !== undefined && !isUntypedObject(spec)) refuse(notAnObject('.spec', spec));
  if (spec === undefined) refuse('no spec found in unstructured object');
  if (object['kind'] !== budgetKind) {
    refuse(`unexpected object kind - expecting ${budgetKind}`);
  }
  const maxUnavailable = maxUnavailableOf(spec);
  const partitions = partitionsOf(spec, compile);
  const matchLabels = matchLabelsOf(spec);
  const crossZoneEvictionDelay = delayOf(spec);
  if (partitions === undefined) {
    if (crossZoneEvictionDelay > 0) {
      refuse('invalid value: crossZoneEvictionDelay requires podNamePartitionRegex to be set');
    }
    return { matchLabels, maxUnavailable, span: { kind: 'zone' } };
  }
  if (maxUnavailable.kind === 'percentage' && maxUnavailable.percentage > 0) {
    refuse('invalid value: max unavailable percentage can not be used with partition awareness');
  }
  return { matchLabels, maxUnavailable, span: { ...partitions, crossZoneEvictionDelay } };
}

/** Returns what Go's accessors of untyped objects say (apimachinery, `NestedFieldNoCopy`). */
function notAnObject(path: string, value: Untyped): string {
  return `${path} accessor error: ${goText(value)} is of the type ${goType(value)}, expected map[string]interface{}`;
}

/** Returns how many may be unavailable: a count or a percentage, and 1 where neither is there. */
function maxUnavailableOf(spec: UntypedObject): MaxUnavailable {
  const { maxUnavailable: count, maxUnavailablePercentage: percentage } = spec;
  if (count !== undefined && percentage !== undefined) {
    refuse('invalid value: only one of maxUnavailable or maxUnavailablePercentage may be set');
  }
  if (percentage !== undefined) {
    const value = integerOf(percentage, 'maxUnavailablePercentage');
    if (value < 0n || value > 100n) {
      refuse(`invalid value: max unavailable percentage must be 0 <= val <= 100, got ${value}`);
    }
    return { kind: 'percentage', percentage: Number(value) };
  }
  const value = count === undefined ? 1n : integerOf(count, 'maxUnavailable');
  if (value < 0n) refuse(`invalid value: max unavailable must be 0 <= val, got ${value}`);
  return { kind: 'count', count: Number(value) };
}

function integerOf(value: Untyped, field: string): bigint {
  if (typeof value === 'bigint') return value;
  return refuse(`failed to extract value from config field ${field}`);
}

/** Returns where partitions are in the names of pods; undefined for zone mode, in which the group is not even looked at. */
function partitionsOf(
  spec: UntypedObject,
  compile: PatternCompiler,
): Omit<BudgetSpan & { kind: 'partition' }, 'crossZoneEvictionDelay'> | undefined {
  const { podNamePartitionRegex: regex, podNameRegexGroup: given } = spec;
  if (regex === undefined || regex === '') return undefined;
  if (typeof regex !== 'string') {
    return refuseRegex('failed to extract regex value from config field podNamePartitionRegex');
  }
  if (given !== undefined && typeof given !== 'bigint') {
    return refuseRegex('failed to extract group value from config field podNameRegexGroup');
  }
  // Without parentheses, so that of `a|b` only the ends are anchored, as at the peer.
  const compiled = compile(`^${regex}$`);
  if (compiled.kind === 'refused') return refuseRegex(compiled.text);
  if (compiled.kind === 'unknown') {
    return refuse(`podNamePartitionRegex cannot be compiled: ${compiled.text}`);
  }
  const { pattern } = compiled;
  const group = groupOf(pattern, given);
  return {
    kind: 'partition',
    regex,
    group,
    partitionOf: (podName) => partitionIn(pattern, podName, group),
  };
}

function refuseRegex(detail: string): never {
  return refuse(`invalid value: regex is not valid, got ${detail}`);
}

/**
 * Returns which group of the expression names the partition: 0 is all that matches; a negative one would crash the peer at
 * its first use.
 */
function groupOf({ groupCount }: Pattern, given: bigint | undefined): number {
  if (groupCount === 0) refuseRegex('regular expression requires at least one subexpression');
  if (groupCount > 1 && given === undefined) {
    refuseRegex(
      'regular expression has multiple subexpressions and requires podNameRegexGroup to be set',
    );
  }
  const group = given ?? 1n;
  if (group < 0n || group > BigInt(groupCount)) {
    refuseRegex('regular expression subexpression index out of range');
  }
  return Number(group);
}

/** Returns the partition in one name; an empty match is none. */
function partitionIn(pattern: Pattern, podName: string, group: number): PodPartition {
  const name = pattern.groupIn(podName, group) ?? '';
  if (name !== '') return { kind: 'partition', name };
  return { kind: 'unknown', text: wireText({ kind: 'no-partition' }) };
}

/** Returns the labels that a budget selects by. */
function matchLabelsOf(spec: UntypedObject): ReadonlyMap<string, string> {
  const path = '.spec.selector.matchLabels';
  const { selector } = spec;
  if (selector === undefined || selector === null) return refuse(notFound);
  if (!isUntypedObject(selector)) return refuseSelector(notAnObject(path, selector));
  const { matchLabels } = selector;
  if (matchLabels === undefined) return refuse(notFound);
  if (!isUntypedObject(matchLabels)) return refuseSelector(notAnObject(path, matchLabels));
  const labels = new Map<string, string>();
  for (const [key, value = null] of Object.entries(matchLabels)) {
    if (typeof value !== 'string') {
      return refuseSelector(
        `${path} accessor error: contains non-string value in the map under key ${JSON.stringify(key)}: ` +
          `${goText(value)} is of the type ${goType(value)}, expected string`,
      );
    }
    labels.set(key, value);
  }
  return labels;
}

const notFound = 'invalid value: selector is not found';

function refuseSelector(detail: string): never {
  return refuse(`invalid value: selector is not valid, got ${detail}`);
}

/** Returns for how long a pod of another zone must have been ready. */
function delayOf(spec: UntypedObject): Millis {
  const { crossZoneEvictionDelay: text } = spec;
  if (text === undefined || text === '') return millis(0);
  if (typeof text !== 'string') {
    return refuse('failed to extract value from config field crossZoneEvictionDelay');
  }
  const parsed = parseGoDuration(text, 'spec.crossZoneEvictionDelay');
  if (parsed.kind === 'invalid') {
    return refuse(
      `invalid value: crossZoneEvictionDelay is not a valid duration, got ${goDurationError(text)}`,
    );
  }
  if (parsed.value < 0) {
    return refuse(`invalid value: crossZoneEvictionDelay must be >= 0, got ${text}`);
  }
  return parsed.value;
}
