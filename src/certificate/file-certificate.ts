import { readFile } from 'node:fs/promises';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { invalid, type Parsed } from '#base/parsed.ts';
import { type Millis, seconds } from '#base/units.ts';
import type { CertificateMetrics } from './metrics.ts';
import { type CheckedPair, checkPair } from './read-pair.ts';
import { type RunningCertificate, SettableSource } from './x509/certificate-source.ts';

/** What {@link openFileCertificate} works with. */
export interface FileCertificateOptions {
  /** `-server-tls.cert-file` */
  readonly certFile: string;
  /** `-server-tls.key-file` */
  readonly keyFile: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<CertificateMetrics, 'setExpiry'>;
  /** Time between two looks at the files. @default 10 s */
  readonly poll?: Millis;
  /** The text of a file. @default from the file system */
  readonly read?: (path: string) => Promise<string>;
}

/**
 * Opens the certificate in two files, read again when they change (the peer reads them once).
 *
 * @throws when they cannot be used at the start, or have expired: the program cannot serve then
 */
export async function openFileCertificate(
  options: FileCertificateOptions,
): Promise<RunningCertificate> {
  const { clock, certFile } = options;
  const first = await readPair(options);
  if (first.kind === 'invalid') throw new Error(sentence(first.problem));
  if (first.value.notAfter <= clock.now()) {
    throw new Error(`Cannot serve with the certificate in ${certFile} as it has expired`);
  }
  const files = new CertificateFiles(options, first.value);
  return {
    source: files.source,
    ready: Promise.resolve(),
    run: (signal) => files.run(signal),
  };
}

class CertificateFiles {
  readonly source: SettableSource;
  readonly #options: FileCertificateOptions;
  #notAfter: number;
  /** What was last reported, so that one cause is one line. */
  #reported = '';

  constructor(options: FileCertificateOptions, first: CheckedPair) {
    this.#options = options;
    this.source = new SettableSource(first);
    this.#notAfter = first.notAfter;
    options.metrics.setExpiry(first.notAfter);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, poll = seconds(10) } = this.#options;
    while (!signal.aborted) {
      try {
        await clock.sleep(poll, { signal, owner: 'certificate files', background: true });
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      await this.#look();
    }
  }

  async #look(): Promise<void> {
    const { log, metrics, clock, certFile } = this.#options;
    const pair = await readPair(this.#options);
    if (pair.kind === 'invalid') {
      // Also what is seen in the middle of a change: the next look finds the whole pair.
      this.#report(sentence(pair.problem));
      return;
    }
    const before = this.source.current();
    this.source.set(pair.value);
    if (this.source.current() !== before) {
      this.#notAfter = pair.value.notAfter;
      metrics.setExpiry(pair.value.notAfter);
      log.info('certificate files read again', { file: certFile });
    }
    if (this.#notAfter > clock.now()) this.#reported = '';
    else this.#report(`the certificate in ${certFile} has expired`);
  }

  #report(why: string): void {
    if (this.#reported === why) return;
    this.#reported = why;
    this.#options.log.warn('the certificate files cannot be used; what was read before is served', {
      why,
    });
  }
}

/** Reads both files by their content: whichever way they are replaced, a changed text is seen and a torn pair is not taken. */
async function readPair({
  certFile,
  keyFile,
  read = readText,
}: FileCertificateOptions): Promise<Parsed<CheckedPair>> {
  const texts: string[] = [];
  for (const path of [certFile, keyFile]) {
    try {
      texts.push(await read(path));
    } catch (error) {
      const why = errorOf(error).message;
      return invalid(path, `must be a readable file: ${why}`);
    }
  }
  const [cert = '', key = ''] = texts;
  return checkPair({ cert, key }, { cert: certFile, key: keyFile });
}

function readText(path: string): Promise<string> {
  return readFile(path, 'utf8');
}

function sentence({ path, message }: { readonly path: string; readonly message: string }): string {
  return `Cannot serve with the certificate files: ${path} ${message}`;
}
