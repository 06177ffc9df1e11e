import { createHash } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { type Monotonic, monotonic, seconds } from '#base/units.ts';
import type { Client } from '../client.ts';

/** Whether a user may get `/metrics`. */
export type ScrapeAnswer =
  | { readonly kind: 'allowed' }
  /** It is unknown who asks. */
  | { readonly kind: 'unauthenticated' }
  | { readonly kind: 'forbidden'; readonly user: string }
  /** The API server could not be asked. */
  | { readonly kind: 'unknown'; readonly reason: string };

const tokenReviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const accessReviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/** How long an answer counts: a scraper comes more often than rights change. */
const remembered = seconds(30);
/** Answers that are kept at once, so that made-up tokens take no room. */
const mostRemembered = 64;
const longestToken = 16_384;
const answerWithin = seconds(10);

interface Remembered {
  readonly answer: Promise<ScrapeAnswer>;
  readonly until: Monotonic;
}

/**
 * Asks the API server who owns the token of a scrape, and whether that account may get `/metrics`: TokenReview, then
 * SubjectAccessReview, as controller-runtime does for `--metrics-secure`.
 */
export class ScrapeAccess {
  readonly #client: Client;
  readonly #clock: Clock;
  /** Keyed by a digest: tokens are not kept. */
  readonly #answers = new Map<string, Remembered>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Asks the API server whether a scrape is permitted, and never rejects.
   *
   * @param authorization the header, empty where there is none
   */
  async ask(authorization: string): Promise<ScrapeAnswer> {
    const [, token = ''] = /^Bearer ([^\s]+)$/i.exec(authorization) ?? [];
    if (token === '' || token.length > longestToken) return { kind: 'unauthenticated' };
    const now = this.#clock.monotonic();
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#answers.get(key);
    if (known !== undefined && now < known.until) return known.answer;
    const answer = this.#review(token);
    this.#remember(key, { answer, until: monotonic(now + remembered) });
    const result = await answer;
    // What could not be found out is asked again at the next scrape.
    if (result.kind === 'unknown') this.#answers.delete(key);
    return result;
  }

  #remember(key: string, entry: Remembered): void {
    this.#answers.delete(key);
    this.#answers.set(key, entry);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > mostRemembered && oldest !== undefined) this.#answers.delete(oldest);
  }

  async #review(token: string): Promise<ScrapeAnswer> {
    try {
      const { authenticated, user } = await this.#post(tokenReviews, 'TokenReview', { token });
      if (authenticated !== true || !isJsonObject(user)) return { kind: 'unauthenticated' };
      return await this.#mayGet(user);
    } catch (error) {
      return { kind: 'unknown', reason: errorOf(error).message };
    }
  }

  async #mayGet({ username, uid, groups, extra }: JsonObject): Promise<ScrapeAnswer> {
    const { allowed } = await this.#post(accessReviews, 'SubjectAccessReview', {
      user: username,
      uid,
      groups,
      extra,
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
    });
    if (allowed === true) return { kind: 'allowed' };
    return { kind: 'forbidden', user: typeof username === 'string' ? username : '' };
  }

  /** Returns the `status` that the server answers `spec` with. */
  async #post(path: string, kind: string, spec: JsonObject): Promise<JsonObject> {
    const apiVersion = path.split('/').slice(2, 4).join('/');
    const body = { apiVersion, kind, spec };
    const answer: JsonValue = await this.#client.raw(
      { method: 'POST', path, body },
      { timeout: answerWithin },
    );
    const status = isJsonObject(answer) ? answer['status'] : undefined;
    if (isJsonObject(status)) return status;
    throw new Error(`the ${kind} was answered without a status`);
  }
}
