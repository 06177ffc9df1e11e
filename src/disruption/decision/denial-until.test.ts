import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { beginnings, histories, requestOf } from '#support/budgets/disruption-history.ts';
import { type Play, play } from '#support/budgets/ledger-play.ts';
import type { DisruptionRequest } from './decide.ts';
import type { Denial } from './denial.ts';

type Disturbed = Extract<Denial, { kind: 'disturbed' }>;

/** What stands against `request` at `at`, if nothing but time goes on. */
function standsAgainst(stage: Play, request: DisruptionRequest, at: number): Disturbed | undefined {
  const { world } = stage;
  stage.changing.world = { ...world, now: at };
  const [answer] = stage.try([{ ...request, isDryRun: true }]).answers;
  stage.changing.world = world;
  const isDisturbed = answer?.kind === 'denied' && answer.denial.kind === 'disturbed';
  return isDisturbed && answer.denial.kind === 'disturbed' ? answer.denial : undefined;
}

test('decide() says truly until when what is disturbed stands in the way (LIVE-2)', () => {
  let promises = 0;
  fc.assert(
    fc.property(beginnings, histories, (beginning, steps) => {
      play(beginning, steps, ({ play: stage, step }) => {
        const requests = stage.requests(step).map(requestOf);
        stage.decide(requests);
        for (const request of requests) {
          const denial = standsAgainst(stage, request, stage.world.now);
          if (denial?.until === undefined) continue;
          promises += 1;
          const { until, span } = denial;
          assert.deepEqual(standsAgainst(stage, request, until - 1)?.span, span);
          assert.notDeepEqual(standsAgainst(stage, request, until)?.span, span);
        }
      });
    }),
    { numRuns: 100 },
  );
  assert.ok(promises > 10, `${promises}`);
});
