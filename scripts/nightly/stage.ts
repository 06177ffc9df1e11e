/** A part of the night that runs, and is counted and repeated, by itself. */

/** A program that a stage cannot do without. */
export type Tool = 'go' | 'promtool' | 'prometheus' | 'mmdebstrap' | 'openssl' | 'git';

/** How to get each tool, as a command of Debian or a sentence. */
export const sourceOfTool: Readonly<Record<Tool, string>> = {
  go: 'install Go 1.26 or newer from https://go.dev',
  promtool: 'apt-get install prometheus',
  prometheus: 'apt-get install prometheus',
  mmdebstrap: 'apt-get install mmdebstrap',
  openssl: 'apt-get install openssl',
  git: 'apt-get install git',
};

/** One stage. */
export interface Stage {
  /** Unique; words with blanks between them, which `npm run nightly -- <word>` chooses by. */
  readonly name: string;
  /** What runs, for /bin/sh, in the root of the checkout. */
  readonly command: string;
  readonly needs: readonly Tool[];
}

/** How a stage ended. */
export interface StageResult {
  readonly name: string;
  readonly verdict: 'passed' | 'failed';
  readonly seconds: number;
  /** What the stage counted: tests, or planted bugs, or stories; empty where it counts nothing. */
  readonly counted: string;
  /** What was skipped and why, a line each. */
  readonly skips: readonly string[];
  /** Why it failed: the last lines of its output; empty where it passed. */
  readonly why: string;
  /** The file with all that it wrote. */
  readonly log: string;
}
