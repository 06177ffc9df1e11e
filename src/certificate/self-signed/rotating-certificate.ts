import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import {
  after,
  type Instant,
  instant,
  type Millis,
  type Monotonic,
  millis,
  seconds,
} from '#base/units.ts';
import { errorPolicy, isForbidden, isUnauthorized } from '#kubernetes/transport/api-error.ts';
import { formatTimestamp } from '#telemetry/timestamp.ts';
import type { Authority, Leaf, SecretState } from '../api.ts';
import type { CertificateMetrics } from '../metrics.ts';
import { type Plan, type Publication, plan } from '../plan.ts';
import { pauseBetweenLooks } from '../plan-lifecycle.ts';
import type { ContentToStore } from '../plan-store.ts';
import { SettableSource } from '../x509/certificate-source.ts';
import type { Issue, IssuedPair } from '../x509/issue.ts';
import type { SecretStore, StoredSecret } from './secret-store.ts';

/** Where the rotation learns what clients trust, and says what they are to trust. */
export interface BundlePort {
  readonly publication: Publication;
  /**
   * Asks that `authorities` be trusted.
   *
   * @param readAt when the look at the Secret was sent that named them; undefined: none has named any yet
   */
  want(authorities: readonly Authority[], readAt: Monotonic | undefined): void;
  onChange(changed: () => void): void;
}

/** What a {@link RotatingCertificate} works with. */
export interface RotationOptions {
  readonly store: SecretStore;
  readonly bundles: BundlePort;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<CertificateMetrics, 'setExpiry' | 'setWaiting'>;
  readonly issue: Issue;
  readonly dnsName: string;
  readonly organization: string;
  readonly expiration: Millis;
}

/** How long the start goes on while the API server has no answer. */
const startPatience = seconds(30);
const shortestRetry = seconds(1);
const longestRetry = seconds(30);
/** Writes and lost races in one look; more would be two writers that undo each other. */
const mostRounds = 8;

/** Keeps the certificate of the Secret served and renewed, together with all other replicas (D-28). */
export class RotatingCertificate {
  readonly #options: RotationOptions;
  #source: SettableSource | undefined;
  #served: Leaf | undefined;
  #remembered: readonly Authority[] = [];
  #state: SecretState = { kind: 'absent' };
  /** When the last look at the Secret was sent that found certificates there. */
  #readAt: Monotonic | undefined;
  #waitingFor: string | undefined;
  #problem: string | undefined;
  #failures = 0;
  #wake = new AbortController();

  constructor(options: RotationOptions) {
    this.#options = options;
    options.bundles.onChange(() => this.#wake.abort());
  }

  /**
   * Takes the certificate from the Secret, or makes the first one.
   *
   * @throws when the Secret cannot be used or reached; the message says what to do
   */
  async start(signal: AbortSignal): Promise<SettableSource> {
    const { clock } = this.#options;
    const givenUp = clock.monotonic() + startPatience;
    for (;;) {
      try {
        await this.#look(signal);
        if (this.#source !== undefined) return this.#source;
        throw new Error(
          this.#state.kind === 'refused' ? this.#state.message : 'Cannot find a certificate',
        );
      } catch (error) {
        if (!isTransient(error) || clock.monotonic() >= givenUp) throw error;
        this.#report('cannot read or write the Secret of the certificate', error);
        await clock.sleep(shortestRetry, { signal, owner: 'certificate' });
      }
    }
  }

  /** Rotates until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, expiration } = this.#options;
    const pause = pauseBetweenLooks(expiration);
    let lookAgain = clock.now();
    while (!signal.aborted) {
      await this.#until(lookAgain, signal);
      if (signal.aborted) return;
      this.#wake = new AbortController();
      try {
        const wanted = await this.#look(signal);
        lookAgain = instant(Math.max(wanted, after(clock.now(), pause)));
        this.#failures = 0;
        this.#problem = undefined;
      } catch (error) {
        if (signal.aborted) return;
        lookAgain = this.#failed(error);
      }
    }
  }

  async #until(moment: Instant, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const ending = AbortSignal.any([signal, this.#wake.signal]);
    const delay = millis(Math.max(0, moment - clock.now()));
    try {
      await clock.sleep(delay, { signal: ending, owner: 'certificate', background: true });
    } catch (error) {
      if (!ending.aborted) throw error;
    }
  }

  /** Takes one look at the Secret, with all that follows from it. @returns when to look again */
  async #look(signal: AbortSignal): Promise<Instant> {
    const { store, clock, bundles } = this.#options;
    let sentAt = clock.monotonic();
    let stored = await store.read(signal);
    for (let round = 0; round < mostRounds; round += 1) {
      this.#state = stored.state;
      if (stored.state.kind === 'valid') this.#readAt = sentAt;
      const decided = this.#decide(bundles.publication);
      if (decided.store === undefined) return decided.lookAgain;
      sentAt = clock.monotonic();
      stored = (await this.#write(stored, decided.store, signal)) ?? (await store.read(signal));
    }
    this.#options.log.warn('the Secret of the certificate keeps changing');
    return after(clock.now(), longestRetry);
  }

  #decide(publication: Publication): Plan {
    const { clock, dnsName, bundles } = this.#options;
    const decided = plan(
      {
        secret: this.#state,
        served: this.#served,
        remembered: this.#remembered,
        publication,
        dnsName,
      },
      clock.now(),
    );
    if (this.#state.kind === 'valid') this.#remembered = this.#state.content.authorities;
    if (decided.serve !== undefined) this.#serve(decided.serve);
    if (decided.authorities.length > 0) bundles.want(decided.authorities, this.#readAt);
    this.#showWaiting(decided);
    return decided;
  }

  #serve(leaf: Leaf): void {
    const { log, metrics, dnsName } = this.#options;
    if (this.#served?.id === leaf.id) return;
    this.#served = leaf;
    metrics.setExpiry(leaf.notAfter);
    this.#source ??= new SettableSource(leaf);
    this.#source.set(leaf);
    log.info('certificate served', {
      names: leaf.dnsNames,
      expires: formatTimestamp(leaf.notAfter),
    });
    if (!leaf.dnsNames.includes(dnsName)) {
      log.warn('the certificate does not name this operator', { names: leaf.dnsNames, dnsName });
    }
  }

  #showWaiting({ waiting }: Plan): void {
    const { log, metrics } = this.#options;
    if (waiting?.message === this.#waitingFor) return;
    this.#waitingFor = waiting?.message;
    metrics.setWaiting(waiting?.reason);
    if (waiting !== undefined) {
      log.warn('the switch of the certificate waits', {
        reason: waiting.reason,
        why: waiting.message,
      });
    }
  }

  async #write(
    basis: StoredSecret,
    content: ContentToStore,
    signal: AbortSignal,
  ): Promise<StoredSecret | undefined> {
    const { store, log } = this.#options;
    const isNew = content.current === 'new' || content.next?.pair === 'new';
    const issued = isNew ? await this.#issue(content.dnsNames) : undefined;
    const written = await store.write(basis, { ...content, issued }, signal);
    const { reason, message: why } = content.because;
    if (written === undefined) log.debug('another replica wrote the Secret first', { reason });
    else log.info('certificate stored', { reason, why });
    return written;
  }

  #issue(dnsNames: readonly string[]): Promise<IssuedPair> {
    const { issue, organization, expiration, clock } = this.#options;
    return issue({ dnsNames, organization, expiration, now: clock.now() });
  }

  /**
   * Returns when to look again after a failure. Without the Secret only time counts: what clients trust is not known, and is
   * not guessed.
   */
  #failed(error: unknown): Instant {
    const { clock, bundles } = this.#options;
    this.#report('cannot read or write the Secret of the certificate', error);
    const { publication } = bundles;
    this.#decide(
      publication.kind === 'managed' ? { ...publication, since: new Map() } : publication,
    );
    const delay = Math.min(shortestRetry * 2 ** Math.min(this.#failures, 10), longestRetry);
    this.#failures += 1;
    return after(clock.now(), millis(delay));
  }

  #report(message: string, error: unknown): void {
    const err = errorOf(error);
    if (this.#problem === err.message) return;
    this.#problem = err.message;
    this.#options.log.error(message, { err });
  }
}

/** Reports whether the same request may succeed a little later, without any change. */
function isTransient(error: unknown): boolean {
  if (isForbidden(error) || isUnauthorized(error)) return false;
  return errorPolicy(error).kind === 'backoff';
}
