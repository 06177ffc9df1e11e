/** A regular expression of RE2 that was compiled. */
export interface Pattern {
  /** How many groups in parentheses it has. */
  readonly groupCount: number;
  /**
   * Returns the text that group `group` matched in the first match in `text`, 0 being all that matched; undefined where
   * there is no match, or the group has no part in it.
   */
  groupIn(text: string, group: number): string | undefined;
}

/** What became of a pattern; the text of what is refused is what the compiler of Go says. */
export type CompiledPattern =
  | { readonly kind: 'compiled'; readonly pattern: Pattern }
  | { readonly kind: 'refused'; readonly text: string }
  /** The compiler itself failed: what the pattern says is unknown. */
  | { readonly kind: 'unknown'; readonly text: string };

/** Compiles a pattern as it stands; never throws. Time and memory are bounded, whatever the pattern. */
export type PatternCompiler = (source: string) => CompiledPattern;
