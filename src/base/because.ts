/**
 * Why something is done, or not done. `reason` is one PascalCase word of a closed union, `message` a sentence
 * for humans; condition, Event, log line, gauge and terminal all show this one value.
 */
export interface Because<Reason extends string = string> {
  readonly reason: Reason;
  readonly message: string;
}
