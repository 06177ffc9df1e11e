import { isDeepStrictEqual } from 'node:util';
import type { Clock, Timer } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { problemText } from '#base/parsed.ts';
import { type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { ConsulTokens } from '../credentials/consul-tokens.ts';
import type { TokenRef } from '../credentials/parse-consul-token.ts';
import type { Consul, ConsulAnswer, ConsulQuestion, ConsulTrouble } from './consul.ts';
import { noIndex } from './consul-index.ts';
import type { ServiceInstance } from './parse-consul.ts';

/** What is followed: questions that differ in any of this share nothing. */
export interface FollowedQuestion extends ConsulQuestion {
  /** @default the operator's own token */
  readonly token?: TokenRef | undefined;
}

/** What is known of the instances of a service. */
export type ServiceSight =
  /** There is no answer yet. */
  | { readonly kind: 'awaited' }
  | { readonly kind: 'known'; readonly instances: readonly ServiceInstance[] }
  | { readonly kind: 'unknown'; readonly code: ConsulTrouble; readonly message: string };

/** What watching goes through. */
export interface WatchPorts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly consul: Pick<Consul, 'ask'>;
  readonly tokens: Pick<ConsulTokens, 'of'>;
}

/** From the begin of a question to the begin of the next (CONSUL-15). */
const leastApart = seconds(1);
const firstBackoff = seconds(5);
const longestBackoff = seconds(60);
/** What is older than that says nothing any more (CONSUL-16). */
const longestAge = seconds(90);

const tooOld: ServiceSight = Object.freeze({
  kind: 'unknown',
  code: 'ConsulUnavailable',
  message: `Consul has not answered for more than ${longestAge / 1_000} s`,
});

/**
 * Follows one service for as long as its signal lasts: a question after the other, each answered once something has changed.
 *
 * An error makes the service unknown at once, and the next question waits for no change: what was known before it is not new.
 */
export class ConsulWatch {
  readonly #question: FollowedQuestion;
  readonly #ports: WatchPorts;
  readonly #onChange: () => void;
  #sight: ServiceSight = { kind: 'awaited' };
  #index = noIndex;
  /** Before the first answer the begin. */
  #answeredAt: Monotonic;
  #isLeaderAsked = false;
  #isTokenDoubted = false;
  #backoff: Millis = millis(0);
  #ageing: Timer | undefined;

  /** Starts without an answer. @param onChange called whenever what is known has changed */
  constructor(question: FollowedQuestion, ports: WatchPorts, onChange: () => void) {
    this.#question = question;
    this.#ports = ports;
    this.#onChange = onChange;
    this.#answeredAt = ports.clock.monotonic();
  }

  /** Returns the time since the last answer; before the first one, since the start. */
  get age(): Millis {
    return millis(this.#ports.clock.monotonic() - this.#answeredAt);
  }

  /** Returns what is known now. */
  sight(): ServiceSight {
    return this.#sight.kind === 'known' && this.age > longestAge ? tooOld : this.#sight;
  }

  /** Resolves when `signal` has aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    try {
      while (!signal.aborted) {
        const begun = clock.monotonic();
        const answer = await this.#ask(signal);
        if (signal.aborted) break;
        this.#take(answer);
        const left = Math.max(this.#backoff, begun + leastApart - clock.monotonic());
        if (left > 0) await this.#sleep(millis(left), signal);
      }
    } finally {
      this.#ageing?.cancel();
    }
  }

  async #sleep(span: Millis, signal: AbortSignal): Promise<void> {
    const options = { owner: 'consul watch', background: true, signal };
    // That it is over is seen by the one that slept.
    await this.#ports.clock.sleep(span, options).catch(() => undefined);
  }

  async #ask(signal: AbortSignal): Promise<ConsulAnswer> {
    const { consul } = this.#ports;
    const token = await this.#token();
    if (typeof token === 'object') return token;
    if (signal.aborted) return { kind: 'stale' };
    const isLeaderAsked = this.#isLeaderAsked;
    return consul.ask(this.#question, { index: this.#index, token, isLeaderAsked, signal });
  }

  async #token(): Promise<string | undefined | ConsulAnswer> {
    const kind = 'trouble';
    try {
      const how = { isDoubted: this.#isTokenDoubted };
      const token = await this.#ports.tokens.of(this.#question.token, how);
      if (token.kind === 'valid') return token.value;
      const message = `Cannot read the token of Consul: ${problemText(token.problem)}`;
      return { kind, code: 'ConsulPermissionDenied', message };
    } catch (error) {
      const message = `Cannot read the token of Consul: ${errorOf(error).message}`;
      return { kind, code: 'ConsulUnavailable', message };
    }
  }

  #take(answer: ConsulAnswer): void {
    this.#isLeaderAsked = answer.kind === 'stale';
    this.#isTokenDoubted = answer.kind === 'trouble' && answer.code === 'ConsulPermissionDenied';
    switch (answer.kind) {
      case 'stale':
        return;
      case 'trouble': {
        const { code, message } = answer;
        const next = Math.max(firstBackoff, Math.min(longestBackoff, this.#backoff * 2));
        this.#backoff = millis(next);
        this.#index = noIndex;
        this.#show({ kind: 'unknown', code, message });
        return;
      }
      default:
        this.#backoff = millis(0);
        this.#index = answer.index;
        this.#known(answer.instances);
    }
  }

  #known(instances: readonly ServiceInstance[]): void {
    const { clock } = this.#ports;
    const isLate = this.sight() === tooOld;
    this.#answeredAt = clock.monotonic();
    this.#ageing?.cancel();
    const options = { owner: 'consul watch', background: true };
    const past = millis(longestAge + 1);
    this.#ageing = clock.timer(past, this.#onChange, options);
    this.#show({ kind: 'known', instances });
    if (isLate) this.#onChange();
  }

  /** Shows `next` if it differs from before: a changed index is no proof of changed content. */
  #show(next: ServiceSight): void {
    const before = this.#sight;
    if (isDeepStrictEqual(before, next)) return;
    this.#sight = next;
    const { log } = this.#ports;
    const { service, datacenter } = this.#question;
    if (next.kind === 'unknown') {
      log.warn('consul does not say how a service is', {
        service,
        datacenter,
        reason: next.code,
        why: next.message,
      });
    } else if (before.kind === 'unknown') {
      log.info('consul says again how a service is', { service, datacenter });
    }
    this.#onChange();
  }
}
