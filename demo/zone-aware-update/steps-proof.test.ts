import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PodCommits } from '#support/objects/pod-commits.ts';
import { StepsProof } from './steps-proof.ts';

const zones = new Map([
  ['node-a', 'zone-a'],
  ['node-b', 'zone-b'],
]);

/** Pods `db-0`…`db-3`, the even ones in the first zone. */
class Play {
  readonly proof = new StepsProof({ set: 'db', replicas: 4, maxUnavailable: 2, zones });
  readonly #pods = new PodCommits((commit) => this.proof.see(commit));

  constructor() {
    for (const ordinal of [0, 1, 2, 3]) this.ready(ordinal, 'old');
  }

  ready(ordinal: number, revision: string): void {
    const conditions = [{ type: 'Ready', status: 'True' }];
    this.#pods.put(ordinal, {
      metadata: { labels: { 'controller-revision-hash': revision } },
      spec: { nodeName: ordinal % 2 === 0 ? 'node-a' : 'node-b' },
      status: { conditions },
    });
  }

  take(...ordinals: readonly number[]): void {
    for (const ordinal of ordinals) this.#pods.put(ordinal, undefined);
  }
}

describe('StepsProof', () => {
  test('finds nothing wrong with steps that grow within one zone, and counts them', () => {
    const play = new Play();
    play.take(2);
    assert.equal(play.proof.isFirstZoneTaken, false);
    play.ready(2, 'new');
    play.take(0);
    assert.equal(play.proof.isFirstZoneTaken, true);
    play.ready(0, 'new');
    play.take(3, 1);
    assert.equal(play.proof.picture(), 'zone-a ●●  zone-b ○○');
    play.ready(3, 'new');
    play.ready(1, 'new');
    assert.deepEqual(play.proof.steps, [1, 1, 2]);
    assert.equal(play.proof.isWhole, true);
    assert.equal(play.proof.mostAway, 2);
    assert.deepEqual(play.proof.faults(), []);
  });

  const broken: Record<string, { play: (play: Play) => void; faults: readonly string[] }> = {
    'two zones that are down at once': {
      play: (play) => {
        play.take(2);
        play.ready(2, 'new');
        play.take(0, 1);
      },
      faults: ['2 zones had unavailable pods at once'],
    },
    'a step that is larger than its turn allows': {
      play: (play) => play.take(2, 0),
      faults: ['a step took 2 pods, which is too many'],
    },
    'more pods than allowed': {
      play: (play) => {
        play.take(2);
        play.ready(2, 'new');
        play.take(0, 1, 3);
      },
      faults: [
        '2 zones had unavailable pods at once',
        '3 pods were unavailable at once, 2 allowed',
        'a step took 3 pods, which is too many',
      ],
    },
    'a pod that goes while none may': {
      play: (play) => {
        play.proof.forbid(true);
        play.take(2);
        play.proof.forbid(false);
      },
      faults: ['1 pod went while the alarm rang'],
    },
  };

  for (const [what, { play, faults }] of Object.entries(broken)) {
    test(`tells of ${what}`, () => {
      const played = new Play();
      play(played);
      assert.deepEqual(played.proof.faults(), faults);
    });
  }
});
