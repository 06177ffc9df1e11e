import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import type { Behaviour } from '#cluster/kubelet/behaviours.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { forceAnnotation, mirrorAnnotations } from '#support/objects/scaling.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images, NAMESPACE } from '#support/world/world-group.ts';
import { type OperatorRun, usualRenewals } from '#support/world/world-operator.ts';
import {
  assertBlockedBy,
  eventsAbout,
  forEver,
  freeze,
  logSince,
  podsDeletedSince,
  silence,
  textOf,
} from '../stages/hostile-stage.ts';
import { assertKept, blockedBy, deletedPods } from '../stages/rollout-stage.ts';
import { annotateSet, createTemplate, follow, replicasOf } from '../stages/scaling-stage.ts';

/** Three zones of three, one pod at a time. */
const group: WorldOptions = { replicas: 3, maxUnavailable: '1' };

const longLease = ['-leader-election.lease-duration=3m', '-leader-election.renew-deadline=2m'];

/** Asserts that what is said of the first zone names `cause`, as an Event and in the log, since `from`. */
function assertTold(world: World, cause: RegExp, from: number): void {
  const events = eventsAbout(world, 'ingester-zone-a').filter(({ at }) => at >= from);
  const at = `at ${new Date(world.clock.now()).toISOString()}`;
  assert.ok(
    events.some(({ message }) => cause.test(message)),
    `no Event that names ${cause.source} ${at}: ${events.map(({ message }) => message).join('; ')}`,
  );
  const lines = logSince(world, from).map(textOf);
  assert.ok(
    lines.some((line) => cause.test(line)),
    `no log line that names ${cause.source} ${at}: ${lines.join('; ')}`,
  );
}

const broken: Readonly<Record<string, Behaviour>> = {
  ImagePullBackOff: { behave: 'imagePullBackOff' },
  CrashLoopBackOff: { behave: 'crashLoop' },
};

for (const [cause, behaviour] of Object.entries(broken)) {
  test(`for two hours an Event and a log line of the last 10 minutes say ${cause}`, async () => {
    const world = await World.create(group);
    const operator = await world.readyOperator();
    await world.clock.advance(minutes(1));
    world.kubelet.behaviours.add({ ...behaviour, match: { image: images.new } });
    await world.setImage(images.new);
    await world.clock.advance(minutes(3));
    for (let minute = 3; minute <= 120; minute += 1) {
      const youngest = Math.min(minute, 10);
      assertTold(world, new RegExp(cause), world.clock.now() - minutes(youngest) - seconds(1));
      assert.notEqual(await blockedBy(world, operator), undefined);
      await world.clock.advance(minutes(1));
    }
    assert.deepEqual(deletedPods(world), ['ingester-zone-a-0']);
    await world.close();
  });
}

const listOfPods =
  /\b(list|lists|listing|read|answer)\b.*\bpods\b|\bpods\b.*\b(list|lists|listing|read|answer)\b/i;

/** Asserts what is told 12 s after a call of a pass began to hang, and that the rollout begins within 45 s of it. */
async function assertOvercome(
  [world, operator]: readonly [World, OperatorRun],
  awaited: RegExp,
): Promise<void> {
  const hungAt = world.clock.now();
  await world.clock.advance(seconds(12));
  assert.notEqual(await blockedBy(world, operator), undefined);
  const events = eventsAbout(world, 'ingester-zone-a').filter(({ at }) => at >= hungAt);
  assert.ok(
    events.some(({ message }) => awaited.test(message)),
    `no Event says what is waited for: ${events.map(({ message }) => message).join('; ')}`,
  );
  await world.clock.advance(seconds(33));
  assert.deepEqual(podsDeletedSince(world, hungAt).slice(0, 1), ['ingester-zone-a-0']);
}

test('a list of pods that never answers ends after 30 s, and after 10 s it is told that it is waited for', async () => {
  const world = await World.create(group);
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(1));
  const { faults } = world.cluster;
  faults.add({
    match: { client: operator.client, verb: 'list', resource: 'pods' },
    count: 1,
    action: { kind: 'delay', delay: forEver },
  });
  await world.setImage(images.new);
  await world.clock.runUntil(() => faults.hits.length === 1, { maxVirtual: minutes(1) });
  await assertOvercome([world, operator], listOfPods);
  await world.untilRolled(images.new);
  await world.close();
});

test('a read of a scale that never answers ends after 30 s, and after 10 s it is told that it is waited for', async () => {
  const world = await World.create(group);
  await createTemplate(world, 'ingester', 3);
  await annotateSet(world, 'a', mirrorAnnotations('ingester'));
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(1));
  const { faults } = world.cluster;
  faults.add({
    match: { client: operator.client, verb: 'get', subresource: 'scale' },
    count: 1,
    action: { kind: 'delay', delay: forEver },
  });
  const document = { metadata: { annotations: { note: 'touched by a person' } } };
  const key = { namespace: NAMESPACE, name: 'ingester' };
  const body = { kind: 'merge', document } as const;
  await world.run(world.admin.patch(resourceTypes.replicaTemplates, key, { body }));
  await world.setImage(images.new);
  await world.clock.runUntil(() => faults.hits.length === 1, { maxVirtual: minutes(1) });
  await assertOvercome([world, operator], /replicatemplate|\bscale\b/i);
  await world.untilRolled(images.new);
  await world.close();
});

test('after an own scaling that the watch does not show, a reason is given within 15 s', async () => {
  const world = await World.create({ ...group, zones: ['a', 'b'] });
  await annotateSet(world, 'a', follow('b'));
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(1));
  const write = { client: operator.client, verb: 'patch', resource: 'statefulsets' };
  world.cluster.faults.beforeWrite(write, 1, () => {
    silence(world, operator, 'statefulsets.apps');
  });
  await annotateSet(world, 'a', forceAnnotation(2));
  await world.clock.runUntil(() => replicasOf(world)[0] === 2, { maxVirtual: minutes(1) });
  const from = world.clock.now();
  await world.clock.advance(seconds(15));
  assert.notEqual(await blockedBy(world, operator), undefined);
  const events = eventsAbout(world, 'ingester-zone-a').filter(({ at }) => at >= from);
  assert.notDeepEqual(
    events.filter(({ reason }) => reason !== 'ScaledByForce'),
    [],
  );
  await world.close();
});

test('30 s after the API server froze in mid-rollout, a warning and the gauge say that the view is not fresh', async () => {
  // So long that the Lease outlives the standstill: what is said of the view is what this is about.
  const world = await World.create({ ...group, flags: longLease });
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(1));
  await world.setImage(images.new);
  await world.clock.advance(seconds(5));
  assert.ok(deletedPods(world).length < 9);
  const from = world.clock.now();
  const thaw = freeze(world, {}, from + 46_000);
  const speaks = ['pods', 'statefulsets.apps'].map((each) => silence(world, operator, each));
  await world.clock.advance(seconds(35));
  await assertBlockedBy([world, operator], ['ViewNotFresh']);
  const warnings = logSince(world, from).filter(({ level }) => level === 'warn');
  assert.notDeepEqual(warnings.map(textOf), []);
  await world.clock.advance(seconds(11));
  thaw();
  for (const speak of speaks) speak();
  await world.untilRolled(images.new);
  await world.close();
});

test('an API server that is frozen for longer than the renew deadline ends the process with one sentence, and the next one goes on at once, as every answer had come', async () => {
  const world = await World.create({ ...group, flags: usualRenewals });
  const operator = await world.readyOperator();
  world.onEnded.add(() => world.replaceOperator(seconds(1)));
  await world.clock.advance(minutes(1));
  await world.setImage(images.new);
  await world.clock.advance(seconds(5));
  const before = deletedPods(world).length;
  assert.ok(before < 9);
  const thaw = freeze(world, {}, world.clock.now() + 46_000);
  await world.clock.advance(seconds(46));
  thaw();
  await world.clock.advance(seconds(10));
  assert.match(String(operator.ended?.error), /^LeaseLostError: The Lease was lost: /);
  await world.untilRolled(images.new, minutes(1));
  assert.equal(deletedPods(world).length, 9);
  assertKept(world);
  await world.close();
});
