import type { FlagOutcome, FlagSet } from './flags/go-flags.ts';

/** What a command line asks for. */
export type Outcome<C> = Accepted<C> | Exit;

/** A command line that can be run. */
export interface Accepted<C> {
  readonly kind: 'run';
  readonly config: C;
  /** The first argument that is no flag, and all that follow: not read, and to be reported. */
  readonly ignored: readonly string[];
}

/** The program is to print `stderr`, and to exit with `code`. */
export interface Exit {
  readonly kind: 'exit';
  readonly code: 0 | 1 | 2;
  readonly stderr: string;
}

/** Returns the end of the program with `code`, after it printed `stderr`. */
export function exit(code: Exit['code'], stderr: string): Exit {
  return { kind: 'exit', code, stderr };
}

/** Has `set` read `args`. Help exits 0 with the usage, bad syntax 2 with one line and the usage. */
export function parseArguments(
  set: FlagSet,
  args: readonly string[],
): Extract<FlagOutcome, { readonly kind: 'parsed' }> | Exit {
  const outcome = set.parse(args);
  if (outcome.kind === 'help') return exit(0, set.usage());
  if (outcome.kind === 'refused') return exit(2, `${outcome.reason}\n${set.usage()}`);
  return outcome;
}
