import { readFile } from 'node:fs/promises';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { type Millis, seconds } from '#base/units.ts';
import { parseAuthorities } from './read-pair.ts';
import { type RunningCertificate, SettableSource } from './x509/certificate-source.ts';

/** What {@link openClientAuthorities} works with. */
export interface ClientAuthorityOptions {
  /** `-server-tls.client-ca` */
  readonly file: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Time between two looks at the file. @default 10 s */
  readonly poll?: Millis;
  /** The text of a file. @default from the file system */
  readonly read?: (path: string) => Promise<string>;
}

/**
 * Opens the CAs of which a client of the webhooks must have a certificate: the file is read again when it changes, so that
 * the CA of API servers can be replaced.
 *
 * @throws {Error} one sentence, when the file cannot be read or is no list of certificates: to answer all is what the flag forbids
 */
export async function openClientAuthorities(
  options: ClientAuthorityOptions,
): Promise<ClientAuthorities> {
  const first = await readAuthorities(options);
  if (first.kind === 'valid') return new ClientAuthorities(options, first.value);
  throw new Error(`Cannot tell clients of the webhooks apart: ${sentenceOf(first)}`);
}

/** The CAs of one file, kept current. */
export class ClientAuthorities {
  readonly #options: ClientAuthorityOptions;
  #text: string;
  #changed: () => void = () => undefined;
  /** What was last reported, so that one cause is one line. */
  #reported = '';

  constructor(options: ClientAuthorityOptions, text: string) {
    this.#options = options;
    this.#text = text;
  }

  /** Returns `opened` with these CAs beside what it serves; it runs both. */
  beside<T extends RunningCertificate>(opened: T): T {
    const together = (): Parameters<SettableSource['set']>[0] => {
      const { cert, key } = opened.source.current();
      return { cert, key, clientCa: this.#text };
    };
    const source = new SettableSource(together());
    this.#changed = () => source.set(together());
    opened.source.onChange(this.#changed);
    const run = async (signal: AbortSignal): Promise<void> => {
      await Promise.all([opened.run(signal), this.#watch(signal)]);
    };
    return { ...opened, source, run };
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { clock, poll = seconds(10) } = this.#options;
    while (!signal.aborted) {
      try {
        await clock.sleep(poll, { signal, owner: 'CAs of clients', background: true });
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      await this.#look();
    }
  }

  async #look(): Promise<void> {
    const { log, file } = this.#options;
    const read = await readAuthorities(this.#options);
    if (read.kind === 'invalid') {
      const why = sentenceOf(read);
      if (why === this.#reported) return;
      this.#reported = why;
      log.warn('the CAs of clients cannot be used; those that were read before count', { why });
      return;
    }
    this.#reported = '';
    if (read.value === this.#text) return;
    this.#text = read.value;
    log.info('CAs of clients read again', { file });
    this.#changed();
  }
}

async function readAuthorities({
  file,
  read = readText,
}: ClientAuthorityOptions): Promise<Parsed<string>> {
  let text: string;
  try {
    text = await read(file);
  } catch (error) {
    return invalid(file, `must be a readable file: ${errorOf(error).message}`);
  }
  const parsed = parseAuthorities(text, file);
  return parsed.kind === 'invalid' ? parsed : valid(text);
}

function sentenceOf({ problem }: Extract<Parsed<string>, { kind: 'invalid' }>): string {
  return `${problem.path} ${problem.message}`;
}

function readText(path: string): Promise<string> {
  return readFile(path, 'utf8');
}
