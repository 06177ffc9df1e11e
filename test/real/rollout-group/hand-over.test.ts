import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { seconds } from '#base/units.ts';
import type { RealOperator } from '../../real-cluster/operator-runs.ts';
import type { RealEnv, RealEnvOptions } from '../../real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { features } from '../../scenarios/env.ts';
import { images, isComplete, podsOn, setImage } from '../../scenarios/group.ts';

const limit = seconds(180);

/** A Lease that is lost sooner than by default, so that ten holders one after the other take a minute. */
const briefLease = [
  '-leader-election.lease-duration=10s',
  '-leader-election.renew-deadline=7s',
  '-leader-election.retry-period=1s',
];

/** What becomes of the leader, by turns. */
const ends = ['kill', 'stop', 'pause'] as const;

/** Writes of a rollout, and when the operator dies: when it has sent them, or before it hears their answer. */
const points = [1, 2, 3, 5]
  .map((nth) => ({ write: /^DELETE .*\/pods\//, what: 'deletion', nth }))
  .concat([1, 2].map((nth) => ({ write: /\/statefulsets\/.*\/status$/, what: 'status', nth })))
  .flatMap((point) => (['sent', 'answered'] as const).map((moment) => ({ ...point, moment })));

async function assertSpotless(env: RealEnv, removed: number): Promise<void> {
  await env.untilNothingIsLate();
  assert.equal((await env.removedByOperator()).size, removed);
  const judgement = await env.judge();
  assert.equal(judgement.violations.length, 0, judgement.report());
}

async function untilLeading(
  env: RealEnv,
  operators: readonly RealOperator[],
): Promise<RealOperator> {
  const leader = (): RealOperator | undefined => operators.find((each) => each.isLeading());
  await env.until('an operator leads', () => leader() !== undefined, limit);
  const found = leader();
  assert.ok(found !== undefined);
  return found;
}

// Most of it is waiting: for a Lease to run out, and for what a predecessor may have sent.
describe('one holder at a time on a real control plane', { concurrency: 2 }, () => {
  let lane: RealLane;

  before(async () => {
    lane = await startRealLane();
  });

  after(async () => {
    await lane?.close();
  });

  async function open(context: TestContext, options: RealEnvOptions): Promise<RealEnv | undefined> {
    if (lane.own !== undefined) return lane.env(options);
    context.skip(features.disturbance);
    return undefined;
  }

  test('ten leaders of a rollout of 3 x 20 pods are killed, stopped in good order or halted, and nothing is broken [WRIT-1]', {
    timeout: 600_000,
  }, async (context) => {
    const env = await open(context, { replicas: 20, maxUnavailable: 2, latenessSeed: 10 });
    if (env === undefined) return;
    const start = (): Promise<RealOperator> => env.startOperatorWith(briefLease);
    const operators = [await start(), await start()];
    await untilLeading(env, operators);
    await setImage(env, images.new);
    for (let round = 0; round < 10; round += 1) {
      await env.until(
        `${5 * (round + 1)} pods are new`,
        () => podsOn(env, images.new) >= 5 * (round + 1),
        limit,
      );
      const leader = await untilLeading(env, operators);
      const end = ends[round % ends.length];
      if (end === 'kill') await leader.kill();
      if (end === 'stop') await leader.stop();
      if (end === 'pause') {
        leader.pause();
        const others = operators.filter((each) => each !== leader);
        await untilLeading(env, others);
        leader.resume();
        await leader.ended;
      }
      operators.splice(operators.indexOf(leader), 1, await start());
    }
    await env.until('the rollout is complete', () => isComplete(env, images.new), limit);
    await assertSpotless(env, 60);
    await env.close();
  });

  test("under the peer's Role an operator that is killed is followed by one that waits", {
    timeout: 300_000,
  }, async (context) => {
    const env = await open(context, {
      role: 'peer',
      replicas: 20,
      maxUnavailable: 4,
      latenessSeed: 11,
    });
    if (env === undefined) return;
    let operator = await env.startOperator();
    await setImage(env, images.new);
    for (const count of [10, 25, 40]) {
      await env.until(`${count} pods are new`, () => podsOn(env, images.new) >= count, limit);
      await operator.kill();
      operator = await env.startOperator();
    }
    await env.until('the rollout is complete', () => isComplete(env, images.new), limit);
    await operator.stop();
    await assertSpotless(env, 60);
    await env.close();
  });

  test('a leader that is killed is followed 120 to 145 s after its last request where nothing shortens the wait', {
    timeout: 300_000,
  }, async (context) => {
    const env = await open(context, { replicas: 4, maxUnavailable: 1 });
    if (env === undefined) return;
    const start = (): Promise<RealOperator> =>
      env.startOperatorWith(['-rollout.predecessor-horizon=120s']);
    const operators = [await start(), await start()];
    const leader = await untilLeading(env, operators);
    await setImage(env, images.new);
    await env.until('three pods are new', () => podsOn(env, images.new) >= 3, limit);
    await leader.kill();
    await env.until('the rollout is complete', () => isComplete(env, images.new), limit);
    const sent = (await env.audit())
      .filter(({ verb, objectRef }) => verb === 'delete' && objectRef?.resource === 'pods')
      .filter(({ user }) => user.username === env.user)
      .map(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp))
      .sort((one, other) => one - other);
    const gap = Math.max(...sent.slice(1).map((at, index) => at - (sent[index] ?? at)));
    context.diagnostic(
      `${(gap / 1_000).toFixed(1)} s between the last deletion of one and the first of the next`,
    );
    assert.ok(gap >= 120_000 && gap <= 145_000, `${gap} ms`);
    await assertSpotless(env, 12);
    await env.close();
  });

  describe('an operator that dies', { concurrency: 4 }, () => {
    for (const { write, what, nth, moment } of points) {
      const when = moment === 'sent' ? 'when it has sent' : 'before it hears the answer to';
      test(`${when} ${what} #${nth} is followed by one that breaks nothing`, {
        timeout: 240_000,
      }, async (context) => {
        const state: { seen: number; operator?: RealOperator } = { seen: 0 };
        const killed = Promise.withResolvers<void>();
        const env = await open(context, {
          replicas: 2,
          maxUnavailable: 1,
          latenessSeed: nth,
          onWrite: (line, at) => {
            if (at !== moment || !write.test(line)) return;
            state.seen += 1;
            if (state.seen === nth) state.operator?.kill().then(killed.resolve, killed.reject);
          },
        });
        if (env === undefined) return;
        state.operator = await env.startOperatorWith(briefLease);
        await untilLeading(env, [state.operator]);
        await setImage(env, images.new);
        // Nothing may be heard of it: its death is no event of the cluster.
        await killed.promise;
        await env.startOperatorWith(briefLease);
        await env.until('the rollout is complete', () => isComplete(env, images.new), limit);
        await assertSpotless(env, 6);
        await env.close();
      });
    }
  });
});
