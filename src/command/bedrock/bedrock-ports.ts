import type { OutputFile } from './convert/output-files.ts';
import { type Finding, findingLines } from './parse/finding.ts';

/** What the commands need of the outside. */
export interface BedrockPorts {
  /** @throws {FileError} */
  readonly readInput: (path: string) => Promise<string>;
  /** @throws {FileError} */
  readonly writeFiles: (folder: string, files: readonly OutputFile[]) => Promise<void>;
  /** 20 letters and digits. */
  readonly randomIdentity: () => string;
  /** Writes to standard output. */
  readonly out: (text: string) => void;
  /** Writes to standard error. */
  readonly err: (text: string) => void;
}

/** Writes `text`, and returns `code`. */
export function told<Code extends number>(
  write: (text: string) => void,
  text: string,
  code: Code,
): Code {
  write(text);
  return code;
}

/** Returns one line for each of `findings` on `file`, with the last line break. */
export function findingsText(file: string, findings: readonly Finding[]): string {
  const name = file === '-' ? 'standard input' : file;
  return findingLines(name, findings)
    .map((line) => `${line}\n`)
    .join('');
}
