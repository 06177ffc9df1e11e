/**
 * How the server has requests reviewed by webhooks: which are asked, in which order, and what their answers do. The
 * webhooks of the operator are `src/admission/`, and share no line with it.
 */
import type { JsonObject } from '#base/json.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import { requestsOf } from '../clock/activity.ts';
import { StatusError } from '../errors/status-error.ts';
import { badRequest, internalError } from '../errors/status-errors.ts';
import { isSameJson } from '../json/json-fields.ts';
import { DroppedError } from '../rest/faulted-call.ts';
import type {
  Admission,
  AdmissionAttributes,
  ServerContext,
} from '../rest/request/server-context.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { isDryRun, reviewOf } from './admission-review.ts';
import { CallFailure } from './call-failure.ts';
import { deniedBy } from './denial.ts';
import { type Invocation, invocationOf } from './match-webhook.ts';
import { patchedBy } from './patched-object.ts';
import { type ReviewVerdict, readReview } from './read-review.ts';
import { Rounds } from './rounds.ts';
import type { Webhook } from './webhook.ts';
import type { WebhookCaller } from './webhook-caller.ts';

/** How long a whole request may take (AD-8). */
const REQUEST_LIMIT = seconds(34);

/** Side effects that a dry run may have (AD-10). */
const HARMLESS: ReadonlySet<string> = new Set(['None', 'NoneOnDryRun']);

/** The webhooks at work: mutating ones one after the other, validating ones side by side (AD-1). */
export class WebhookAdmission implements Admission {
  readonly #context: ServerContext;
  readonly #caller: WebhookCaller;
  readonly #uids: SeededRandom;
  #mutating: readonly Webhook[] = [];
  #validating: readonly Webhook[] = [];

  constructor(context: ServerContext, caller: WebhookCaller, uids: SeededRandom) {
    this.#context = context;
    this.#caller = caller;
    this.#uids = uids;
  }

  /** Returns what the next request meets. */
  configure(webhooks: {
    readonly mutating: readonly Webhook[];
    readonly validating: readonly Webhook[];
  }): void {
    this.#mutating = webhooks.mutating;
    this.#validating = webhooks.validating;
  }

  async mutate(attributes: AdmissionAttributes): Promise<JsonObject | undefined> {
    if (isExempt(attributes)) return attributes.object;
    const webhooks = this.#mutating;
    const rounds = new Rounds();
    let { object } = attributes;
    for (;;) {
      for (const webhook of webhooks) {
        const current = object === undefined ? attributes : { ...attributes, object };
        const invocation = invocationOf(this.#context, webhook, current);
        if (invocation === undefined || !rounds.calls(webhook)) continue;
        const next = await this.#mutatedBy(current, invocation);
        rounds.called(webhook, !isSameJson(next, object));
        object = next;
      }
      if (!rounds.again())
        return isSameJson(object, attributes.object) ? attributes.object : object;
    }
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    if (isExempt(attributes)) return;
    const invocations = this.#validating.flatMap(
      (webhook) => invocationOf(this.#context, webhook, attributes) ?? [],
    );
    if (invocations.length === 0) return;
    this.#timeLeft(attributes);
    const refusals: unknown[] = [];
    const asked = invocations.map(async (invocation) => {
      try {
        await this.#verdictOf(attributes, invocation, false);
      } catch (error) {
        refusals.push(error);
      }
    });
    await this.#waiting(attributes, Promise.all(asked));
    // The first one counts; the others are heard to their end.
    if (refusals.length > 0) throw refusals[0];
  }

  async #mutatedBy(
    attributes: AdmissionAttributes,
    invocation: Invocation,
  ): Promise<JsonObject | undefined> {
    const asked = this.#verdictOf(attributes, invocation, true);
    const verdict = await this.#waiting(attributes, asked);
    if (verdict === undefined || verdict.patch.length === 0) return attributes.object;
    return patchedBy(attributes, invocation, verdict.patch);
  }

  /**
   * Returns what a webhook says; undefined where it could not be asked and need not be.
   *
   * @throws {StatusError} a denial, or a call that failed
   */
  async #verdictOf(
    attributes: AdmissionAttributes,
    invocation: Invocation,
    isMutating: boolean,
  ): Promise<ReviewVerdict | undefined> {
    const { webhook } = invocation;
    if (isDryRun(attributes) && !HARMLESS.has(webhook.sideEffects)) {
      throw badRequest(`admission webhook "${webhook.name}" does not support dry run`);
    }
    try {
      const verdict = await this.#ask(attributes, invocation, isMutating);
      attributes.call.warnings.push(...verdict.warnings);
      if (!verdict.isAllowed) throw deniedBy(webhook.name, verdict.status);
      return verdict;
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      const why = `failed calling webhook "${webhook.name}": ${error.message}`;
      this.#timeLeft(attributes);
      if (webhook.isIgnoredOnFailure) return undefined;
      throw internalError(why);
    }
  }

  async #ask(
    attributes: AdmissionAttributes,
    invocation: Invocation,
    isMutating: boolean,
  ): Promise<ReviewVerdict> {
    const { webhook } = invocation;
    const uid = this.#uids.uuid();
    const body = JSON.stringify(reviewOf(attributes, invocation, uid));
    const timeout = millis(Math.min(webhook.timeout, this.#timeLeft(attributes)));
    const reply = await this.#caller.post(webhook.client, body, timeout);
    return readReview(reply, { uid, isMutating });
  }

  /** Returns what is left of the time. @throws {StatusError} 504 when the request has used up its time */
  #timeLeft({ call }: AdmissionAttributes): Millis {
    const left = call.startedAt + REQUEST_LIMIT - this.#context.clock.monotonic();
    if (left > 0) return millis(left);
    throw new StatusError(
      { code: 504, reason: 'Timeout', details: {} },
      'Timeout: request did not complete within requested timeout - context deadline exceeded',
    );
  }

  /** Awaits webhooks without counting the request meanwhile: they may wait for virtual time (CK-3). */
  async #waiting<T>({ call }: AdmissionAttributes, work: Promise<T>): Promise<T> {
    const result = await this.#context.activity.parked(requestsOf(call.request.client), work);
    const { isAlive, lateness } = call.request;
    if (!isAlive() && lateness?.() === undefined)
      throw new DroppedError('the client left while webhooks were asked');
    return result;
  }
}

/** Reports whether a kind is never shown to webhooks: that of their own configurations (AD-2). */
function isExempt({ call }: AdmissionAttributes): boolean {
  return call.route.row.type.group === 'admissionregistration.k8s.io';
}
