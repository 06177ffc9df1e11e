import type { LookupFunction } from 'node:net';
import { readBegin } from '#base/async/read-begin.ts';
import type { Clock } from '#base/clock.ts';
import { errorOf, messageOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, seconds } from '#base/units.ts';
import type { AllowedHosts } from '#kubernetes/outgoing/allowed-hosts.ts';
import type { AddressRules } from '#kubernetes/outgoing/refused-address.ts';
import { parseRetryAfter } from '#kubernetes/transport/api-error.ts';
import { HostLookup } from '#kubernetes/transport/host-lookup.ts';
import { createHttpTransport } from '#kubernetes/transport/http-transport.ts';
import { type ServerTrust, tlsOf } from '#kubernetes/transport/server-trust.ts';
import type { TlsSettings } from '#kubernetes/transport/tls-settings.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import type { CallbackOutcome } from './callback-answer.ts';
import { callbackSignature } from './callback-body.ts';
import { type CallbackTarget, type CheckedAddress, callbackTarget } from './callback-target.ts';

/** One attempt to report the outcome of a rollout. */
export interface CallbackCall {
  /** Absolute, of http or https. */
  readonly url: string;
  /** See `callbackBody`. */
  readonly body: string;
  /** See `idempotencyKey`. */
  readonly idempotencyKey: string;
  /** What the callback is signed by. @default it is not signed; an empty key counts as none */
  readonly signingKey?: string | Uint8Array;
}

/** Settings of {@link createCallbackClient}. */
export interface CallbackClientOptions extends AddressRules, Pick<ServerTrust, 'authorities'> {
  readonly clock: Clock;
  /** Told once of callbacks that are not signed. */
  readonly logger: Logger;
  /** The hosts that callbacks may go to; empty for none (E-20). */
  readonly hosts: AllowedHosts;
  /** Version of the operator, for `User-Agent`. */
  readonly version: string;
  /** Finds all addresses of a name. @default the system's way, by lookups of its own */
  readonly lookup?: LookupFunction;
  /** From the call to its status, the lookup included; what has come of the answer by then is all that is read (E-10). @default 10 s */
  readonly timeout?: Millis;
}

/** Sends callbacks, one attempt a call. */
export interface CallbackClient {
  /** Sends, and reads as much of the answer as is reported. Never rejects. @param signal gives the attempt up */
  send(call: CallbackCall, signal: AbortSignal): Promise<CallbackOutcome>;
  /** Gives all attempts up, and makes no more. */
  close(): void;
}

/** Most bytes of an answer that are read; what comes behind them changes nothing. */
const mostRead = 65_536;
/** Characters of an answer that are reported. */
const mostTold = 200;

/** Returns what sends callbacks over the network, each over a connection of its own to an address that was checked (E-20…E-22). */
export function createCallbackClient(options: CallbackClientOptions): CallbackClient {
  return new HttpCallbackClient(options);
}

class HttpCallbackClient implements CallbackClient {
  readonly #options: CallbackClientOptions;
  readonly #lookup: LookupFunction;
  readonly #tls: () => TlsSettings;
  readonly #timeout: Millis;
  readonly #closing = new AbortController();
  #hasWarned = false;

  constructor(options: CallbackClientOptions) {
    const { authorities, clock, lookup, timeout = seconds(10) } = options;
    this.#options = options;
    this.#lookup = lookup ?? new HostLookup(clock).lookup;
    this.#tls = tlsOf(authorities === undefined ? {} : { authorities });
    this.#timeout = timeout;
  }

  async send(call: CallbackCall, signal: AbortSignal): Promise<CallbackOutcome> {
    const deadline = new AbortController();
    const ending = AbortSignal.any([signal, this.#closing.signal, deadline.signal]);
    if (ending.aborted) return { kind: 'given-up' };
    const options = { owner: 'callback deadline', background: true };
    const timer = this.#options.clock.timer(this.#timeout, () => deadline.abort(), options);
    try {
      const outcome = await this.#attempt(call, ending);
      // What was answered stays so, even if it is over by now.
      if (outcome.kind === 'answered' || !ending.aborted) return outcome;
      const isLate = !signal.aborted && !this.#closing.signal.aborted;
      if (!isLate) return { kind: 'given-up' };
      return { kind: 'timed-out', why: `no answer within ${this.#timeout} ms` };
    } finally {
      timer.cancel();
    }
  }

  close(): void {
    this.#closing.abort();
  }

  async #attempt(call: CallbackCall, ending: AbortSignal): Promise<CallbackOutcome> {
    const rules = { ...this.#options, lookup: this.#lookup };
    const target = await callbackTarget(call.url, rules, ending);
    if (target.kind !== 'target') return target;
    if (ending.aborted) return { kind: 'given-up' };
    try {
      return await this.#post(target, call, ending);
    } catch (error) {
      return { kind: 'unreachable', why: `no answer of ${target.url.host}: ${whyOf(error)}` };
    }
  }

  async #post(
    { url, addresses }: CallbackTarget,
    call: CallbackCall,
    signal: AbortSignal,
  ): Promise<CallbackOutcome> {
    const { clock } = this.#options;
    const server = new URL(url.origin);
    // No proxy (E-22), and no other address than those that were checked, whatever the name would be found to mean by now (E-21).
    const lookup = foundAs(addresses);
    const transport = createHttpTransport({ server, clock, tls: this.#tls, lookup });
    try {
      const { status, headers, chunks } = await transport.stream({
        method: 'POST',
        path: url.pathname + url.search,
        headers: this.#headersOf(call),
        body: call.body,
        signal,
      });
      const excerpt = await excerptOf(chunks, signal);
      const retryAfter = parseRetryAfter(headers['retry-after'], clock.now());
      return {
        kind: 'answered',
        status,
        excerpt,
        ...(retryAfter !== undefined && { retryAfter }),
      };
    } finally {
      await transport.close();
    }
  }

  /** Returns the headers of E-3. */
  #headersOf({ body, idempotencyKey, signingKey = '' }: CallbackCall): Record<string, string> {
    const { clock, version } = this.#options;
    const timestamp = Math.floor(clock.now() / 1_000);
    const isSigned = signingKey.length > 0;
    if (!isSigned) this.#warnOfNoKey();
    return {
      'content-type': 'application/json',
      'user-agent': `statefulset-rollout-operator/${version}`,
      'idempotency-key': idempotencyKey,
      'x-bedrock-timestamp': `${timestamp}`,
      ...(isSigned && {
        'x-bedrock-signature': callbackSignature(signingKey, { timestamp, body }),
      }),
    };
  }

  #warnOfNoKey(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.logger.warn('callbacks are sent unsigned as there is no key to sign them by');
  }
}

/** Returns what finds a name to mean `addresses`: tried in their order, the next one where one does not answer. */
function foundAs(addresses: readonly CheckedAddress[]): LookupFunction {
  const [first] = addresses;
  return (_name, options, done) => {
    if (options.all === true) done(null, [...addresses]);
    else if (first === undefined) done(new Error('no address was checked'), '');
    else done(null, first.address, first.family);
  };
}

/** Reads the beginning of an answer. @param ending ends the reading; the status has come by then, and the rest of the text changes nothing */
async function excerptOf(chunks: AsyncIterable<Uint8Array>, ending: AbortSignal): Promise<string> {
  const read: Uint8Array[] = [];
  try {
    await readBegin(chunks, mostRead, read);
  } catch (error) {
    // A receiver that breaks off may not have kept the callback.
    if (!ending.aborted) throw error;
  }
  // A character has at most two units: none of those that are reported is cut in two.
  const begin = Buffer.concat(read)
    .toString()
    .slice(0, mostTold * 2);
  return Array.from(begin).slice(0, mostTold).join('');
}

/** Returns the reason without the URL, which the transport names: a path or query may be secret. */
function whyOf(error: unknown): string {
  const { cause } = errorOf(error);
  const isWrapped = error instanceof TransportError && cause !== undefined;
  return messageOf(errorOf(isWrapped ? cause : error));
}
