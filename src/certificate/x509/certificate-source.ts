/** A certificate and its key, as PEM texts; the certificate may be a chain. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Where a TLS server finds what it serves with, and hears that it has changed. */
export interface CertificateSource {
  current(): KeyPair;
  /** Calls `changed` after each change of {@link current}, synchronously. */
  onChange(changed: () => void): void;
}

/** A source that keeps itself current while it runs. */
export interface RunningCertificate {
  readonly source: CertificateSource;
  /** Resolves once clients can be expected to trust the source, which takes {@link run}. */
  readonly ready: Promise<void>;
  /** Keeps the source current until `signal` aborts; then resolves. */
  run(signal: AbortSignal): Promise<void>;
}

/** A source that serves what it is given. */
export class SettableSource implements CertificateSource {
  #pair: KeyPair;
  readonly #listeners: (() => void)[] = [];

  constructor(pair: KeyPair) {
    this.#pair = pair;
  }

  current(): KeyPair {
    return this.#pair;
  }

  onChange(changed: () => void): void {
    this.#listeners.push(changed);
  }

  /** Serves `pair` from now on; notifies the listeners where it differs. */
  set(pair: KeyPair): void {
    if (pair.cert === this.#pair.cert && pair.key === this.#pair.key) return;
    this.#pair = Object.freeze({ cert: pair.cert, key: pair.key });
    for (const changed of this.#listeners) changed();
  }
}
