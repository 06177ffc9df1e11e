import type { Findings, Size } from './figures.ts';

/** One bench. */
export interface Bench {
  /** What it measures, for `--help`. */
  readonly about: string;
  readonly run: (size: Size) => Promise<readonly Findings[]>;
  /** What of it can be run by itself, as `<bench>/<part>`. */
  readonly parts?: Readonly<Record<string, Bench['run']>>;
  /** The same on a real control plane, where that can be measured. */
  readonly runOnReal?: (size: Size) => Promise<readonly Findings[]>;
}
