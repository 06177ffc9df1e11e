import type { Findings, Size } from './figures.ts';

/** One bench. */
export interface Bench {
  /** What it measures, for `--help`. */
  readonly about: string;
  run(size: Size): Promise<readonly Findings[]>;
  /** The same on a real control plane, where that can be measured. */
  readonly runOnReal?: (size: Size) => Promise<readonly Findings[]>;
}
