import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { errorOf } from '#base/error-of.ts';
import { quoted } from '#base/text/quoted.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';

const variable = 'AWS_CA_BUNDLE';

/**
 * Returns the certificates of the authorities that `AWS_CA_BUNDLE` names, in PEM; undefined where it names none.
 *
 * @throws {Error} a clause that names the file, when it cannot be read or has no certificates
 */
export async function readAuthorityBundle(env: Environment): Promise<string | undefined> {
  const path = env[variable];
  if (path === undefined || path === '') return undefined;
  try {
    const text = await readFile(path, 'utf8');
    if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it has no certificates');
    createSecureContext({ ca: text });
    return text;
  } catch (error) {
    const { message } = errorOf(error);
    const what = `the authorities in the file ${quoted(path)} of ${variable} cannot be read`;
    throw new Error(`${what}: ${message}`, { cause: error });
  }
}
