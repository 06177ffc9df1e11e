import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import type { Millis, Monotonic } from '#base/units.ts';
import { type RunningDeadline, spanOf, startDeadline } from './deadline.ts';
import { parseReview } from './parse-review.ts';
import type { AdmissionRequest, Review, ReviewContext, Verdict, Webhook } from './review.ts';
import { reviewAnswer } from './review-answer.ts';

/** What {@link ReviewDesk} works with. */
export interface ReviewDeskOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** `-server-tls.request-timeout`. */
  readonly requestTimeout: Millis;
}

/** A request that was posted to a webhook, its body read. */
export interface PostedReview {
  /** Empty when there is none. */
  readonly contentType: string;
  readonly body: Buffer;
  /** Without `?`. */
  readonly query: string;
  /** When it arrived. */
  readonly begun: Monotonic;
  /** Registers what is to be done when the caller leaves. */
  readonly onLeave: (left: () => void) => void;
}

/** The HTTP answer. */
export interface PostedAnswer {
  readonly status: 200 | 400;
  readonly contentType: string;
  readonly body: string;
}

const text = 'text/plain; charset=utf-8';

/** Takes reviews from HTTP to a webhook and back: content type, decoding, deadline, answer (§2). */
export class ReviewDesk {
  readonly #options: ReviewDeskOptions;

  constructor(options: ReviewDeskOptions) {
    this.#options = options;
  }

  /** Answers one review. Never rejects. */
  async answer(webhook: Webhook, posted: PostedReview): Promise<PostedAnswer> {
    if (!isJson(posted.contentType)) {
      return { status: 400, contentType: text, body: 'wrong content type\n' };
    }
    const parsed = parseReview(posted.body);
    if (parsed.kind === 'unreadable') {
      this.#options.log.warn('admission review cannot be read', {
        path: webhook.path,
        why: parsed.text,
      });
      return { status: 400, contentType: text, body: `${parsed.text}\n` };
    }
    return writtenVerdict(parsed.review, await this.#judge(webhook, parsed.review, posted));
  }

  async #judge(webhook: Webhook, { request }: Review, posted: PostedReview): Promise<Verdict> {
    const { log } = this.#options;
    logReview(log, webhook.path, request);
    const context = new DeskContext(webhook, posted, this.#options);
    let verdict: Verdict;
    try {
      const said = webhook.judge(request, context);
      verdict = said instanceof Promise ? await said : said;
    } catch (error) {
      log.error('admission webhook failed', {
        path: webhook.path,
        uid: request.uid,
        err: errorOf(error),
      });
      verdict = failed(error);
    } finally {
      context.release();
    }
    logVerdict(log, request, verdict);
    return verdict;
  }
}

/** A fault of this program: what may be governed is not let through (HOOK-1). */
function failed(error: unknown): Verdict {
  const message = errorOf(error).message;
  return {
    isAllowed: false,
    message: 'the admission webhook failed',
    code: 429,
    causes: [{ reason: 'InternalError', message }],
  };
}

/** Tells of a review (A13). */
export function logReview(log: Logger, path: string, request: AdmissionRequest): void {
  const { kind, resource, namespace, name, uid, userName, operation, isDryRun } = request;
  log.debug('admission review', {
    path,
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
export function logVerdict(log: Logger, { uid }: AdmissionRequest, verdict: Verdict): void {
  log.debug('admission review answered', {
    uid,
    allowed: verdict.isAllowed,
    message: verdict.message,
    warnings: verdict.isAllowed ? verdict.warnings : undefined,
  });
}

/** The HTTP answer that carries `verdict`. */
export function writtenVerdict(review: Review, verdict: Verdict): PostedAnswer {
  return { status: 200, contentType: 'application/json', body: reviewAnswer(review, verdict) };
}

/** Whether a content type is JSON, whatever parameters follow (A2). */
export function isJson(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const [type = ''] = contentType.split(';', 1);
  return type.trim().toLowerCase() === 'application/json';
}

class DeskContext implements ReviewContext {
  readonly #webhook: Webhook;
  readonly #posted: PostedReview;
  readonly #options: ReviewDeskOptions;
  #deadline: RunningDeadline | undefined;

  constructor(webhook: Webhook, posted: PostedReview, options: ReviewDeskOptions) {
    this.#webhook = webhook;
    this.#posted = posted;
    this.#options = options;
  }

  deadline(): RunningDeadline {
    if (this.#deadline !== undefined) return this.#deadline;
    const { clock, requestTimeout } = this.#options;
    const { query, begun, onLeave } = this.#posted;
    const { patience } = this.#webhook;
    const deadline = startDeadline(clock, begun, spanOf({ requestTimeout, patience, query }));
    onLeave(() => deadline.abort('the caller left'));
    this.#deadline = deadline;
    return deadline;
  }

  release(): void {
    this.#deadline?.release();
  }
}
