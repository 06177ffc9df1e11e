import type { NoReading } from '../answer.ts';

/** One value as a server gave it. */
export interface Sample {
  /** Not a number where it is NaN, a histogram, or no number at all. */
  readonly value: number;
  /** As the server wrote it, cut to a length that fits a message. */
  readonly text: string;
}

/** What a query gave, before it is judged. */
export type QueryReading =
  | {
      /** One element for each series, of which there is at least one. */
      readonly kind: 'vector';
      readonly samples: readonly Sample[];
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'scalar'; readonly sample: Sample; readonly warnings: readonly string[] }
  | {
      /** Series over time: a range vector. */
      readonly kind: 'matrix';
      /** Number of series, at least one. */
      readonly series: number;
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'string'; readonly warnings: readonly string[] }
  /** An answer without any element. */
  | { readonly kind: 'no-data'; readonly warnings: readonly string[] }
  | {
      readonly kind: 'error';
      readonly reason: NoReading;
      /** A sentence that names what was asked, and why there is no answer. */
      readonly message: string;
    };
