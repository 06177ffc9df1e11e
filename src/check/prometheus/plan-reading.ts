import { assertNever } from '#base/assert-never.ts';
import type { CheckReason, CheckVerdict, Finding } from '../answer.ts';
import type { QueryReading, Sample } from './reading.ts';

/** Bounds of a value, both ends in. */
export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** How far a value may be from that of the baseline query, both ends in. */
export interface BaselineBounds {
  /** Of value to baseline. */
  readonly leastRatio?: number;
  readonly mostRatio?: number;
  /** Value less baseline. */
  readonly leastDifference?: number;
  readonly mostDifference?: number;
}

/** How a reading is judged. Without bounds any data passes, whatever its values, as at the peer. */
export interface Rule {
  readonly bounds?: Bounds;
  /** Needs the reading of a baseline query. */
  readonly baseline?: BaselineBounds;
  /** @default 'fails' */
  readonly onNoData?: CheckVerdict;
  /** What a value is that is no number; counts where there are bounds. @default 'unknown' */
  readonly onNotANumber?: CheckVerdict;
  /** Of several values: all must pass, any, or it cannot be decided; counts where there are bounds. @default 'all' */
  readonly several?: 'all' | 'any' | 'unknown';
  /** Whether an answer that may not be whole is believed. @default 'believed' */
  readonly onWarnings?: 'believed' | 'unknown';
}

/** What was read for one query. */
export interface Readings {
  readonly candidate: QueryReading;
  /** Of the query that the rule compares with. */
  readonly baseline?: QueryReading;
}

/** Values that a message names. */
const mostNamed = 5;
/** Warnings that are kept. */
const mostWarnings = 5;

/** Judges what was read by `rule`. Nothing passes that the rule does not let pass: what it does not speak of is unknown. */
export function judgeReading({ candidate, baseline }: Readings, rule: Rule): Finding {
  const warnings = [candidate, baseline]
    .flatMap((each) => (each === undefined || each.kind === 'error' ? [] : each.warnings))
    .slice(0, mostWarnings);
  const [firstWarning] = warnings;
  const finding = judge(candidate, baseline, rule);
  const isBelieved = firstWarning === undefined || rule.onWarnings !== 'unknown';
  if (isBelieved || finding.verdict === 'unknown') return { ...finding, warnings };
  const because = { reason: 'Warned', message: `the server warns: ${firstWarning}` } as const;
  return { ...finding, verdict: 'unknown', warnings, because };
}

type Judged = Omit<Finding, 'warnings'>;

function judged(verdict: CheckVerdict, reason: CheckReason, message: string): Judged {
  return { verdict, because: { reason, message } };
}

function judge(candidate: QueryReading, baseline: QueryReading | undefined, rule: Rule): Judged {
  switch (candidate.kind) {
    case 'error':
      return judged('unknown', candidate.reason, candidate.message);
    case 'no-data':
      return noData(rule);
    case 'string':
      return judged('unknown', 'WrongType', 'the query gives a string');
    case 'matrix':
      return judgeSeries(candidate.series, rule);
    case 'scalar':
      return isAboutValues(rule) ? judgeSamples([candidate.sample], baseline, rule) : bareScalar;
    case 'vector':
      return judgeSamples(candidate.samples, baseline, rule);
    default:
      return assertNever(candidate);
  }
}

/** The peer can read no scalar: without bounds it neither passes nor fails. */
const bareScalar = judged('unknown', 'WrongType', 'the query gives a scalar, which needs bounds');

function noData({ onNoData }: Rule): Judged {
  return judged(onNoData ?? 'fails', 'NoData', 'the query found nothing');
}

function judgeSeries(series: number, rule: Rule): Judged {
  if (!isAboutValues(rule)) return found(series);
  return judged(
    'unknown',
    'WrongType',
    'the query gives series over time, which have no one value',
  );
}

function found(series: number): Judged {
  return judged('passes', 'AsWanted', `the query found ${series} series`);
}

function isAboutValues({ bounds, baseline }: Rule): boolean {
  return bounds !== undefined || baseline !== undefined;
}

function judgeSamples(
  samples: readonly Sample[],
  baseline: QueryReading | undefined,
  rule: Rule,
): Judged {
  if (samples.length === 0) return noData(rule);
  const value = textOf(samples);
  if (!isAboutValues(rule)) return { ...found(samples.length), value };
  if (samples.length > 1 && rule.several === 'unknown') {
    const why = `the query gives ${samples.length} values where one was expected`;
    return { ...judged('unknown', 'SeveralValues', why), value };
  }
  const beside = rule.baseline === undefined ? undefined : baselineOf(baseline);
  if (typeof beside === 'string') return { ...judged('unknown', 'NoBaseline', beside), value };
  // What is no number is one sample, however often it comes.
  const each = [...new Set(samples)].map((sample) => judgeSample(sample, beside, rule));
  return { ...foremost(each, rule.several === 'any' ? anyPasses : allPass), value };
}

/** What is found first is what several findings come to. */
const allPass: readonly CheckVerdict[] = ['fails', 'unknown', 'passes'];
const anyPasses: readonly CheckVerdict[] = ['passes', 'unknown', 'fails'];

function foremost(findings: readonly Judged[], order: readonly CheckVerdict[]): Judged {
  for (const verdict of order) {
    const found = findings.find((each) => each.verdict === verdict);
    if (found !== undefined) return found;
  }
  return judged('unknown', 'NoData', 'there is nothing to judge');
}

/** Returns the one number to compare with, or why there is none. */
function baselineOf(reading: QueryReading | undefined): number | string {
  if (reading === undefined) return 'there is no baseline query to compare with';
  if (reading.kind === 'error') return `the baseline query has no answer: ${reading.message}`;
  const samples = samplesOf(reading);
  const [only] = samples;
  if (only === undefined) return 'the baseline query gives no value';
  if (samples.length > 1) return `the baseline query gives ${samples.length} values, not one`;
  return Number.isNaN(only.value) ? `the baseline is not a number: ${only.text}` : only.value;
}

function samplesOf(reading: QueryReading): readonly Sample[] {
  if (reading.kind === 'vector') return reading.samples;
  return reading.kind === 'scalar' ? [reading.sample] : [];
}

function judgeSample(sample: Sample, beside: number | undefined, rule: Rule): Judged {
  const { value, text } = sample;
  if (Number.isNaN(value)) return notANumber(rule, `${text} is no number`);
  const outside = limitBroken(value, rule.bounds ?? {});
  if (outside !== undefined) return judged('fails', 'OutOfBounds', `${text} is ${outside}`);
  if (beside !== undefined) return judgeBeside(sample, beside, rule);
  return judged('passes', 'AsWanted', `${text} is within its bounds`);
}

function judgeBeside({ value, text }: Sample, beside: number, rule: Rule): Judged {
  const limits = limitsBeside(beside, rule.baseline ?? {});
  if (limits.some(([, limit]) => Number.isNaN(limit))) {
    return notANumber(rule, `${text} cannot be compared with ${beside}`);
  }
  for (const [end, limit] of limits) {
    const broken = limitBroken(value, { [end]: limit });
    if (broken === undefined) continue;
    const message = `${text} is ${broken}, where the baseline is ${beside}`;
    return judged('fails', 'TooFarFromBaseline', message);
  }
  return judged('passes', 'AsWanted', `${text} is near enough to the baseline ${beside}`);
}

function notANumber({ onNotANumber }: Rule, message: string): Judged {
  return judged(onNotANumber ?? 'unknown', 'NotANumber', message);
}

function limitBroken(value: number, { min, max }: Bounds): string | undefined {
  // Asked so that a bound which is no number is broken by every value.
  if (min !== undefined && !(value >= min)) return `below ${min}`;
  return max !== undefined && !(value <= max) ? `above ${max}` : undefined;
}

/** Returns the limits for a baseline. Ratios are multiplied with it, so that one of 0 divides nothing; a negative one swaps min and max. */
function limitsBeside(
  baseline: number,
  bounds: BaselineBounds,
): readonly (readonly ['min' | 'max', number])[] {
  const { leastRatio, mostRatio, leastDifference, mostDifference } = bounds;
  const [low, high] = baseline < 0 ? (['max', 'min'] as const) : (['min', 'max'] as const);
  return [
    ...(leastRatio === undefined ? [] : [[low, baseline * leastRatio] as const]),
    ...(mostRatio === undefined ? [] : [[high, baseline * mostRatio] as const]),
    ...(leastDifference === undefined ? [] : [['min', baseline + leastDifference] as const]),
    ...(mostDifference === undefined ? [] : [['max', baseline + mostDifference] as const]),
  ];
}

function textOf(samples: readonly Sample[]): string {
  const named = samples.slice(0, mostNamed).map(({ text }) => text);
  const more = samples.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}

/** A finding of one of several queries. */
export interface NamedFinding {
  readonly name: string;
  readonly finding: Finding;
}

/**
 * Returns what several queries come to that must all pass: one that fails is enough to fail, and one that is unknown to
 * be unknown. None at all pass nothing.
 */
export function jointFinding(findings: readonly NamedFinding[]): Finding {
  const [only] = findings;
  if (only !== undefined && findings.length === 1) return only.finding;
  const named = findings.map(({ name, finding }): Judged => {
    const { verdict, because } = finding;
    return judged(verdict, because.reason, `${name}: ${because.message}`);
  });
  const values = findings.flatMap(({ name, finding: { value } }) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  const warnings = findings.flatMap(({ name, finding }) =>
    finding.warnings.map((warning) => `${name}: ${warning}`),
  );
  return {
    ...foremost(named, allPass),
    ...(values.length > 0 && { value: values.join('; ') }),
    warnings: warnings.slice(0, mostWarnings),
  };
}
