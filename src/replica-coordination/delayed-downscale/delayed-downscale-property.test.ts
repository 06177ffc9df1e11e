import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type Instant, minutes, seconds } from '#base/units.ts';
import type { PodBehaviour } from '#support/pods/pod-fleet.ts';
import {
  type BedAnswer,
  type BedPatch,
  DelayedDownscaleBed,
} from '#support/rollouts/delayed-downscale-bed.ts';
import { preparedAnswer } from './prepare-pods-answer.ts';

const delay = minutes(4);
const slots = 4;

/** How far from the bed's start the times lie that pods answer, in seconds. */
const farthestTime = 600;

/**
 * By when nothing is left to do: the latest time that a pod answers has come, its delay has passed, and so has the delay
 * of a pod that came back with that patch, as its slot had been empty. The minute is for the calls between them.
 */
const restAfter = seconds(farthestTime) + 2 * delay + minutes(1);

/** What the world does to the set between two looks. */
type Step =
  | { readonly do: 'want'; readonly count: number }
  | { readonly do: 'behave'; readonly pod: number; readonly behaviour: PodBehaviour }
  | { readonly do: 'pass'; readonly millis: number }
  | { readonly do: 'replace'; readonly pod: number; readonly keepsState: boolean }
  | { readonly do: 'lose'; readonly pod: number }
  | { readonly do: 'cancel-by-hand'; readonly pod: number }
  | { readonly do: 'restart' };

const plainBehaviour: fc.Arbitrary<PodBehaviour> = fc.oneof(
  fc.constant<PodBehaviour>({ kind: 'application' }),
  fc.constant<PodBehaviour>({ kind: 'never' }),
  fc.constant<PodBehaviour>({ kind: 'reset' }),
  fc.record({
    kind: fc.constant('answer' as const),
    status: fc.constantFrom(200, 201, 204, 301, 404, 409, 500),
    body: fc.oneof(
      fc.string(),
      fc
        .integer({ min: -farthestTime, max: farthestTime })
        .map((ago) => JSON.stringify({ timestamp: 1_767_225_600 + ago })),
      fc.constantFrom('{"timestamp":0}', '{"timestamp":1e12}', '{}', '[]', 'null'),
    ),
  }),
);

const behaviour: fc.Arbitrary<PodBehaviour> = fc.oneof(
  plainBehaviour,
  fc.record({
    kind: fc.constant('late' as const),
    after: fc.integer({ min: 1, max: 8_000 }).map((ms) => seconds(ms / 1_000)),
    behaves: plainBehaviour,
  }),
);

const pod = fc.nat({ max: slots - 1 });

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('want' as const), count: fc.nat({ max: slots }) }),
  fc.record({ do: fc.constant('behave' as const), pod, behaviour }),
  fc.record({
    do: fc.constant('pass' as const),
    millis: fc.oneof(fc.nat({ max: 10_000 }), fc.nat({ max: 300_000 })),
  }),
  fc.record({ do: fc.constant('replace' as const), pod, keepsState: fc.boolean() }),
  fc.record({ do: fc.constant('lose' as const), pod }),
  fc.record({ do: fc.constant('cancel-by-hand' as const), pod }),
  fc.constant<Step>({ do: 'restart' }),
);

async function take(bed: DelayedDownscaleBed, done: Step): Promise<void> {
  switch (done.do) {
    case 'want':
      return bed.want(done.count);
    case 'behave':
      return bed.fleet.behave(done.behaviour, bed.podName(done.pod));
    case 'pass':
      await bed.run(done.millis);
      return;
    case 'replace':
      if (!done.keepsState) bed.fleet.prepare(bed.podName(done.pod), undefined);
      if (bed.pods.has(done.pod)) bed.replacePod(done.pod, { isReady: true });
      return;
    case 'lose':
      return bed.replacePod(done.pod);
    case 'cancel-by-hand':
      return bed.fleet.prepare(bed.podName(done.pod), undefined);
    default:
      return bed.restart();
  }
}

/** Ordinals whose pod was let go by `patch` although its own last word does not permit it. */
function letGoTooEarly(bed: DelayedDownscaleBed, patch: BedPatch): readonly number[] {
  const gone = Array.from({ length: Math.max(0, patch.from - patch.to) }, (_, at) => patch.to + at);
  return gone.filter((ordinal) => !mayGo(bed, bed.podName(ordinal), patch.at));
}

function mayGo(bed: DelayedDownscaleBed, name: string, at: Instant): boolean {
  const last = bed.answers.filter((each) => each.pod === name && each.at <= at).at(-1);
  if (last === undefined || at - last.at > 10_000) return false;
  const since = sinceOf(last);
  if (since === undefined) return false;
  // A time to come counts as the moment in which it was said first (D-55).
  const first = bed.answers.find((each) => each.pod === name && sinceOf(each) === since) ?? last;
  return at - Math.min(since, first.at) >= delay;
}

/** Since when the pod says that it is prepared; undefined where it does not. */
function sinceOf({ method, answer }: BedAnswer): Instant | undefined {
  const said = method === 'POST' ? preparedAnswer(answer) : undefined;
  return said?.kind === 'prepared' ? said.since : undefined;
}

test('planDelayedDownscale() lets no pod go before its delay has passed since its own answer, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const bed = new DelayedDownscaleBed({ replicas: slots, delay: '4m' });
      for (const each of steps) await take(bed, each);
      await bed.run(minutes(10));
      for (const patch of bed.patches) assert.deepEqual(letGoTooEarly(bed, patch), []);
    }),
    { numRuns: 100 },
  );
});

test('planDelayedDownscale() ends in a fixed point or a stated hold, whatever pods answer', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const bed = new DelayedDownscaleBed({ replicas: slots, delay: '4m' });
      for (const each of steps) await take(bed, each);
      await bed.run(restAfter);
      const { verdict } = bed.plan;
      assert.notEqual(verdict.kind, 'scale');
      if (verdict.kind === 'hold') assert.notEqual(verdict.because.message, '');
      const before = bed.patches.length;
      await bed.run(restAfter);
      assert.equal(bed.patches.length, before, 'the set has come to rest');
    }),
    { numRuns: 100 },
  );
});

test('planDelayedDownscale() reaches the wanted count, with every pod cancelled, once pods behave (LIVE-1)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30 }),
      fc.nat({ max: slots }),
      async (steps, wanted) => {
        const bed = new DelayedDownscaleBed({ replicas: slots, delay: '4m' });
        for (const each of steps) await take(bed, each);
        for (let ordinal = 0; ordinal < slots; ordinal += 1) {
          bed.fleet.behave({ kind: 'application' }, bed.podName(ordinal));
          const isSlot = ordinal < bed.set.spec.replicas;
          if (isSlot && !bed.pods.has(ordinal)) bed.replacePod(ordinal, { isReady: true });
        }
        bed.want(wanted);
        await bed.run(minutes(30));
        assert.equal(bed.set.spec.replicas, wanted);
        assert.equal(bed.verdict(), 'settled');
        for (let ordinal = 0; ordinal < wanted; ordinal += 1) {
          assert.equal(bed.fleet.preparedSince(bed.podName(ordinal)), undefined);
        }
        const calls = bed.fleet.calls.length;
        await bed.run(minutes(60));
        assert.equal(bed.fleet.calls.length, calls, 'no call while there is nothing to do');
        assert.deepEqual(bed.plan.requeue, { kind: 'await-change' });
      },
    ),
    { numRuns: 100 },
  );
});

test('planDelayedDownscale() comes to the same end, and removes no pod earlier, when it is restarted at any time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 400_000 }), { maxLength: 5 }), async (pauses) => {
      const bed = new DelayedDownscaleBed({ replicas: slots, wanted: 1, delay: '4m' });
      await bed.run();
      for (const pause of pauses) {
        await bed.run(pause);
        bed.restart();
      }
      await bed.run(minutes(5));
      assert.deepEqual(
        bed.patches.map(({ at, to }) => [at - 1_767_225_600_000, to]),
        [[240_000, 1]],
      );
    }),
    { numRuns: 100 },
  );
});
