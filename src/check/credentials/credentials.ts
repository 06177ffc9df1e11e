import type { Clock } from '#base/clock.ts';
import { type Parsed, valid } from '#base/parsed.ts';
import { type Monotonic, seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { SharedRequest } from '#kubernetes/shared-request.ts';
import { undefinedIfAbsent } from '#kubernetes/transport/api-error.ts';
import { parseCredentials, secretValues } from './parse-credentials.ts';

/** What a Secret says of how to ask. */
export interface KnownCredentials {
  /** Value of an `Authorization` header, where it has one. */
  readonly authorization: string | undefined;
  /** What may be the values of other headers, by key; see `parseHeaderValue`. */
  readonly values: ReadonlyMap<string, string>;
}

/** What was in a Secret, and when that was asked for. */
interface Known {
  readonly credentials: Parsed<KnownCredentials>;
  readonly askedAt: Monotonic;
}

/** So long what was read is taken for what is there: many ask by one Secret at the same time. */
const freshFor = seconds(1);
/** No request used a Secret for so long: what was there is not kept in memory. */
const forgottenAfter = seconds(60);

/**
 * Credentials by which Prometheus is asked, read one Secret at a time and just before they are needed: no Secret but
 * those that are named is ever seen, and one that was replaced is used with the next question.
 */
export class Credentials {
  readonly #client: Client;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #known = new Map<string, Known>();
  readonly #reading = new Map<string, SharedRequest>();

  constructor(client: Client, clock: Pick<Clock, 'monotonic'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Returns what was in the Secret when it was read last; undefined where it was not read. */
  of(namespace: string, name: string): Parsed<KnownCredentials> | undefined {
    return this.#known.get(`${namespace}/${name}`)?.credentials;
  }

  /** Reports whether what {@link of} returns was read recently. */
  isFresh(namespace: string, name: string): boolean {
    const known = this.#known.get(`${namespace}/${name}`);
    return known !== undefined && this.#clock.monotonic() - known.askedAt <= freshFor;
  }

  /** Reads the Secret; all that ask at the same time share one request. @throws what that fails with, unless there is none */
  async read(namespace: string, name: string, signal: AbortSignal): Promise<void> {
    const key = `${namespace}/${name}`;
    const reading = this.#reading.get(key) ?? new SharedRequest(() => this.#read(namespace, name));
    this.#reading.set(key, reading);
    try {
      await reading.join(signal);
    } finally {
      this.#reading.delete(key);
    }
  }

  async #read(namespace: string, name: string): Promise<void> {
    const askedAt = this.#clock.monotonic();
    this.#forgetOld(askedAt);
    const secret = await this.#client
      .get(resourceTypes.secrets, { namespace, name })
      .catch(undefinedIfAbsent);
    const parsed = parseCredentials(name, secret);
    const credentials =
      parsed.kind === 'invalid'
        ? parsed
        : valid({ authorization: parsed.value, values: secretValues(secret) });
    this.#known.set(`${namespace}/${name}`, { credentials, askedAt });
  }

  #forgetOld(now: Monotonic): void {
    for (const [key, { askedAt }] of this.#known) {
      if (now - askedAt > forgottenAfter) this.#known.delete(key);
    }
  }
}

/** Which Secrets one pass has read: each once, and those that the spec names by the time that they are needed. */
export class SecretReads {
  readonly #credentials: Credentials;
  readonly #read = new Set<string>();

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /** Returns what reads those of `names` that were not read just now, or in this pass; undefined where none is left. */
  missing(
    namespace: string,
    names: readonly string[],
  ): ((signal: AbortSignal) => Promise<void>) | undefined {
    const missing = names.filter(
      (name) => !this.#read.has(name) && !this.#credentials.isFresh(namespace, name),
    );
    if (missing.length === 0) return undefined;
    for (const name of missing) this.#read.add(name);
    return async (signal) => {
      await Promise.all(missing.map((name) => this.#credentials.read(namespace, name, signal)));
    };
  }
}
