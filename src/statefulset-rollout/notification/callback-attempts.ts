import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { JsonObject } from '#base/json.ts';
import { OverruledError } from '#control/write/pod-deletions.ts';
import { isGivenUp } from '#control/write/unless-sent.ts';
import type { Client } from '#kubernetes/client.ts';
import { secretValue } from '#kubernetes/secret-value.ts';
import { isRequestFailure } from '#kubernetes/transport/api-error.ts';
import {
  type CallbackVerdict,
  type NextAttempt,
  nextAttempt,
  verdictOf,
} from '#notification/callback/callback-answer.ts';
import { callbackBody, idempotencyKey } from '#notification/callback/callback-body.ts';
import type { CallbackClient } from '#notification/callback/callback-client.ts';
import type { SecretKey } from '../api.ts';
import type { RolloutView } from '../parse-resource.ts';
import { calledBack } from '../plan/plan-callback.ts';
import type { RolloutProgress } from '../progress.ts';
import { callbackReport, resultOf } from './callback-report.ts';

/** What callbacks go through. */
export interface CallbackPorts {
  readonly client: Client;
  readonly clock: Pick<Clock, 'now'>;
  readonly sender: Pick<CallbackClient, 'send'>;
  /** Name of the cluster, for the receiver; may be empty. */
  readonly cluster: string;
  /** Signs where a resource names no key of its own; undefined: nothing is signed then. */
  readonly signingKey: (() => Promise<Uint8Array>) | undefined;
  readonly mostAttempts: number;
  /** From 0 up to, but not including, 1; drawn again each time. */
  readonly random: () => number;
  /** Told how each attempt ended that counts. */
  readonly attempted: (kind: Verdict['kind']) => void;
  /** Whether this process may act at this instant: it holds the Lease, or there is none. */
  readonly leads: () => boolean;
}

/** A rollout whose outcome is to be reported. */
export interface EndedRollout {
  readonly rollout: RolloutView;
  /** With the body of the callback, which is stored. */
  readonly progress: RolloutProgress;
}

/** What a callback is signed by. */
type Signing =
  | { readonly kind: 'known'; readonly key: Uint8Array | undefined }
  | { readonly kind: 'missing'; readonly verdict: Verdict };

type Verdict = Exclude<CallbackVerdict, { readonly kind: 'given-up' }>;

/** Tells receivers how rollouts ended, one attempt at a time. */
export class CallbackAttempts {
  readonly #ports: CallbackPorts;

  constructor(ports: CallbackPorts) {
    this.#ports = ports;
  }

  /** Returns what is reported of `ended`; empty where its outcome, or its spec, is not known. @param status as it is to be stored at this instant */
  bodyOf({ rollout, progress }: EndedRollout, status: JsonObject): string {
    const { clock, cluster } = this.#ports;
    const report = callbackReport({ cluster, rollout, progress, status, now: clock.now() });
    return report === undefined ? '' : callbackBody(report);
  }

  /**
   * Makes one attempt.
   *
   * @returns the progress after it; undefined where it was given up, and does not count
   * @throws OverruledError where the Lease is not held any more, and what ends a request that was not sent
   */
  async attempt(
    { rollout, progress }: EndedRollout,
    signal: AbortSignal,
  ): Promise<RolloutProgress | undefined> {
    const { spec, namespace, uid } = rollout;
    const { key, outcome, callback } = progress;
    const { stageId, body } = callback;
    const target = spec.kind === 'valid' ? spec.value.callback : undefined;
    if (outcome === undefined || body === '' || target === undefined) return undefined;
    const signing = await this.#signingKey(namespace, target.signingKey, signal);
    if (signing.kind === 'missing') return this.#attempted(progress, signing.verdict);
    if (!this.#ports.leads()) {
      throw new OverruledError('Cannot call back as the Lease is no longer held');
    }
    const result = resultOf(outcome);
    const call = {
      url: target.url,
      body,
      idempotencyKey: idempotencyKey({ uid, key, stageId, result }),
      ...(signing.key !== undefined && { signingKey: signing.key }),
    };
    const verdict = verdictOf(await this.#ports.sender.send(call, signal));
    return verdict.kind === 'given-up' ? undefined : this.#attempted(progress, verdict);
  }

  #attempted(progress: RolloutProgress, verdict: Verdict): RolloutProgress {
    this.#ports.attempted(verdict.kind);
    return calledBack(progress, verdict, this.#next(progress, verdict));
  }

  #next({ callback }: RolloutProgress, verdict: Verdict): NextAttempt | undefined {
    if (verdict.kind !== 'temporary') return undefined;
    const { clock, mostAttempts, random } = this.#ports;
    const attempts = callback.attempts + 1;
    return nextAttempt(verdict, { attempts, mostAttempts, now: clock.now(), random: random() });
  }

  /** What a resource wants signed is not sent without. */
  async #signingKey(
    namespace: string,
    place: SecretKey | undefined,
    signal: AbortSignal,
  ): Promise<Signing> {
    if (place === undefined) return this.#ownKey();
    try {
      const key = await secretValue(this.#ports.client, { namespace, ...place }, signal);
      if (key !== undefined && key.length > 0) return { kind: 'known', key };
    } catch (error) {
      if (!isRequestFailure(error) || isGivenUp(error, signal)) throw error;
      // It counts as an attempt: a Role that does not permit it would keep the rollout, and its deletion, for ever.
      return keyMissing(`Secret ${place.name} cannot be read: ${errorOf(error).message}`);
    }
    return keyMissing(`there is no key to sign with in Secret ${place.name} under ${place.key}`);
  }

  /** Reads our own key again each time, as it may be replaced where it is mounted. */
  async #ownKey(): Promise<Signing> {
    const { signingKey } = this.#ports;
    if (signingKey === undefined) return { kind: 'known', key: undefined };
    try {
      const key = await signingKey();
      return key.length > 0 ? { kind: 'known', key } : keyMissing('the file of the key is empty');
    } catch (error) {
      return keyMissing(`the key cannot be read: ${errorOf(error).message}`);
    }
  }
}

function keyMissing(message: string): Signing {
  const because = { reason: 'SigningKeyMissing', message } as const;
  return { kind: 'missing', verdict: { kind: 'temporary', because } };
}
