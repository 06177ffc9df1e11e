import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import type { Millis, Monotonic } from '#base/units.ts';
import { type RunningDeadline, spanOf, startDeadline } from './deadline.ts';
import { parseReview } from './parse-review.ts';
import type { AdmissionRequest, Decision, Review, ReviewContext, Webhook } from './review.ts';
import { reviewAnswer } from './review-answer.ts';

/** What {@link ReviewHandler} works with. */
export interface ReviewHandlerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** `-server-tls.request-timeout`. */
  readonly requestTimeout: Millis;
}

/** Who posted a review, as far as its deadline depends on it. */
export interface Caller {
  /** Of the request, without `?`. */
  readonly query: string;
  /** When the request arrived. */
  readonly begun: Monotonic;
  /** Registers what is to be done when the caller leaves. */
  readonly onLeave: (left: () => void) => void;
}

/** A request that was posted to a webhook, its body read. */
export interface PostedReview {
  /** Empty when there is none. */
  readonly contentType: string;
  readonly body: Buffer;
  readonly caller: Caller;
}

/** The HTTP answer. */
export interface PostedAnswer {
  readonly status: 200 | 400;
  readonly contentType: string;
  readonly body: string;
}

/** Answers what is posted to one path; without a promise where nobody has to be asked. Never rejects, never throws. */
export type Handler = (posted: PostedReview) => PostedAnswer | Promise<PostedAnswer>;

/** Returns the handler of each webhook by its path. */
export function handlersOf(
  webhooks: readonly Webhook[],
  options: ReviewHandlerOptions,
): ReadonlyMap<string, Handler> {
  return new Map(
    webhooks.map((webhook) => [webhook.path, (posted) => handle(webhook, posted, options)]),
  );
}

/** Takes one review from HTTP to its webhook and back. */
function handle(
  webhook: Webhook,
  { contentType, body, caller }: PostedReview,
  options: ReviewHandlerOptions,
): PostedAnswer | Promise<PostedAnswer> {
  if (!isJson(contentType)) return refusal('wrong content type');
  const parsed = parseReview(body);
  if (parsed.kind === 'unreadable') {
    options.log.debug('admission review cannot be read', { path: webhook.path, why: parsed.text });
    return refusal(parsed.text);
  }
  // From here on nothing holds the body, however long the webhook asks others.
  return new Judgement({ webhook, review: parsed.review, caller }, options).answer();
}

/** Whether a content type is JSON, whatever parameters follow (A2). */
function isJson(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const [type = ''] = contentType.split(';', 1);
  return type.trim().toLowerCase() === 'application/json';
}

function refusal(text: string): PostedAnswer {
  return { status: 400, contentType: 'text/plain; charset=utf-8', body: `${text}\n` };
}

interface Case {
  readonly webhook: Webhook;
  readonly review: Review;
  readonly caller: Caller;
}

/** One review while its webhook judges it. */
class Judgement implements ReviewContext {
  readonly #webhook: Webhook;
  readonly #review: Review;
  readonly #caller: Caller;
  readonly #options: ReviewHandlerOptions;
  #deadline: RunningDeadline | undefined;

  constructor({ webhook, review, caller }: Case, options: ReviewHandlerOptions) {
    this.#webhook = webhook;
    this.#review = review;
    this.#caller = caller;
    this.#options = options;
  }

  deadline(): RunningDeadline {
    if (this.#deadline !== undefined) return this.#deadline;
    const { clock, requestTimeout } = this.#options;
    const { query, begun, onLeave } = this.#caller;
    const { patience } = this.#webhook;
    const deadline = startDeadline(clock, begun, spanOf({ requestTimeout, patience, query }));
    onLeave(() => deadline.abort('the caller left'));
    this.#deadline = deadline;
    return deadline;
  }

  answer(): PostedAnswer | Promise<PostedAnswer> {
    const { request } = this.#review;
    this.#logReview(request);
    try {
      const said = this.#webhook.judge(request, this);
      if (!(said instanceof Promise)) return this.#answered(said);
      return said
        .catch((error: unknown) => this.#failed(error))
        .then((decision) => this.#answered(decision));
    } catch (error) {
      return this.#answered(this.#failed(error));
    }
  }

  /** A fault of this program: what may be governed is not let through (HOOK-1). */
  #failed(error: unknown): Decision {
    const { message } = errorOf(error);
    const { path } = this.#webhook;
    const { uid } = this.#review.request;
    this.#options.log.error('admission webhook failed', { path, uid, err: errorOf(error) });
    const causes = [{ reason: 'InternalError', message }];
    return { isAllowed: false, message: 'the admission webhook failed', code: 429, causes };
  }

  #answered(decision: Decision): PostedAnswer {
    this.#deadline?.release();
    this.#logDecision(decision);
    const body = reviewAnswer(this.#review, decision);
    return { status: 200, contentType: 'application/json', body };
  }

  /** Tells of a review (A13). */
  #logReview(request: AdmissionRequest): void {
    const { kind, resource, namespace, name, uid, userName, operation, isDryRun } = request;
    this.#options.log.debug('admission review', {
      path: this.#webhook.path,
      'request.gvk': `${kind.group}/${kind.version}, Kind=${kind.kind}`,
      'request.uid': uid,
      'request.operation': operation,
      'request.dry_run': isDryRun,
      'object.resource': resource,
      'object.namespace': namespace,
      'object.name': name,
      user: userName,
    });
  }

  /** Tells what became of it. */
  #logDecision(decision: Decision): void {
    this.#options.log.debug('admission review answered', {
      uid: this.#review.request.uid,
      allowed: decision.isAllowed,
      message: decision.message,
      warnings: decision.isAllowed ? decision.warnings : undefined,
    });
  }
}
