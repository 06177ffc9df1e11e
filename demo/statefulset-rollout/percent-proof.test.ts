import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { PodCommits } from '#support/objects/pod-commits.ts';
import { PercentProof } from './percent-proof.ts';

/** Pods `db-0`…`db-3`, of which two may be away. */
class Play {
  readonly proof = new PercentProof({ set: 'db', replicas: 4, maxUnavailable: 2 });
  readonly #pods = new PodCommits((commit) => this.proof.see(commit));

  constructor() {
    this.proof.begin('db:1');
    this.ready('db:1', 0, 1, 2, 3);
    this.proof.begin('db:2');
  }

  ready(image: string, ...ordinals: readonly number[]): void {
    const conditions = [{ type: 'Ready', status: 'True' }];
    for (const ordinal of ordinals) this.#pods.put(ordinal, podOf(image, { conditions }));
  }

  crashing(image: string, ...ordinals: readonly number[]): void {
    const state = { waiting: { reason: 'CrashLoopBackOff' } };
    const status = { containerStatuses: [{ name: 'main', state }] };
    for (const ordinal of ordinals) this.#pods.put(ordinal, podOf(image, status));
  }

  /** As an eviction does it: first it is going, then it is gone. */
  take(...ordinals: readonly number[]): void {
    for (const ordinal of ordinals) {
      const pod = this.#pods.get(ordinal);
      this.#pods.put(ordinal, { ...pod, metadata: { deletionTimestamp: '2026-11-25T12:00:00Z' } });
      this.#pods.put(ordinal, undefined);
    }
  }
}

function podOf(image: string, status: JsonObject): JsonObject {
  return { spec: { containers: [{ name: 'main', image }] }, status };
}

/** All went, two by two. */
function rollTo(image: string, play: Play): void {
  for (const pair of [
    [3, 2],
    [1, 0],
  ]) {
    play.take(...pair);
    play.ready(image, ...pair);
  }
}

describe('PercentProof', () => {
  test('finds nothing wrong with a version that breaks within the budget, is taken back, and followed by a good one', () => {
    const play = new Play();
    const { proof } = play;
    play.take(3);
    play.ready('db:2', 3);
    assert.deepEqual(proof.takenNow, ['db-3']);
    proof.limit(3);
    // Of the same version, at a higher percentage.
    proof.begin('db:2');
    play.take(2, 1);
    assert.equal(proof.picture(), '●○○·');
    play.crashing('db:2', 2, 1);
    assert.equal(proof.picture(), '●✗✗·');
    proof.forbid(true);
    proof.forbid(false);
    proof.begin('db:1');
    play.take(2, 1);
    play.ready('db:1', 2, 1);
    play.take(3);
    play.ready('db:1', 3);
    proof.begin('db:3');
    rollTo('db:3', play);
    assert.equal(proof.picture(), '●●●●');
    assert.equal(proof.mostAway, 2);
    assert.deepEqual(
      proof.taken.map(({ image, pods }) => [image, pods.length]),
      [
        ['db:1', 0],
        ['db:2', 3],
        ['db:1', 3],
        ['db:3', 4],
      ],
    );
    assert.deepEqual(proof.faults(), []);
  });

  const broken: Record<string, { play: (play: Play) => void; faults: readonly string[] }> = {
    'more pods that are away than the budget lets': {
      play: (play) => {
        play.take(3, 2, 1);
        play.ready('db:2', 3, 2, 1);
        play.take(0);
        play.ready('db:2', 0);
      },
      faults: ['3 pods were unavailable at once, 2 allowed'],
    },
    'a pod that goes beside two that crash': {
      play: (play) => {
        play.take(3, 2);
        play.crashing('db:2', 3, 2);
        play.take(1);
        play.ready('db:2', 3, 2, 1);
        play.take(0);
        play.ready('db:2', 0);
      },
      faults: ['3 pods were unavailable at once, 2 allowed'],
    },
    'a pod that goes although it is new': {
      play: (play) => {
        rollTo('db:2', play);
        play.take(3);
        play.ready('db:2', 3);
      },
      faults: ['db-3 went although it ran db:2'],
    },
    'a pod that came back old, and goes again': {
      play: (play) => {
        play.take(3);
        play.ready('db:1', 3);
        play.take(2);
        play.ready('db:2', 2);
        for (const ordinal of [3, 1, 0]) {
          play.take(ordinal);
          play.ready('db:2', ordinal);
        }
      },
      faults: ['db-3 went twice for db:2'],
    },
    'a pod that goes after the failure': {
      play: (play) => {
        play.take(3);
        play.ready('db:2', 3);
        play.proof.forbid(true);
        play.take(2);
        play.proof.forbid(false);
        play.ready('db:2', 2);
        play.take(1, 0);
        play.ready('db:2', 1, 0);
      },
      faults: ['1 pod went after the rollout had failed'],
    },
    'a version that comes to more pods than it might': {
      play: (play) => {
        play.proof.limit(3);
        rollTo('db:2', play);
      },
      faults: ['4 pods went for db:2, 3 allowed'],
    },
    'a pod that is left behind': {
      play: (play) => {
        play.take(3, 2);
        play.ready('db:2', 3, 2);
        play.take(1);
        play.ready('db:2', 1);
      },
      faults: ['1 pod did not come to db:2'],
    },
  };

  for (const [fact, { play, faults }] of Object.entries(broken)) {
    test(`finds ${fact}`, () => {
      const seen = new Play();
      play(seen);
      assert.deepEqual(seen.proof.faults(), faults);
    });
  }

  test('counts nothing before all pods were there for the first time', () => {
    const proof = new PercentProof({ set: 'db', replicas: 2, maxUnavailable: 1 });
    assert.equal(proof.isWhole, false);
    assert.equal(proof.mostAway, 0);
  });
});
