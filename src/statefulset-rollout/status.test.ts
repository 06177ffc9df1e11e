import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { instant, seconds } from '#base/units.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { T0 } from '#support/objects/views.ts';
import { RolloutPlay } from '#support/rollouts/rollout-play.ts';
import { parseRollout, type RolloutView } from './parse-resource.ts';
import { noProgress, type RolloutProgress } from './progress.ts';
import { formatStatus } from './status/status-view.ts';
import { formatRollout, parseProgress } from './status.ts';

const progress: RolloutProgress = {
  phase: 'WaitingForReady',
  key: 'k',
  templateHash: 't',
  attempt: 1,
  startedAt: T0,
  finishedAt: undefined,
  outcome: { result: 'Failed', code: 'RolloutTimeout', message: 'not done after 3 s' },
  isCreator: true,
  isAdopted: true,
  isDeleted: true,
  rotated: new Set(['web-9', 'web-8', 'web-99']),
  batch: [{ name: 'web-8', uid: 'u' }],
  lastEviction: instant(T0 + 5_000),
  lastProgress: instant(T0 + 4_000),
  mostHealthy: 1,
  discovered: new Set(['api', 'web']),
  pausedSince: instant(T0 + 6_000),
  pausedTime: seconds(7),
  pausedSinceProgress: seconds(3),
  targetRevision: 'web-abc',
  partition: 8,
  isRollback: true,
  isWritten: true,
  percentDeployed: 10,
  callback: {
    stageId: 'stage-1',
    body: '{"schema":"…"}',
    attempts: 2,
    nextAttempt: instant(T0 + 9_000),
    code: 'ReceiverUnavailable',
    message: 'the receiver answers 503',
    isOver: true,
  },
  deliveredStage: 'stage-0',
};

function stored(of: RolloutProgress): JsonObject {
  const pods = ['web-9', 'web-8'].map((name) => ({ name, rotated: of.rotated.has(name) }));
  return {
    status: {
      phase: of.phase,
      deleted: of.isDeleted,
      percentDeployed: of.percentDeployed,
      lastCallbackStageId: of.deliveredStage,
      pods,
      rollout: formatRollout(of, new Set(['web-9', 'web-8'])),
    },
  };
}

test('parseProgress() reads what was written, marks of pods that are not listed included', () => {
  assert.deepEqual(parseProgress(stored(progress)), progress);
  assert.deepEqual(parseProgress({}), noProgress);
});

test('parseProgress() reads the list of pods by its published name, too [T-09]', () => {
  const status = { Pods: [{ name: 'web-1', rotated: true }] };
  assert.deepEqual([...parseProgress({ status }).rotated], ['web-1']);
});

describe('parseProgress() takes for not written', () => {
  const cases: Record<string, JsonObject> = {
    'an unknown phase': { phase: 'Odd' },
    'a time that is none': { rollout: { lastEvictionTime: 'yesterday', startedAt: 5 } },
    'pods that are none': { pods: 'web-0', rollout: { batch: [{ name: 1 }, null] } },
    'an unknown outcome': { rollout: { outcome: 'Maybe' } },
    'counts that are none': { percentDeployed: 'half', rollout: { mostHealthy: 1.5 } },
  };
  for (const [fact, status] of Object.entries(cases)) {
    test(`parseProgress() takes for not written ${fact}`, () => {
      assert.deepEqual(parseProgress({ status }), noProgress);
    });
  }
});

/** The resource of a play, as it is stored. */
function rolloutOf(play: RolloutPlay, status: JsonObject = {}): RolloutView {
  return parseRollout({
    metadata: {
      namespace: 'ns',
      name: 'rollout',
      generation: play.generation,
      annotations: { 'slack.com/bedrock.git.branch': 'main' },
      labels: { 'app.kubernetes.io/version': 'v2' },
    },
    spec: {
      percent: play.spec.percent,
      statefulset: {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 'web' },
        spec: {
          selector: {},
          template: { spec: { containers: [{ name: 'main', image: 'db:2' }] } },
        },
      },
    },
    status,
  });
}

function statusOf(play: RolloutPlay, status: JsonObject = {}): JsonObject {
  const snapshot = play.snapshot();
  const plan = play.planOf(snapshot);
  return formatStatus({ rollout: rolloutOf(play, status), snapshot, plan, now: play.now });
}

describe('formatStatus()', () => {
  test('shows what was published: phase, percentage, pods by ordinal, build and set', () => {
    const play = RolloutPlay.settled().edit({ percent: 50 }).want('v2');
    play.rest();
    play.settle();
    const status = statusOf(play);
    const { phase, readyReplicas, paused, deleted, statefulsetName, statefulsetSpecCurrent } =
      status;
    assert.deepEqual(
      { phase, readyReplicas, paused, deleted, statefulsetName, statefulsetSpecCurrent },
      {
        phase: 'WaitingForReady',
        readyReplicas: 10,
        paused: false,
        deleted: false,
        statefulsetName: 'web',
        statefulsetSpecCurrent: true,
      },
    );
    assert.deepEqual(status['buildMetadata'], { branch: 'main', version: 'v2', images: ['db:2'] });
    const pods = status['pods'] as readonly JsonObject[];
    assert.deepEqual(
      pods.map(({ name }) => name),
      Array.from({ length: 10 }, (_, ordinal) => `web-${ordinal}`),
    );
    assert.deepEqual(pods[0], { name: 'web-0', version: 'v1', revision: 'v1', ready: true });
    const { evictedAt, ...ninth } = pods[7] ?? {};
    assert.equal(typeof evictedAt, 'string');
    assert.deepEqual(ninth, {
      name: 'web-7',
      version: 'v1',
      revision: 'v1',
      ready: true,
      rotated: true,
    });
    assert.match(
      typeof status['reason'] === 'string' ? status['reason'] : '',
      /^PodsEvicted: web-7, web-6/,
    );
  });

  test('names pods that came back new before they were reached, and no longer once they were [T-62, T-63]', () => {
    const play = RolloutPlay.settled().edit({ percent: 50 }).want('v2');
    play.run();
    play.put(2, { template: 'v2', uid: 'new' });
    const leaking = statusOf(play);
    const since = formatUtcSeconds(play.now);
    assert.deepEqual(leaking['leak'], {
      policy: 'Report',
      leakedReplicas: 1,
      pods: ['web-2'],
      since,
    });
    play.time += 60_000;
    play.put(1, { template: 'v2', uid: 'newer' });
    const later = objectAt(statusOf(play, leaking), 'leak');
    assert.deepEqual([later['leakedReplicas'], later['since']], [2, since]);
    play.edit({ percent: 100 }).run();
    assert.equal(play.evicted.get('new'), undefined);
    assert.equal(statusOf(play)['leak'], undefined);
  });

  test('takes no pod for leaked that was let go before the percentage fell', () => {
    const play = RolloutPlay.settled().edit({ percent: 50 }).want('v2');
    play.run();
    play.edit({ percent: 25 }).run();
    assert.equal(statusOf(play)['leak'], undefined);
  });

  test('keeps what the notification has stored', () => {
    const kept = { slackMessage: { ts: '1' } };
    const { slackMessage } = statusOf(RolloutPlay.settled(), kept);
    assert.deepEqual({ slackMessage }, kept);
  });

  test('is smaller than 400 KiB for a thousand pods, in the order of their ordinals [T-08]', () => {
    const play = new RolloutPlay();
    play.edit({ set: { ...play.spec.set, replicas: 1_000 } });
    play.rest();
    play.settle();
    for (let ordinal = 0; ordinal < 1_000; ordinal += 1) play.put(ordinal, { state: 'crashing' });
    const status = statusOf(play);
    assert.ok(JSON.stringify(status).length < 400 * 1_024, `${JSON.stringify(status).length}`);
    const names = (status['pods'] as readonly JsonObject[]).map(({ name }) => name);
    assert.ok(names.indexOf('web-2') < names.indexOf('web-10'));
  });

  test('lists 2,000 pods, and says how many more there are', () => {
    const play = new RolloutPlay();
    play.edit({ set: { ...play.spec.set, replicas: 2_010 } });
    play.rest();
    const status = statusOf(play);
    assert.equal((status['pods'] as readonly JsonObject[]).length, 2_000);
    assert.equal(status['podsOmitted'], 10);
    assert.equal(parseProgress({ status }).rotated.size, 2_010);
  });

  test('shows no pods of a spec that cannot be read, and says why', () => {
    const play = RolloutPlay.settled();
    const problem = { path: 'spec.percent', message: 'must be there' };
    const snapshot = play.snapshot();
    const resource = { ...snapshot.resource, spec: { kind: 'invalid', problem } } as const;
    const broken = { ...snapshot, resource };
    const parts = {
      rollout: rolloutOf(play),
      snapshot: broken,
      plan: play.planOf(broken),
      now: play.now,
    };
    const status = formatStatus(parts);
    assert.equal(status['reason'], 'InvalidSpec: spec.percent must be there');
    assert.deepEqual(status['pods'], []);
  });
});
