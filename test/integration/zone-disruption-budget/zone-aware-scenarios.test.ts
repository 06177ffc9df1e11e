/** Scenarios of the zone-aware controllers that take a cluster: conflicts, foreign pods, budgets that move, hand-overs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import type { FaultRule } from '#cluster/faults.ts';
import { numberAt, objectAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { zoneAwareUpdateDefinition } from '#zone-aware-update/definition.ts';
import { zoneDisruptionBudgetDefinition } from '#zone-disruption-budget/definition.ts';
import { startEnvironment, templateOf } from '../stages/virtual-environment.ts';
import { ZoneUpdateStage } from '../zone-aware-update/zone-update-stage.ts';
import { type ZoneBudgetReplica, ZoneBudgetStage } from './zone-budget-stage.ts';

const namespace = 'demo';
const conflict = { kind: 'error', code: 409 } as const;

async function settledUpdate(spec = {}): Promise<ZoneUpdateStage> {
  const stage = await ZoneUpdateStage.open();
  stage.start();
  await stage.create(spec);
  await stage.until('it is settled', () => stage.condition() === 'True Updated');
  return stage;
}

/** A budget of one, and a replica that leads. */
async function servedBudget(): Promise<{ stage: ZoneBudgetStage; replica: ZoneBudgetReplica }> {
  const stage = await ZoneBudgetStage.open();
  const replica = await stage.start();
  replica.lead();
  await stage.create({ maxUnavailable: 1 });
  await stage.until('the status is stored', () => stage.status()['observedGeneration'] === 1);
  return { stage, replica };
}

function firstOf(stage: ZoneBudgetStage, zone: string): string {
  const [pod] = stage.podsOf(zone);
  assert.ok(pod !== undefined, zone);
  return pod;
}

/** Ledger, or status, writes of the replica fail so. */
function writesFail(
  stage: ZoneBudgetStage,
  resource: string,
  rest: Pick<FaultRule, 'action'> & { readonly count?: number },
): void {
  stage.env.cluster.faults.add({ match: { user: 'replica-1', verb: 'update', resource }, ...rest });
}

function reservedPods(stage: ZoneBudgetStage): readonly string[] {
  const name = 'rollout-operator-zone-ledger-demo.db';
  const [text] = stage.env.cluster.eventLog.commits
    .flatMap(({ resource, name: of, after }) =>
      resource === 'configmaps' && of === name ? [textAt(after, 'data', 'reservations')] : [],
    )
    .slice(-1);
  return [...(text ?? '').matchAll(/"pod":"([^"]+)"/gu)].map(([, pod = '']) => pod);
}

test('[zau 17] a conflict as the set is promoted is looked at again, and the update is not called complete before that is stored', async () => {
  const stage = await settledUpdate({ exponentialFactor: '0' });
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'update', resource: 'statefulsets' },
    action: conflict,
    count: 3,
  });
  await stage.change('db:2');
  await stage.completed('db:2');
  const { commits } = stage.env.cluster.eventLog;
  const promotedAt = commits.findLast(
    ({ resource, user }) => resource === 'statefulsets.apps' && user === 'operator-1',
  )?.revision;
  const completedAt = commits.findLast(({ resource }) => resource.startsWith('zoneawareupdates'));
  assert.ok(promotedAt !== undefined && completedAt !== undefined);
  assert.ok(promotedAt < completedAt.revision);
  await stage.close();
});

test('[zau 28] a pause whose status cannot be stored is a pause all the same, and the alarm is asked again after 10 s', async () => {
  const stage = await settledUpdate({ pauseRolloutAlarm: 'latency' });
  stage.source.state = 'ALARM';
  const disarm = stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'update', resource: 'zoneawareupdates' },
    action: conflict,
  });
  const asked = stage.source.calls.length;
  await stage.change('db:2');
  await stage.pass(seconds(65));
  assert.deepEqual(stage.steps(), []);
  assert.equal(stage.isPaused(), false);
  const times = stage.source.answers.slice(asked).map(({ at }) => at);
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  assert.ok(gaps.length >= 5, `${gaps.length}`);
  assert.ok(
    gaps.every((gap) => gap >= 10_000 && gap < 11_000),
    gaps.join(),
  );
  disarm();
  await stage.until('the pause is stored', () => stage.isPaused());
  stage.source.state = 'OK';
  await stage.completed('db:2');
  await stage.close();
});

test('[zau 41] a pod of another set with the same labels is not touched, and holds nothing up', async () => {
  const stage = await settledUpdate({ exponentialFactor: '0' });
  await stage.env.createSet({ replicas: 2, template: templateOf('db:0') }, 'other');
  stage.env.kubelet.behaviours.add({ match: { name: 'other-1' }, behave: 'neverReady' });
  await stage.pass(seconds(30));
  const uids = ['other-0', 'other-1'].map((pod) => stage.env.uidOf('pods', pod));
  await stage.change('db:2');
  await stage.completed('db:2');
  assert.deepEqual(
    ['other-0', 'other-1'].map((pod) => stage.env.uidOf('pods', pod)),
    uids,
  );
  await stage.close();
});

test('[zau 96] the next leader goes on with the step that comes next, zones being those of the nodes', async () => {
  const stage = await settledUpdate();
  await stage.change('db:2');
  await stage.until('two steps are done', () => stage.status().startsWith('2 / 2'));
  await stage.running[0]?.stop();
  stage.start();
  await stage.completed('db:2');
  assert.deepEqual(
    stage.steps().map((step) => step.split(' ').length),
    [1, 2, 1, 4, 4],
  );
  await stage.close();
});

test('[zau 66] a status whose write conflicts is written again, with what was given away meanwhile', async () => {
  const { stage, replica } = await servedBudget();
  const pod = firstOf(stage, 'zone-a');
  writesFail(stage, 'zonedisruptionbudgets', { action: conflict, count: 3 });
  assert.equal(await stage.finish(replica.review(pod)), '');
  await stage.until('the status has it', () => {
    return Object.keys(objectAt(stage.status(), 'disruptedPods')).includes(pod);
  });
  const allowed = objectAt(stage.status(), 'disruptionsAllowed');
  assert.deepEqual(
    Object.keys(allowed).map((zone) => numberAt(allowed, zone)),
    [0, 0, 0],
  );
  await stage.close();
});

test('[zau 83] a ledger that another process has changed meanwhile is read again, and one pod is given once', async () => {
  const { stage, replica } = await servedBudget();
  const pod = firstOf(stage, 'zone-a');
  writesFail(stage, 'configmaps', { action: conflict, count: 1 });
  assert.equal(await stage.finish(replica.review(pod)), '');
  assert.deepEqual(reservedPods(stage), [pod]);
  await stage.close();
});

test('[zau 84] where the other process took what there was, nothing is left', async () => {
  const { stage, replica } = await servedBudget();
  const other = await stage.start();
  const [mine, theirs] = [firstOf(stage, 'zone-a'), firstOf(stage, 'zone-b')];
  // The second one writes between the look of the first one and its write.
  stage.env.cluster.faults.add({
    match: { user: 'replica-1', verb: 'update', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(2) },
    count: 1,
  });
  const first = replica.review(mine);
  const second = other.review(theirs);
  const [one, two] = await stage.finish(Promise.all([first, second]));
  assert.equal(two, '');
  assert.match(one, /^429 /);
  assert.deepEqual(reservedPods(stage), [theirs]);
  await stage.close();
});

test('[zau 85] a ledger that conflicts again and again ends in a denial before the API server gives up', async () => {
  const { stage, replica } = await servedBudget();
  const pod = firstOf(stage, 'zone-a');
  writesFail(stage, 'configmaps', { action: conflict });
  const from = stage.env.clock.now();
  assert.match(await stage.finish(replica.review(pod)), /^429 /);
  const took = stage.env.clock.now() - from;
  assert.ok(took < seconds(10), `${took} ms`);
  assert.deepEqual(reservedPods(stage), []);
  await stage.close();
});

test('[zau 86] a budget that is deleted while it is asked governs nothing any more', async () => {
  const { stage, replica } = await servedBudget();
  const pod = firstOf(stage, 'zone-a');
  writesFail(stage, 'configmaps', { action: { kind: 'delay', delay: seconds(2) }, count: 1 });
  const asked = replica.review(pod);
  const key = { namespace, name: 'db' };
  await stage.finish(
    stage.env.client.delete(resourceTypes.zoneDisruptionBudgets, key, { preconditions: {} }),
  );
  assert.equal(await stage.finish(asked), '');
  await stage.close();
});

test('[zau 98] the definitions are served, list what the peer lists, and take the samples of the peer', async () => {
  const env = await startEnvironment();
  for (const body of [zoneAwareUpdateDefinition, zoneDisruptionBudgetDefinition]) {
    await env.client.create(resourceTypes.customResourceDefinitions, {}, { body });
  }
  await env.clock.advance(seconds(5));
  const apiVersion = 'zonecontrol.k8s.aws/v1';
  const update = {
    apiVersion,
    kind: 'ZoneAwareUpdate',
    metadata: { name: 'ingester-zau', namespace },
    spec: {
      statefulset: 'ingester',
      maxUnavailable: '10%',
      exponentialFactor: '2.0',
      pauseRolloutAlarm: 'ingester-alarm',
      ignoreAlarm: false,
      dryRun: false,
    },
  };
  const budget = {
    apiVersion,
    kind: 'ZoneDisruptionBudget',
    metadata: { name: 'ingester-zdb', namespace },
    spec: { selector: { matchLabels: { name: 'ingester' } }, maxUnavailable: '10%', dryRun: false },
  };
  await env.client.create(resourceTypes.zoneAwareUpdates, { namespace }, { body: update });
  await env.client.create(resourceTypes.zoneDisruptionBudgets, { namespace }, { body: budget });
  for (const [resource, name, short] of [
    ['zoneawareupdates', 'ingester-zau', 'zau'],
    ['zonedisruptionbudgets', 'ingester-zdb', 'zdb'],
  ] as const) {
    const stored = env.stored(`${resource}.zonecontrol.k8s.aws`).get(name);
    assert.equal(objectAt(stored, 'spec')['maxUnavailable'], '10%');
    const definition =
      resource === 'zoneawareupdates' ? zoneAwareUpdateDefinition : zoneDisruptionBudgetDefinition;
    assert.deepEqual(objectAt(definition, 'spec', 'names')['shortNames'], [short]);
  }
  await env.close();
});
