import type { Findings, Size } from './figures.ts';

/** One bench. */
export interface Bench {
  /** What it measures, for `--help`. */
  readonly about: string;
  run(size: Size): Promise<readonly Findings[]>;
}
