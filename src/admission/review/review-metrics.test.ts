import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { denyForFailure } from './dependency.ts';
import { deny, type ReviewContext, type ReviewDecision } from './review.ts';
import { handlersOf } from './review-handler.ts';
import { reviewCounter } from './review-metrics.ts';

const path = '/admission/no-downscale';
const route = 'admission_no_downscale';

/** What is counted of one review that `judge` answers; a caller that asks for the deadline gets one that is over. */
async function counted(
  judge: (context: ReviewContext) => ReviewDecision | Promise<ReviewDecision>,
): Promise<readonly string[]> {
  const registry = createMetricsRegistry();
  const clock = new ManualClock();
  const handler = handlersOf(
    [
      {
        path,
        patience: undefined,
        judge: (_, context) => judge({ deadline: () => late(context) }),
      },
    ],
    {
      clock,
      log: silentLogger,
      requestTimeout: seconds(10),
      countReview: reviewCounter(registry, [route]),
    },
  ).get(path);
  function late(context: ReviewContext): ReturnType<ReviewContext['deadline']> {
    const deadline = context.deadline();
    clock.advance(seconds(9));
    return deadline;
  }
  await handler?.({
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify(reviewDocument({}))),
    caller: { query: '', begun: clock.monotonic(), onLeave: () => undefined },
  });
  const shown = await registry.expose();
  return [...shown.matchAll(/^rollout_operator_admission_reviews_total\{(.*)\} 1$/gm)].map(
    ([, labels = '']) => labels,
  );
}

const failure = new Error('no answer');
const cases: Record<
  string,
  readonly [
    outcome: string,
    judge: (context: ReviewContext) => ReviewDecision | Promise<ReviewDecision>,
  ]
> = {
  'that is let through': ['Allowed', () => ({ isAllowed: true })],
  'that is let through with a warning': ['Allowed', () => ({ isAllowed: true, warnings: ['w'] })],
  'that a rule denies': ['Denied', () => deny('it has the label')],
  'whose object cannot be read': ['Unreadable', () => deny('what is it?', 'Unreadable')],
  'that came when too many were under way': ['Overloaded', () => deny('later', 'Overloaded')],
  'for which the API server failed': [
    'DependencyFailed',
    async () => denyForFailure('no', failure),
  ],
  'for which nobody answered in time': [
    'DeadlineExceeded',
    async (context) => {
      const { signal } = context.deadline();
      return denyForFailure('no', signal.reason);
    },
  ],
  'at which the webhook breaks': [
    'InternalError',
    () => {
      throw failure;
    },
  ],
};
for (const [what, [outcome, judge]] of Object.entries(cases)) {
  test(`handlersOf() counts a review ${what} once, as ${outcome}`, async () => {
    assert.deepEqual(await counted(judge), [`route="${route}",outcome="${outcome}"`]);
  });
}

test('reviewCounter() shows each outcome of each webhook from the start', async () => {
  const registry = createMetricsRegistry();
  reviewCounter(registry, ['a', 'b']);
  const outcomes = [
    'Allowed',
    'Denied',
    'DependencyFailed',
    'Forbidden',
    'DeadlineExceeded',
    'Overloaded',
    'Unreadable',
    'NotKnownYet',
    'PodNotPrepared',
    'InternalError',
  ];
  assert.deepEqual(
    [...(await registry.expose()).matchAll(/^rollout_operator_admission_reviews_total(.*)$/gm)].map(
      ([, series]) => series,
    ),
    ['a', 'b'].flatMap((each) =>
      outcomes.map((outcome) => `{route="${each}",outcome="${outcome}"} 0`),
    ),
  );
});
