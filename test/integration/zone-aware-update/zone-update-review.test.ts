/** ZoneAwareUpdates under tries to break them: what a dry run leaves behind, hours of waiting, and strangers that write. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { numberAt, objectAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ZoneUpdateStage } from './zone-update-stage.ts';

const query = { url: 'http://prometheus:9090', expr: 'sum(errors)', thresholdRange: { max: 5 } };

async function settled(spec: JsonObject = {}): Promise<ZoneUpdateStage> {
  const stage = await ZoneUpdateStage.open();
  stage.start();
  await stage.create(spec);
  await stage.until('it is settled', () => stage.condition() === 'True Updated');
  return stage;
}

function sizes(stage: ZoneUpdateStage): readonly number[] {
  return stage.steps().map((step) => step.split(' ').length);
}

interface Told {
  readonly at: number;
  readonly reason: string;
  readonly message: string;
}

/** Every time that an Event about a ZoneAwareUpdate was stored, in order. */
function told({ env }: ZoneUpdateStage): readonly Told[] {
  return env.cluster.eventLog.commits
    .filter(({ resource }) => resource.startsWith('events'))
    .filter(({ after }) => JSON.stringify(after).includes('"kind":"ZoneAwareUpdate"'))
    .map(({ at, after }) => ({
      at,
      reason: textAt(after, 'reason'),
      message: textAt(after, 'message') || textAt(after, 'note'),
    }));
}

/** Looks once a minute for an hour; the longest time in which no Event named `reason`. */
async function longestSilence(stage: ZoneUpdateStage, reason: string): Promise<number> {
  let longest = 0;
  for (let minute = 0; minute < 60; minute += 1) {
    await stage.pass(seconds(60));
    const last = told(stage).findLast((each) => each.reason === reason);
    longest = Math.max(longest, stage.env.clock.now() - (last?.at ?? 0));
  }
  return longest;
}

test('a dry run that ends leaves nothing behind: the first real step takes one pod', async () => {
  const stage = await settled({ dryRun: true });
  await stage.change('db:2');
  await stage.until('it says so', () => stage.condition().endsWith('DryRun'));
  await stage.edit({ dryRun: false });
  await stage.completed('db:2');
  assert.deepEqual(sizes(stage), [1, 2, 1, 4, 4]);
  await stage.close();
});

test('a dry run that ends while an alarm rings leaves nothing behind either', async () => {
  const stage = await settled({ dryRun: true });
  await stage.change('db:2');
  await stage.until('it says so', () => stage.condition().endsWith('DryRun'));
  stage.source.state = 'ALARM';
  await stage.edit({ dryRun: false, pauseRolloutAlarm: 'Ingesters' });
  await stage.until('it is paused', () => stage.isPaused());
  assert.equal(stage.status(), '0 / 0 / 4,4,4');
  stage.source.state = 'OK';
  await stage.completed('db:2');
  assert.deepEqual(sizes(stage), [1, 2, 1, 4, 4]);
  await stage.close();
});

for (const by of ['alarm', 'query'] as const) {
  const spec = by === 'alarm' ? { pauseRolloutAlarm: 'Ingesters' } : { pauseRolloutQuery: query };
  test(`for an hour in which the ${by} pauses, an Event younger than 10 minutes says so, and nothing that passes is reported`, async () => {
    const stage = await settled(spec);
    stage.source.state = 'ALARM';
    stage.prometheus.answer = () => ({
      kind: 'vector',
      samples: [{ value: 6, text: '6' }],
      warnings: [],
    });
    await stage.change('db:2');
    await stage.until('it is paused', () => stage.isPaused());
    const before = told(stage).length;
    const reason = by === 'alarm' ? 'AlarmRings' : 'QueryFails';
    const silence = await longestSilence(stage, reason);
    assert.ok(silence <= 11 * 60_000, `${silence} ms`);
    const since = told(stage).slice(before);
    assert.deepEqual([...new Set(since.map((each) => each.reason))], [reason]);
    assert.ok(since.length <= 7, `${since.length} Events`);
    await stage.close();
  });
}

test('for an hour in which a new pod crashes, an Event younger than 10 minutes names it', async () => {
  const stage = await settled();
  stage.env.kubelet.behaviours.add({ match: { image: 'db:bad' }, behave: 'crashLoop' });
  await stage.change('db:bad');
  await stage.until('a step is done', () => stage.status().startsWith('1 '));
  await stage.pass(seconds(60));
  const silence = await longestSilence(stage, 'AwaitingPods');
  assert.ok(silence <= 11 * 60_000, `${silence} ms`);
  assert.match(told(stage).at(-1)?.message ?? '', /db-9/);
  await stage.close();
});

for (const [what, zoneOfWrite] of [
  ['the same zone', () => 'x'],
  ['ever new zones', (n: number) => `x-${n}`],
] as const) {
  test(`a stranger that writes ${what} into the status at once after us does not make us write without end`, async () => {
    const stage = await settled();
    const count = (): number =>
      stage.env.cluster.eventLog.calls.filter(
        ({ verb, resource, user }) =>
          verb === 'update' &&
          resource.startsWith('zoneawareupdates') &&
          user.startsWith('operator-'),
      ).length;
    const before = count();
    for (let n = 0; n < 600; n += 1) {
      const body = {
        kind: 'merge',
        document: { status: { oldReplicas: { [zoneOfWrite(n)]: 3 } } },
      } as const;
      await stage.env.client.patch(
        resourceTypes.zoneAwareUpdates,
        { namespace: 'demo', name: 'zau' },
        { body, subresource: 'status' },
      );
      await stage.pass(millis(100));
    }
    const writes = count() - before;
    assert.ok(writes <= 15, `${writes} writes in a minute`);
    await stage.close();
  });
}

test('a count of steps that a stranger made huge neither stops a rollout nor makes it write without end', async () => {
  const stage = await settled();
  await stage.change('db:2');
  await stage.until('one step is done', () => stage.status().startsWith('1 '));
  await stage.env.client.patch(
    resourceTypes.zoneAwareUpdates,
    { namespace: 'demo', name: 'zau' },
    {
      body: { kind: 'merge', document: { status: { updateStep: 2_147_483_647 } } },
      subresource: 'status',
    },
  );
  await stage.completed('db:2');
  const { calls } = stage.env.cluster.eventLog;
  const refused = calls.filter(
    ({ verb, resource }) => verb === 'update' && resource.startsWith('zoneawareupdates'),
  );
  assert.ok(refused.length < 30, `${refused.length} writes`);
  assert.equal(numberAt(objectAt(stage.update(), 'status'), 'updateStep') ?? 0, 0);
  await stage.close();
});
