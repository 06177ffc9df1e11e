import { isJsonObject, type JsonObject, jsonIn } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import type { CallbackOutcome } from '#notification/callback-answer.ts';
import type { CallbackCall } from '#notification/callback-client.ts';
import { type CallFate, never } from './call-fate.ts';

/** A call that came. */
export interface ReceivedCall extends CallbackCall {
  readonly at: Instant;
  readonly told: JsonObject;
}

/** Whom callbacks go to in virtual time: answers 200, or as it is told to. */
export class FakeReceiver {
  readonly calls: ReceivedCall[] = [];
  /** The answers of the next calls, in order; a promise is answered late. */
  readonly answers: (CallbackOutcome | Promise<CallbackOutcome>)[] = [];
  /** Asked of each call before it leaves what becomes of it. */
  intercept: () => CallFate = () => undefined;
  readonly #now: () => Instant;

  constructor(now: () => Instant) {
    this.#now = now;
  }

  async send(call: CallbackCall): Promise<CallbackOutcome> {
    const fate = this.intercept();
    if (fate === 'not-sent') return never();
    const told = jsonIn(call.body);
    this.calls.push({ ...call, at: this.#now(), told: isJsonObject(told) ? told : {} });
    if (fate === 'not-answered') return never();
    return this.answers.shift() ?? answered(200);
  }
}

/** Returns the answer `status` without words. */
export function answered(status: number): CallbackOutcome {
  return { kind: 'answered', status, excerpt: '' };
}
