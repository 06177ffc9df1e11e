/** Why a piece of input was refused: where it is, what it should be and what was seen. */
export interface Problem {
  /** Path of the field, such as `metadata.annotations["rollout-max-unavailable"]`. */
  readonly path: string;
  /** A clause that completes `<path> …`: what is required and what was found instead. */
  readonly message: string;
}

/** Returns `problem` as a clause, where it comes first. */
export function problemText({ path, message }: Problem): string {
  return `${path} ${message}`;
}

/** The outcome of parsing input that may be wrong: a value, or where and why there is none. */
export type Parsed<T> =
  | { readonly kind: 'valid'; readonly value: T }
  | { readonly kind: 'invalid'; readonly problem: Problem };

/** Returns a successful parse. */
export function valid<T>(value: T): Parsed<T> {
  return { kind: 'valid', value };
}

/** Returns a refused input at `path`; `message` says what is required and what was seen. */
export function invalid(path: string, message: string): Parsed<never> {
  return { kind: 'invalid', problem: { path, message } };
}
