/** The figures that benches find, and whether each reaches its bound. */
import { type Bound, type BoundedFigure, bounds } from './bounds.ts';

/** A measured figure. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** How it was measured. */
  readonly how: string;
  readonly bound: Bound | undefined;
  /** `skip`: the bound is about speed and says nothing at this size. */
  readonly verdict: 'PASS' | 'FAIL' | 'skip' | 'info';
}

/** What one bench found out. */
export interface Findings {
  readonly bench: string;
  /** What was run, in a sentence. */
  readonly setting: string;
  readonly figures: readonly Figure[];
}

/** Sizes in which benches run: `tiny` shows that they work and measures nothing. */
export type Size = 'full' | 'tiny';

/** A figure that has a bound. */
export function bounded(
  name: BoundedFigure,
  measured: { readonly value: number; readonly how: string; readonly of?: string },
  size: Size,
): Figure {
  const bound: Bound = bounds[name];
  const { value, how, of } = measured;
  const label = of === undefined ? name : `${name} (${of})`;
  return {
    name: label,
    value,
    unit: bound.unit,
    how,
    bound,
    verdict: verdictOf(bound, value, size),
  };
}

/** A figure that is only reported. */
export function told(
  name: string,
  measured: { readonly value: number; readonly unit: string; readonly how: string },
): Figure {
  return { name, ...measured, bound: undefined, verdict: 'info' };
}

function verdictOf(bound: Bound, value: number, size: Size): Figure['verdict'] {
  if (bound.isSpeed && size === 'tiny') return 'skip';
  const { atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY } = bound;
  // A figure that could not be taken (NaN) has not reached its bound.
  return value <= atMost && value >= atLeast ? 'PASS' : 'FAIL';
}

/** The value below which `share` of `samples` lie (nearest rank); NaN of none. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
