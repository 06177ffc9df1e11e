/** What holds of every plan, whatever happens to the set, the server and the process (GATE-1). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { CheckVerdict } from '#check/answer.ts';
import { PhasedPlay } from '#support/rollouts/phased-play.ts';

type Happening =
  | { readonly kind: 'look' | 'ask' }
  | { readonly kind: 'controller' | 'restart' }
  | { readonly kind: 'answer'; readonly verdict: CheckVerdict }
  | { readonly kind: 'pass' | 'clock'; readonly span: number }
  | { readonly kind: 'change'; readonly revision: string }
  | { readonly kind: 'pod'; readonly ordinal: number; readonly isReady: boolean }
  | { readonly kind: 'scale'; readonly replicas: number };

const verdict = fc.constantFrom<CheckVerdict>('passes', 'passes', 'passes', 'fails', 'unknown');

const happenings = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant<Happening>({ kind: 'look' }) },
    { weight: 4, arbitrary: fc.constant<Happening>({ kind: 'ask' }) },
    { weight: 8, arbitrary: verdict.map((each): Happening => ({ kind: 'answer', verdict: each })) },
    { weight: 3, arbitrary: fc.nat(15_000).map((span): Happening => ({ kind: 'pass', span })) },
    {
      weight: 1,
      arbitrary: fc
        .integer({ min: -100_000, max: 100_000 })
        .map((span): Happening => ({ kind: 'clock', span })),
    },
    { weight: 3, arbitrary: fc.constant<Happening>({ kind: 'controller' }) },
    { weight: 1, arbitrary: fc.constant<Happening>({ kind: 'restart' }) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('B', 'C', 'D')
        .map((revision): Happening => ({ kind: 'change', revision })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.nat(2), fc.boolean())
        .map(([ordinal, isReady]): Happening => ({ kind: 'pod', ordinal, isReady })),
    },
    {
      weight: 1,
      arbitrary: fc
        .integer({ min: 1, max: 5 })
        .map((replicas): Happening => ({ kind: 'scale', replicas })),
    },
  ),
  { maxLength: 80, size: 'max' },
);

/** What a look may change. */
interface Target {
  readonly partition: number;
  /** The partition, as far as there are pods. */
  readonly effective: number;
  readonly isUpdating: boolean;
}

/** A rollout with a log of its own, by steps of so many pods. */
class Logged {
  readonly play = PhasedPlay.rolling();
  readonly #stepSize: number;
  lowered = 0;
  /** Pods that went since the last checks passed; undefined where they passed for no pod of this revision. */
  #sinceChecks: number | undefined;
  #revision = '';
  /** Passes in a row of what the set was to run when they were asked for, since that or the partition changed. */
  #passes = 0;
  #askedFor: string | undefined;
  #step = '';

  constructor(stepSize: number) {
    this.#stepSize = stepSize;
    if (stepSize > 1) this.play.spec = { ...this.play.spec, stepSize };
  }

  run(happening: Happening): void {
    const { play } = this;
    switch (happening.kind) {
      case 'look':
        this.#look();
        return;
      case 'ask':
        this.#untilAsked();
        return;
      case 'answer':
        this.#untilAsked();
        if (play.isAsked) this.#answer(happening.verdict);
        this.#look();
        return;
      default:
        this.#disturb(happening);
    }
  }

  #disturb(happening: Exclude<Happening, { kind: 'look' | 'ask' | 'answer' }>): void {
    const { play } = this;
    switch (happening.kind) {
      case 'pass':
        play.pass(happening.span);
        return;
      case 'clock':
        play.wall += happening.span;
        return;
      case 'controller':
        play.controller();
        return;
      case 'restart':
        play.restart();
        return;
      case 'change':
        play.change(happening.revision);
        return;
      case 'pod':
        play.put(
          happening.ordinal,
          play.pods.get(happening.ordinal)?.revision,
          happening.isReady ? 'ready' : 'not-ready',
        );
        return;
      case 'scale':
        this.#scale(happening.replicas);
    }
  }

  #scale(replicas: number): void {
    const { set, pods } = this.play;
    if (set === undefined) return;
    set.replicas = replicas;
    for (const ordinal of pods.keys()) if (ordinal >= replicas) pods.delete(ordinal);
  }

  #untilAsked(): void {
    for (let count = 0; count < 12 && !this.play.isAsked; count += 1) {
      const { requeue } = this.play.plan();
      if (requeue.kind !== 'at') {
        this.#look();
        continue;
      }
      // By how much the wall clock says; what is watched to pass ends a wait, too.
      this.play.pass(Math.max(0, requeue.at - this.play.wall));
      this.#look();
    }
  }

  #answer(verdict: CheckVerdict): void {
    this.play.answer(verdict);
    const isOfNow = this.#askedFor === this.#subject();
    if (!isOfNow) return;
    if (verdict === 'passes') this.#passes += 1;
    if (verdict === 'fails') this.#passes = 0;
  }

  #subject(): string {
    const { set } = this.play;
    return `${set?.update ?? ''} ${set?.partition ?? ''}`;
  }

  #look(): void {
    const { play } = this;
    this.#forgetIfAnother();
    const before = this.#target();
    const asks = play.asks.length;
    play.look();
    if (play.asks.length > asks) this.#askedFor = this.#subject();
    if (before.isUpdating) this.#judge(before, this.#target());
    this.#forgetIfAnother();
  }

  #target(): Target {
    const { set } = this.play;
    assert.ok(set !== undefined);
    const { partition, replicas, current, update } = set;
    return { partition, effective: Math.min(partition, replicas), isUpdating: current !== update };
  }

  #judge(before: Target, now: Target): void {
    if (now.effective < before.effective) {
      assert.equal(now.partition, before.partition - 1, 'the partition is lowered by one');
      this.#sinceChecks = this.#passes >= 2 ? 1 : (this.#sinceChecks ?? Infinity) + 1;
      const isAllowed = this.#sinceChecks <= this.#stepSize;
      assert.ok(isAllowed, `pod ${this.#sinceChecks} of a step after ${this.#passes} passes`);
      this.lowered += 1;
      return;
    }
    const { step, updateRevision } = this.play.status;
    const isOfNow = updateRevision === this.play.set?.update && step?.partition === now.partition;
    if (isOfNow && step.consecutiveSuccesses > this.#passes)
      assert.fail('a pass came from elsewhere');
  }

  #forgetIfAnother(): void {
    const revision = this.play.set?.update ?? '';
    if (revision !== this.#revision) this.#sinceChecks = undefined;
    this.#revision = revision;
    if (this.#step === this.#subject()) return;
    this.#step = this.#subject();
    this.#passes = 0;
  }
}

describe('planPhasedRollout(), whatever happens', () => {
  for (const stepSize of [1, 2]) {
    test(`GATE-1: lowers the partition by one, after the checks of this revision for steps of ${stepSize}`, () => {
      let lowered = 0;
      fc.assert(
        fc.property(happenings, (all) => {
          const logged = new Logged(stepSize);
          for (const happening of all) logged.run(happening);
          lowered += logged.lowered;
        }),
        { numRuns: 300, seed: 1 },
      );
      assert.ok(lowered > 100, `it was lowered ${lowered} times only`);
    });
  }

  test('no pass survives a new revision', () => {
    fc.assert(
      fc.property(fc.array(verdict, { maxLength: 8 }), fc.boolean(), (verdicts, isAsked) => {
        const play = PhasedPlay.rolling();
        play.spec = { ...play.spec, successThreshold: 20 };
        for (const each of verdicts) play.next(each);
        if (isAsked) play.untilAsked();
        play.change('C').settle();
        if (isAsked) play.answer('passes').settle();
        assert.equal(play.status.updateRevision, 'C');
        assert.equal(play.status.step?.consecutiveSuccesses, 0);
        assert.equal(play.status.step?.totalFailures, 0);
      }),
      { numRuns: 100 },
    );
  });

  test('the initial delay counts from when all pods are available', () => {
    fc.assert(
      fc.property(fc.nat(120_000), fc.nat(120_000), (unavailable, begun) => {
        const play = PhasedPlay.steady();
        play.put(0, 'A', 'not-ready').change('B').settle();
        play.pass(unavailable).settle();
        play.put(0, 'A').settle();
        const from = play.steady;
        play.pass(begun % 9_000).settle();
        assert.equal(play.isAsked, false);
        play.untilAsked();
        // Stored times are cut to whole seconds, so that a wait may be that much shorter.
        const waited = play.steady - from;
        assert.ok(waited > 9_000 && waited <= 10_002, `waited ${waited} ms`);
      }),
      { numRuns: 100 },
    );
  });
});
