/** What the gate takes of one file of the real lane. */
export interface GateTopic {
  /** The file, from the root of the checkout. */
  readonly file: string;
  /** Titles of tests, or of a group of which all run; a title that begins so counts as well. */
  readonly titles: readonly string[];
  /** Why these, or why none. */
  readonly why: string;
}
