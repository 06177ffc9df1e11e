/** A certificate and its key, as PEM texts; the certificate may be a chain. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** What a server of webhooks serves with. */
export interface ServedPair extends KeyPair {
  /** The CAs of which a client must have a certificate, as PEM; absent where every client is answered. */
  readonly clientCa?: string;
}

/** Where a TLS server finds what it serves with, and hears that it has changed. */
export interface CertificateSource {
  current(): ServedPair;
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
  #pair: ServedPair;
  readonly #listeners: (() => void)[] = [];

  constructor(pair: ServedPair) {
    this.#pair = pair;
  }

  current(): ServedPair {
    return this.#pair;
  }

  onChange(changed: () => void): void {
    this.#listeners.push(changed);
  }

  /** Serves `pair` from now on; notifies the listeners where it differs. */
  set({ cert, key, clientCa }: ServedPair): void {
    const { cert: oldCert, key: oldKey, clientCa: oldCa } = this.#pair;
    if (cert === oldCert && key === oldKey && clientCa === oldCa) return;
    this.#pair = Object.freeze({ cert, key, ...(clientCa !== undefined && { clientCa }) });
    for (const changed of this.#listeners) changed();
  }
}
