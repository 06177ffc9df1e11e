import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { parseOutline } from './parse-outline.ts';
import type { Webhook, WebhookFront } from './review.ts';
import {
  isJson,
  logReview,
  logVerdict,
  type PostedAnswer,
  type PostedReview,
  ReviewDesk,
  type ReviewDeskOptions,
  writtenVerdict,
} from './review-desk.ts';

/** What answers the reviews that are posted to one path. */
export interface Endpoint {
  /** Such as `/admission/no-downscale`. */
  readonly path: string;
  /** Never rejects. */
  answer(posted: PostedReview): PostedAnswer | Promise<PostedAnswer>;
  /** Answers what was looked at already, and could not be answered at sight. */
  readonly otherwise: Endpoint['answer'];
}

/** One endpoint for each webhook, each review at sight where that is enough, else read whole and judged. */
export function endpointsOf(
  webhooks: readonly Webhook[],
  options: ReviewDeskOptions,
): readonly Endpoint[] {
  const desk = new ReviewDesk(options);
  return webhooks.map((webhook) =>
    endpointAtSight(webhook, options.log, (posted) => desk.answer(webhook, posted)),
  );
}

/** An endpoint that answers at sight what it can, and asks `otherwise` for all else. */
export function endpointAtSight(
  front: WebhookFront,
  log: Logger,
  otherwise: Endpoint['otherwise'],
): Endpoint {
  return {
    path: front.path,
    answer: (posted) => triedAtSight(front, posted, log) ?? otherwise(posted),
    otherwise,
  };
}

/** A fault of this program on the short way leaves the review to the long one: each gets its answer (HOOK-1). */
function triedAtSight(
  front: WebhookFront,
  posted: PostedReview,
  log: Logger,
): PostedAnswer | undefined {
  try {
    return answerAtSight(front, posted, log);
  } catch (error) {
    log.error('admission review not answered at sight', { path: front.path, err: errorOf(error) });
    return undefined;
  }
}

function answerAtSight(
  { path, atSight }: WebhookFront,
  { contentType, body }: PostedReview,
  log: Logger,
): PostedAnswer | undefined {
  if (atSight === undefined || !isJson(contentType)) return undefined;
  const review = parseOutline(body);
  if (review === undefined) return undefined;
  const verdict = atSight(review.request);
  if (verdict === undefined) return undefined;
  logReview(log, path, review.request);
  logVerdict(log, review.request, verdict);
  return writtenVerdict(review, verdict);
}
