import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorOf } from '#base/error-of.ts';

const advice =
  'keep all files of the build in the folder of the program, and restart it after a new build';

/**
 * Says which file is missing where a part of the program cannot be loaded: in a bundle it is a file of its own, which may have
 * been left behind, or replaced by another build while the program ran.
 *
 * @throws that, or `error` as it is
 */
export function withMissingFile(error: unknown): never {
  const path = missingPath(errorOf(error));
  // Without a cause, which says less: some show only the innermost.
  if (path !== undefined) throw new Error(`the file ${path} is missing: ${advice}`);
  // Node does not say in which file.
  if (error instanceof SyntaxError) {
    throw new Error(`a file of the program is damaged (${error.message}): ${advice}`);
  }
  throw error;
}

/** Returns the file that was not found; undefined where something else failed, or a package was not found. */
function missingPath({
  code,
  url,
  message,
}: NodeJS.ErrnoException & { readonly url?: unknown }): string | undefined {
  if (code === 'ERR_MODULE_NOT_FOUND') {
    return typeof url === 'string' ? fileURLToPath(url) : undefined;
  }
  // What `require` says, which names the file as it is asked for, and who asks.
  const { name, asking } = requiredFile.exec(message)?.groups ?? {};
  return name === undefined || asking === undefined ? undefined : join(dirname(asking), name);
}

const requiredFile = /^Cannot find module '(?<name>\.\/[^']+)'\nRequire stack:\n- (?<asking>.+)/;
