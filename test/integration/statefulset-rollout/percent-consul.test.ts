/** StatefulsetRollouts that ask Consul whether their pods are healthy, on the embedded cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import type { ServiceInstance } from '#check/consul/parse-consul.ts';
import { numberAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { FakeConsul } from '#support/external-services/fake-consul.ts';
import { PercentStage } from './percent-stage.ts';

/** Services that pods register with, by the name of the pod; nothing for none. */
type Registrations = (pod: string, address: string) => Record<string, Partial<ServiceInstance>>;

const passing: Registrations = (_pod, address) => ({ web: { address } });
const unreachable = {
  kind: 'trouble',
  code: 'ConsulUnavailable',
  message: 'connection refused',
} as const;

interface ConsulStage {
  readonly stage: PercentStage;
  readonly consul: FakeConsul;
  /** How pods register that become ready from now on. */
  registrations: Registrations;
}

/** Four ready pods on `db:1`, which register with Consul whenever they become ready. */
async function settled(
  discovery: JsonObject = { serviceNames: ['web'] },
  registrations: Registrations = passing,
): Promise<ConsulStage> {
  const stage = await PercentStage.open();
  const consul = new FakeConsul(stage.env.clock);
  const made: ConsulStage = { stage, consul, registrations };
  stage.consul = consul.opened;
  const registered = new Set<string>();
  stage.env.cluster.eventLog.onCommit(({ resource, after }) => {
    if (resource !== 'pods' || after === undefined) return;
    const name = textAt(after, 'metadata', 'name');
    const uid = textAt(after, 'metadata', 'uid');
    const isReady = objectsAt(after, 'status', 'conditions').some(
      (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
    );
    if (!isReady || registered.has(uid)) return;
    registered.add(uid);
    const wanted = made.registrations(name, textAt(after, 'status', 'podIP'));
    for (const [service, how] of Object.entries(wanted)) consul.register(service, name, how);
  });
  stage.start();
  await stage.create('db:1', { serviceDiscovery: discovery });
  await stage.ended();
  return made;
}

function servicesIn(stage: PercentStage): unknown {
  return stage.status()['consulServices'];
}

test('pods that register are waited for, counted, and followed until the end alone', async () => {
  const { stage, consul } = await settled();
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.ended();
  assert.deepEqual(stage.images(), ['db:2', 'db:2', 'db:2', 'db:2']);
  assert.equal(stage.mostDown(), 2);
  assert.equal(numberAt(stage.status(), 'readyReplicasRotor'), 4);
  assert.deepEqual(servicesIn(stage), ['web']);
  assert.equal(stage.condition('ServiceDiscoveryHealthy'), 'True ConsulAnswers');
  assert.ok(
    objectsAt(stage.status(), 'pods').every((pod) => pod['readyServiceDiscovery'] === true),
  );
  const asked = consul.questions.length;
  await stage.env.clock.advance(minutes(10));
  assert.equal(consul.questions.length, asked);
  assert.equal(consul.waiting, 0);
  assert.equal(numberAt(stage.status(), 'readyReplicasRotor'), 4);
  await stage.close();
});

test('a pod that is ready and critical is waited for, and counts against the budget [T-79]', async () => {
  const play = await settled();
  const { stage, consul } = play;
  play.registrations = (_pod, address) => ({ web: { address, isPassing: false } });
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.until('it waits', () => stage.phase() === 'WaitingForServiceDiscovery');
  await stage.env.clock.advance(minutes(5));
  assert.deepEqual(stage.evictions(), ['db-3', 'db-2']);
  assert.match(stage.reason(), /^AwaitingServiceDiscovery: waiting for .* to pass db-3, db-2/);
  assert.equal(numberAt(stage.status(), 'readyReplicasRotor'), 2);
  play.registrations = passing;
  consul.register('web', 'db-3');
  await stage.until('one more goes', () => stage.evictions().length === 3);
  consul.register('web', 'db-2');
  await stage.ended();
  assert.deepEqual(stage.images(), ['db:2', 'db:2', 'db:2', 'db:2']);
  await stage.close();
});

test('a pod that passes in one service of two is not ready [T-80]', async () => {
  const play = await settled({ serviceNames: ['web', 'api'] }, (_pod, address) => ({
    web: { address },
    api: { address },
  }));
  const { stage, consul } = play;
  play.registrations = passing;
  await stage.edit({ percent: 25, statefulset: stage.carried('db:2') });
  await stage.until('it waits', () => stage.phase() === 'WaitingForServiceDiscovery');
  await stage.env.clock.advance(minutes(2));
  assert.equal(stage.phase(), 'WaitingForServiceDiscovery');
  assert.equal(numberAt(stage.status(), 'readyReplicasRotor'), 3);
  assert.deepEqual(servicesIn(stage), ['api', 'web']);
  consul.register('api', 'db-3');
  await stage.ended();
  await stage.close();
});

test('unknown services ask nothing of the pods [T-82]', async () => {
  const { stage } = await settled({ serviceNames: ['web'] }, () => ({}));
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.ended();
  assert.equal(servicesIn(stage), undefined);
  assert.equal(stage.status()['readyReplicasRotor'], undefined);
  assert.deepEqual(stage.images(), ['db:2', 'db:2', 'db:2', 'db:2']);
  await stage.close();
});

test('a service that vanishes in the middle passes no pod, also for another process [T-82]', async () => {
  const play = await settled();
  const { stage, consul } = play;
  await stage.edit({ statefulset: stage.carried('db:2'), progressDeadlineSeconds: 600 });
  await stage.until('two have gone', () => stage.evictions().length === 2);
  play.registrations = () => ({});
  consul.vanish('web');
  await stage.env.clock.advance(minutes(2));
  assert.deepEqual(stage.evictions(), ['db-3', 'db-2']);
  assert.equal(servicesIn(stage), undefined);
  assert.equal(numberAt(stage.status(), 'readyReplicasRotor'), 0);
  await stage.running[0]?.stop();
  stage.start();
  await stage.env.clock.advance(minutes(2));
  assert.deepEqual(stage.evictions(), ['db-3', 'db-2']);
  await stage.ended('RolloutFailed');
  assert.match(stage.reason(), /AwaitingServiceDiscovery/);
  await stage.close();
});

test('a Consul that cannot be asked lets no further pod go, and the rollout fails by its deadline [T-83]', async () => {
  const { stage, consul } = await settled();
  await stage.edit({ statefulset: stage.carried('db:2'), progressDeadlineSeconds: 300 });
  await stage.until('two have gone', () => stage.evictions().length === 2);
  consul.fail(unreachable);
  await stage.until('it is told', () => stage.reason().startsWith('ConsulUnavailable: '));
  const last = numberAt(stage.status(), 'readyReplicasRotor');
  assert.ok(last === 2 || last === 3);
  await stage.env.clock.advance(minutes(1));
  assert.equal(numberAt(stage.status(), 'readyReplicasRotor'), last);
  assert.deepEqual(servicesIn(stage), ['web']);
  assert.equal(stage.condition('ServiceDiscoveryHealthy'), 'False ConsulUnavailable');
  await stage.ended('RolloutFailed');
  assert.match(stage.reason(), /ProgressDeadlineExceeded|no progress for 300 s; ConsulUnavailable/);
  assert.deepEqual(stage.evictions(), ['db-3', 'db-2']);
  await stage.close();
});

test('a Consul that comes back lets the rollout go on', async () => {
  const { stage, consul } = await settled();
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.until('two have gone', () => stage.evictions().length === 2);
  consul.fail(unreachable);
  await stage.env.clock.advance(minutes(4));
  assert.equal(stage.evictions().length, 2);
  consul.fail(undefined);
  await stage.ended();
  assert.equal(stage.condition('ServiceDiscoveryHealthy'), 'True ConsulAnswers');
  await stage.close();
});

test('a Consul that cannot be asked is done without where the resource says so [T-83]', async () => {
  const discovery = { serviceNames: ['web'], consul: { onError: 'Ignore' } };
  const { stage, consul } = await settled(discovery);
  consul.fail(unreachable);
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.ended();
  assert.deepEqual(stage.images(), ['db:2', 'db:2', 'db:2', 'db:2']);
  assert.equal(stage.condition('ServiceDiscoveryHealthy'), 'False ConsulUnavailable');
  await stage.close();
});

test('without any Consul a rollout that asks for one is held, and says so', async () => {
  const stage = await PercentStage.open();
  stage.start();
  const serviceDiscovery = { serviceNames: ['web'] };
  await stage.create('db:1', { serviceDiscovery, progressDeadlineSeconds: 60 });
  await stage.ended('RolloutFailed');
  assert.match(stage.reason(), /ConsulUnavailable: no Consul is configured/);
  await stage.edit({
    serviceDiscovery: { ...serviceDiscovery, consul: { onError: 'Ignore' } },
    rolloutIdentity: 'again',
  });
  await stage.ended();
  assert.equal(stage.condition('ServiceDiscoveryHealthy'), 'False ConsulUnavailable');
  await stage.close();
});

test('a registration that the former pod has left passes no new one [T-86]', async () => {
  const play = await settled();
  const { stage, consul } = play;
  // What was registered before stays there, passing, with the former address.
  play.registrations = () => ({});
  await stage.edit({ percent: 25, statefulset: stage.carried('db:2') });
  await stage.until('it waits', () => stage.phase() === 'WaitingForServiceDiscovery');
  await stage.env.clock.advance(minutes(3));
  assert.equal(stage.phase(), 'WaitingForServiceDiscovery');
  const [, , , pod] = objectsAt(stage.status(), 'pods');
  assert.equal(pod?.['ready'], true);
  assert.equal(pod?.['readyServiceDiscovery'], undefined);
  const address = textAt(stage.env.stored('pods').get('db-3'), 'status', 'podIP');
  consul.register('web', 'db-3', { address });
  await stage.ended();
  await stage.close();
});

test('a pause of the program longer than any answer lasts lets no pod go on an old one', async () => {
  const { stage, consul } = await settled();
  await stage.edit({ pauseRequested: true, statefulset: stage.carried('db:2') });
  await stage.until('it is paused', () => stage.phase() === 'Paused');
  await stage.env.clock.advance(seconds(200));
  assert.equal(consul.waiting, 1);
  await stage.edit({ pauseRequested: false });
  await stage.ended();
  await stage.close();
});
