import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import type { Millis, Monotonic } from '#base/units.ts';
import { routeLabel } from '#telemetry/http/http-route.ts';
import type { OpenSpan, TraceHeaders, Tracing } from '#telemetry/tracing/tracing.ts';
import { type RunningDeadline, spanOf, startDeadline } from './deadline.ts';
import { parseReview } from './parse-review.ts';
import type { AdmissionRequest, Review, ReviewContext, ReviewDecision, Webhook } from './review.ts';
import { reviewAnswer } from './review-answer.ts';
import { type CountReview, reviewOutcome } from './review-metrics.ts';
import { decisionAttributes, reviewAttributes, reviewStart } from './review-span.ts';

/** What {@link ReviewHandler} works with. */
export interface ReviewHandlerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** `-server-tls.request-timeout`. */
  readonly requestTimeout: Millis;
  /** Absent while nothing is traced. */
  readonly tracing?: Tracing;
  /** Absent: the outcomes of reviews are not counted. */
  readonly countReview?: CountReview;
}

/** Who posted a review, as far as its deadline and its trace depend on it. */
export interface Caller {
  /** The query of the request, without `?`. */
  readonly query: string;
  /** When the request arrived. */
  readonly begun: Monotonic;
  /** Registers what is to be done when the caller leaves. */
  readonly onLeave: (left: () => void) => void;
  readonly headers?: TraceHeaders;
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

/** Answers what is posted to one path; without a promise where nothing has to be asked. Never rejects, never throws. */
export type Handler = (posted: PostedReview) => PostedAnswer | Promise<PostedAnswer>;

/** Returns the handler of each webhook by its path. */
export function handlersOf(
  webhooks: readonly Webhook[],
  options: ReviewHandlerOptions,
): ReadonlyMap<string, Handler> {
  return new Map(webhooks.map((webhook) => [webhook.path, handlerOf(webhook, options)]));
}

function handlerOf(webhook: Webhook, options: ReviewHandlerOptions): Handler {
  const { tracing } = options;
  const { path } = webhook;
  const routed = { webhook, route: routeLabel(path) };
  if (tracing === undefined) return (posted) => handle(routed, posted, options);
  return (posted) =>
    tracing.within(reviewStart(path, posted.caller.headers), (span) =>
      handle(routed, posted, { ...options, span }),
    );
}

interface RoutedWebhook {
  readonly webhook: Webhook;
  /** The route of its path, as a label. */
  readonly route: string;
}

interface HandlingOptions extends ReviewHandlerOptions {
  /** The span of this review; undefined while nothing is traced. */
  readonly span?: OpenSpan;
}

/** Takes one review from HTTP to its webhook and back. */
function handle(
  { webhook, route }: RoutedWebhook,
  { contentType, body, caller }: PostedReview,
  options: HandlingOptions,
): PostedAnswer | Promise<PostedAnswer> {
  if (!isJson(contentType)) return refusal('wrong content type', options);
  const parsed = parseReview(body, webhook.objects);
  if (parsed.kind === 'unreadable') {
    options.log.debug('admission review cannot be read', { path: webhook.path, why: parsed.text });
    return refusal(parsed.text, options);
  }
  // From here on nothing holds the body, however long the webhook asks others.
  return new Judgement({ webhook, route, review: parsed.review, caller }, options).answer();
}

/** Reports whether a content type is JSON, whatever parameters follow. */
function isJson(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const [type = ''] = contentType.split(';', 1);
  return type.trim().toLowerCase() === 'application/json';
}

function refusal(text: string, { span }: HandlingOptions): PostedAnswer {
  span?.set({ 'http.response.status_code': 400 });
  span?.fail(new Error(text));
  return { status: 400, contentType: 'text/plain; charset=utf-8', body: `${text}\n` };
}

interface Case extends RoutedWebhook {
  readonly review: Review;
  readonly caller: Caller;
}

/** One review while its webhook judges it. */
class Judgement implements ReviewContext {
  readonly #case: Case;
  readonly #options: HandlingOptions;
  #deadline: RunningDeadline | undefined;

  constructor(reviewed: Case, options: HandlingOptions) {
    this.#case = reviewed;
    this.#options = options;
  }

  deadline(): RunningDeadline {
    if (this.#deadline !== undefined) return this.#deadline;
    const { clock, requestTimeout } = this.#options;
    const { query, begun, onLeave } = this.#case.caller;
    const { patience } = this.#case.webhook;
    const deadline = startDeadline(clock, begun, spanOf({ requestTimeout, patience, query }));
    onLeave(() => deadline.abort('the caller left'));
    this.#deadline = deadline;
    return deadline;
  }

  answer(): PostedAnswer | Promise<PostedAnswer> {
    const { request } = this.#case.review;
    this.#options.span?.set(reviewAttributes(request));
    this.#logReview(request);
    try {
      const said = this.#case.webhook.judge(request, this);
      if (!(said instanceof Promise)) return this.#answered(said);
      return said
        .catch((error: unknown) => this.#failed(error))
        .then((decision) => this.#answered(decision));
    } catch (error) {
      return this.#answered(this.#failed(error));
    }
  }

  /** Denies after a fault of this program: what may be governed is not let through (HOOK-1). */
  #failed(error: unknown): ReviewDecision {
    const { message } = errorOf(error);
    const { path } = this.#case.webhook;
    const { uid } = this.#case.review.request;
    this.#options.span?.fail(error);
    this.#options.log.error('admission webhook failed', { path, uid, err: errorOf(error) });
    const causes = [{ reason: 'InternalError', message }];
    const doubt = 'InternalError';
    return { isAllowed: false, message: 'the admission webhook failed', code: 429, causes, doubt };
  }

  #answered(decision: ReviewDecision): PostedAnswer {
    const isLate = this.#deadline?.signal.aborted === true;
    this.#deadline?.release();
    this.#options.countReview?.(this.#case.route, reviewOutcome(decision, isLate));
    this.#options.span?.set(decisionAttributes(decision));
    this.#logDecision(decision);
    const body = reviewAnswer(this.#case.review, decision);
    return { status: 200, contentType: 'application/json', body };
  }

  /** Tells of a review. */
  #logReview(request: AdmissionRequest): void {
    const { kind, resource, namespace, name, uid, userName, operation, isDryRun } = request;
    this.#options.log.debug('admission review', {
      path: this.#case.webhook.path,
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
  #logDecision(decision: ReviewDecision): void {
    this.#options.log.debug('admission review answered', {
      uid: this.#case.review.request.uid,
      allowed: decision.isAllowed,
      message: decision.message,
      warnings: decision.isAllowed ? decision.warnings : undefined,
    });
  }
}
