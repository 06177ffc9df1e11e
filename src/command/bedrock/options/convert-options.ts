/** What one deploy is made of besides the file, so far as the command line says it. */
export interface DeployOptions {
  /** `-`: standard input. */
  readonly file: string;
  readonly service: string;
  readonly stage: string;
  readonly cluster: string | undefined;
  /** References by name of the image. */
  readonly images: ReadonlyMap<string, string>;
  readonly version: string | undefined;
  readonly git: { readonly branch?: string; readonly origin?: string; readonly sha?: string };
  readonly bapi: { readonly bapiUrl: string; readonly stageId: string } | undefined;
  readonly dc: string | undefined;
  readonly phases: PhaseChoice;
  /** Undefined: a random one. */
  readonly identity: string | undefined;
  /** Unknown keys are warned of, and not refused. */
  readonly isLenient: boolean;
  /** Warnings are errors. */
  readonly isStrict: boolean;
  /** Percentages that are no phase are fine. */
  readonly isForced: boolean;
  readonly areTagsAllowed: boolean;
}

/** Which of the phases are converted. */
export type PhaseChoice =
  | { readonly kind: 'first' }
  | { readonly kind: 'percent'; readonly percent: number }
  /** From 0. */
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'all' };

/** How `bedrock convert` writes. */
export interface OutputOptions {
  readonly format: 'yaml' | 'json';
  /** A folder; undefined: standard output. */
  readonly out: string | undefined;
}
