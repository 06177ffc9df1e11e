import { fileURLToPath } from 'node:url';
import { errorOf } from '#base/error-of.ts';

/**
 * Says which file is missing where a part of the program cannot be loaded: in a bundle it is a file of its own, which may have
 * been left behind.
 *
 * @throws that, or `error` as it is
 */
export function withMissingFile(error: unknown): never {
  const { code, url }: NodeJS.ErrnoException & { readonly url?: unknown } = errorOf(error);
  if (code !== 'ERR_MODULE_NOT_FOUND' || typeof url !== 'string') throw error;
  const path = fileURLToPath(url);
  const advice = 'keep all files of the build next to the program';
  throw new Error(`the file ${path} is missing: ${advice}`, { cause: error });
}
