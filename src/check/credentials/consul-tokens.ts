import type { Clock } from '#base/clock.ts';
import type { Parsed } from '#base/parsed.ts';
import { type Monotonic, seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { undefinedIfAbsent } from '#kubernetes/transport/api-error.ts';
import { parseConsulToken, type TokenRef } from './parse-consul-token.ts';

/** Returns the operator's own token as it is now; undefined where it has none. */
export type OwnToken = () => Promise<Parsed<string | undefined>>;

/** Where the tokens of Consul are read. */
export interface ConsulTokensOptions {
  readonly client: Pick<Client, 'get'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** @default the operator has none */
  readonly own?: OwnToken;
}

interface Known {
  readonly token: Promise<Parsed<string>>;
  readonly askedAt: Monotonic;
}

/** So long what was read is taken for what is there, and kept in memory. */
const freshFor = seconds(60);

/** Tokens by which Consul is asked, read one Secret at a time: no Secret but those that are named is ever seen. */
export class ConsulTokens {
  readonly #options: ConsulTokensOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: ConsulTokensOptions) {
    this.#options = options;
  }

  /**
   * Returns the token at `ref`, or the operator's own one.
   *
   * @param how whether Consul did not take the one before: it is read again
   * @throws what reading the Secret fails with, unless there is none
   */
  async of(
    ref: TokenRef | undefined,
    { isDoubted }: { readonly isDoubted: boolean },
  ): Promise<Parsed<string | undefined>> {
    const { own, clock } = this.#options;
    if (ref === undefined) return (await own?.()) ?? { kind: 'valid', value: undefined };
    const now = clock.monotonic();
    this.#forgetOld(now);
    const key = `${ref.namespace}/${ref.name}/${ref.key}`;
    const known = this.#known.get(key);
    if (known !== undefined && !(isDoubted && now > known.askedAt)) return known.token;
    const token = this.#read(ref);
    this.#known.set(key, { token, askedAt: now });
    token.catch(() => this.#known.delete(key));
    return token;
  }

  async #read(ref: TokenRef): Promise<Parsed<string>> {
    const { namespace, name } = ref;
    const secret = await this.#options.client
      .get(resourceTypes.secrets, { namespace, name })
      .catch(undefinedIfAbsent);
    return parseConsulToken(ref, secret);
  }

  #forgetOld(now: Monotonic): void {
    for (const [key, { askedAt }] of this.#known) {
      if (now - askedAt > freshFor) this.#known.delete(key);
    }
  }
}
