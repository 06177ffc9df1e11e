import { randomInt } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorOf } from '#base/error-of.ts';
import type { OutputFile } from './convert/output-files.ts';

/** Largest input, in bytes: the largest files that are in use have some tens of thousands. */
const mostBytes = 1_048_576;
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A file that cannot be read or written. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

/** Returns 20 random letters and digits. */
export function randomIdentity(): string {
  return Array.from({ length: 20 }, () => letters.charAt(randomInt(letters.length))).join('');
}

/** Returns the text of the file `path`, or of standard input for `-`. @throws {FileError} */
export async function readInput(path: string): Promise<string> {
  const stream = path === '-' ? process.stdin : createReadStream(path);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      if (!(chunk instanceof Uint8Array)) continue;
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > mostBytes) throw new Error(`it has more than ${mostBytes} bytes`);
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    throw new FileError(`Cannot read ${path}: ${errorOf(error).message}`, { cause: error });
  }
}

/** Writes `files` below `folder`, which is made where it is not there. @throws {FileError} naming the first that cannot be written */
export async function writeFiles(folder: string, files: readonly OutputFile[]): Promise<void> {
  for (const { path, text } of files) {
    const whole = join(folder, path);
    try {
      await mkdir(dirname(whole), { recursive: true });
      await writeFile(whole, text);
    } catch (error) {
      throw new FileError(`Cannot write ${whole}: ${errorOf(error).message}`, { cause: error });
    }
  }
}
