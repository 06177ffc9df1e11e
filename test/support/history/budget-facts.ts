import { RE2JS, RE2JSException } from 're2js';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { type Millis, millis } from '#base/units.ts';
import { textAt, valueAt } from '../objects/json-path.ts';
import { type SetFacts, slotCount } from './facts.ts';

/** The labels that an object must have; all of them. */
export type MatchLabels = readonly (readonly [key: string, text: string])[];

/** What a stored ZoneAwarePodDisruptionBudget says; read apart from the operator's own parser. */
export interface BudgetFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Undefined where that cannot be read: it may be meant for any pod of the namespace. */
  readonly selector: MatchLabels | undefined;
  /** Undefined where any part of it cannot be read, or makes no sense. */
  readonly rule: BudgetRule | undefined;
}

/** What a budget that can be read demands. */
export interface BudgetRule {
  readonly limit: { readonly count: number } | { readonly percent: number };
  /** Undefined: zone mode. */
  readonly partitions: Partitions | undefined;
}

/** Partition mode. */
export interface Partitions {
  /** How long the replicas of other zones must have been ready. */
  readonly delay: Millis;
  /** Returns the partition that a name of a pod shows; undefined: none. */
  of(podName: string): string | undefined;
}

const known = new WeakMap<JsonObject, BudgetFacts>();

/** Reads a budget object, once. */
export function budgetFacts(object: JsonObject): BudgetFacts {
  const read = known.get(object) ?? readBudget(object);
  known.set(object, read);
  return read;
}

function readBudget(object: JsonObject): BudgetFacts {
  const spec = valueAt(object, 'spec');
  const selector = isJsonObject(spec) ? selectorOf(spec) : undefined;
  return {
    namespace: textAt(object, 'metadata', 'namespace') ?? '',
    name: textAt(object, 'metadata', 'name') ?? '',
    uid: textAt(object, 'metadata', 'uid') ?? '',
    selector,
    rule: isJsonObject(spec) && selector !== undefined ? ruleOf(spec) : undefined,
  };
}

function selectorOf(spec: JsonObject): MatchLabels | undefined {
  const labels = valueAt(spec, 'selector', 'matchLabels');
  if (!isJsonObject(labels)) return undefined;
  const pairs = Object.entries(labels);
  const texts = pairs.flatMap(
    ([key, value]): MatchLabels => (typeof value === 'string' ? [[key, value]] : []),
  );
  return texts.length === pairs.length ? texts : undefined;
}

/** Reports whether `selector` selects an object with `labels`; an empty one selects all, one that cannot be read may. */
export function isSelected(labels: JsonObject, selector: MatchLabels | undefined): boolean {
  return (selector ?? []).every(([key, text]) => labels[key] === text);
}

function ruleOf(spec: JsonObject): BudgetRule | undefined {
  const [limit, partitions] = [limitIn(spec), partitionsOf(spec)];
  if (limit === undefined || partitions === 'unreadable') return undefined;
  // A share of a partition means nothing.
  if (partitions !== undefined && 'percent' in limit && limit.percent > 0) return undefined;
  return { limit, partitions };
}

function limitIn(spec: JsonObject): BudgetRule['limit'] | undefined {
  const { maxUnavailable, maxUnavailablePercentage } = spec;
  if (maxUnavailablePercentage === undefined) {
    const count = wholeIn(maxUnavailable ?? 1, Infinity);
    return count === undefined ? undefined : { count };
  }
  const percent = maxUnavailable === undefined ? wholeIn(maxUnavailablePercentage, 100) : undefined;
  return percent === undefined ? undefined : { percent };
}

/** Returns a whole number from 0 to `most`. */
function wholeIn(value: JsonValue, most: number): number | undefined {
  const isWhole = typeof value === 'number' && Number.isInteger(value);
  return isWhole && value >= 0 && value <= most ? value : undefined;
}

function partitionsOf(spec: JsonObject): Partitions | 'unreadable' | undefined {
  const { podNamePartitionRegex: regex = '', podNameRegexGroup: group } = spec;
  const delay = durationOf(spec['crossZoneEvictionDelay']);
  if (delay === undefined || delay < 0) return 'unreadable';
  if (regex === '') return delay > 0 ? 'unreadable' : undefined;
  const pattern = typeof regex === 'string' ? compiled(`^${regex}$`) : undefined;
  const chosen = pattern && groupIn(pattern, group);
  if (pattern === undefined || chosen === undefined) return 'unreadable';
  return {
    delay,
    of: (podName) => {
      const matcher = pattern.matcher(podName);
      const text = matcher.find() ? (matcher.group(chosen) ?? '') : '';
      return text === '' ? undefined : text;
    },
  };
}

/** Returns the number of the group that shows the partition; undefined where `pattern` has none such. */
function groupIn(pattern: RE2JS, group: JsonValue | undefined): number | undefined {
  const groups = pattern.groupCount();
  if (groups === 0 || (groups > 1 && group === undefined)) return undefined;
  return wholeIn(group ?? 1, groups);
}

function compiled(source: string): RE2JS | undefined {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}

const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const duration = /^([-+]?)((?:\d+(?:\.\d*)?(?:ns|us|ms|s|m|h))+)$/;

/** Returns a duration as Go writes it; undefined for what is none. */
function durationOf(value: JsonValue = ''): Millis | undefined {
  if (value === '' || value === '0') return millis(0);
  const match = typeof value === 'string' ? duration.exec(value) : null;
  if (match === null) return undefined;
  let sum = 0;
  for (const [, number, unit = ''] of String(match[2]).matchAll(/([\d.]+)([a-z]+)/g)) {
    sum += Number(number) * (units[unit] ?? 0);
  }
  return millis(match[1] === '-' ? -sum : sum);
}

/** Who asks for a pod. */
export type Asker = 'rollout' | 'scale-down' | 'eviction';

/**
 * Returns how many pods of one span `rule` lets be unavailable at once, when `by` asks for one of `set`: where the budget
 * allows none, a rollout has its own limit, one in partition mode; an eviction has none.
 */
export function limitFor(rule: BudgetRule, set: SetFacts, by: Asker): number {
  const limit = ownLimit(rule, set);
  if (limit > 0 || by === 'eviction') return limit;
  return rule.partitions === undefined && by === 'rollout' ? set.limit : 1;
}

function ownLimit({ limit }: BudgetRule, set: SetFacts): number {
  if ('count' in limit) return limit.count;
  const pods = Math.min(set.replicas, set.statusReplicas);
  if (limit.percent === 0 || pods === 0) return 0;
  return Math.max(1, Math.floor((limit.percent * pods) / 100));
}

/** Returns the names of the pods that fill the slots of `set`, in order. */
export function slotNames(set: SetFacts): readonly string[] {
  return Array.from(
    { length: slotCount(set) },
    (_, index) => `${set.name}-${set.ordinalsStart + index}`,
  );
}
