/** Two operators that are processes of their own, and both answer webhooks: one zone of a group at a time. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import type { PolicyRule } from '#cluster/auth/authorizer.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { prepared, reviewDocument, setObject } from '#support/admission/admission-requests.ts';
import { WebhookClient } from '#support/admission/webhook-client.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { PodFleetServer } from '#support/pods/pod-fleet-server.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { type ServingOperator, WebhookStage } from '../stages/webhook-stage.ts';

const namespace = 'test';
const rounds = 200;

/** What asks each of `operators`, trusting the certificate that they share. */
async function clientsOf(
  { admin }: WebhookStage,
  operators: readonly ServingOperator[],
): Promise<readonly WebhookClient[]> {
  const name = 'rollout-operator-self-signed-certificate';
  const stored = await admin.get(resourceTypes.secrets, { namespace, name });
  const ca = Buffer.from(textAt(stored, 'data', 'ca'), 'base64').toString();
  const servername = 'rollout-operator.test.svc';
  return operators.map(({ port }) => new WebhookClient(port, ca, { servername }));
}

/** A set of three replicas in `group`, as it is stored. */
async function zoneOn({ admin }: WebhookStage, group: string, name: string): Promise<JsonObject> {
  const labels = { ...prepared.labels, 'rollout-group': group };
  const body = setObject({ ...prepared, name, labels });
  const stored = await admin.create(resourceTypes.statefulSets, { namespace }, { body });
  return { ...stored, apiVersion: 'apps/v1', kind: 'StatefulSet' };
}

/** Whether `replica` lets `set` shrink to one. */
async function isAllowed(replica: WebhookClient, set: JsonObject): Promise<boolean> {
  const object = { ...set, spec: { ...(set['spec'] as JsonObject), replicas: 1 } };
  const review = reviewDocument({
    name: textAt(set, 'metadata', 'name'),
    object,
    oldObject: set,
  });
  const path = '/admission/prepare-downscale?timeout=10s';
  const { status, text } = await replica.post(path, JSON.stringify(review));
  assert.equal(status, 200);
  const answer: unknown = JSON.parse(text);
  const response = isJsonObject(answer) ? answer['response'] : undefined;
  return isJsonObject(response) && response['allowed'] === true;
}

describe('two replicas that both answer webhooks', () => {
  const clock = systemClock();
  const pods = new PodFleetServer(new PodFleet(clock), clock);
  let stage: WebhookStage;
  let operators: readonly ServingOperator[];
  let replicas: readonly WebhookClient[];

  before(async () => {
    stage = await WebhookStage.open();
    const env = { HTTP_PROXY: (await pods.listen()).href };
    operators = await Promise.all([stage.operator([], env), stage.operator([], env)]);
    replicas = await clientsOf(stage, operators);
  });

  after(async () => {
    for (const replica of replicas) await replica.close();
    await stage.close();
    await pods.close();
  });

  const zone = (group: string, name: string): Promise<JsonObject> => zoneOn(stage, group, name);

  test('are one leader and one follower, both of them ready and with metrics', async () => {
    const roles = operators.map(async ({ process }) => {
      const line = await process.line(/msg=(?:leading|following) /);
      return / msg=(?<role>\w+) /.exec(line)?.groups?.['role'];
    });
    assert.deepEqual(new Set(await Promise.all(roles)), new Set(['leading', 'following']));
    // Only now: a replica is ready before it asks for the Lease.
    const key = { namespace, name: 'rollout-operator' };
    const lease = await stage.admin.get(resourceTypes.leases, key);
    assert.notEqual(textAt(lease, 'spec', 'holderIdentity'), '');
    const shown = await Promise.all(
      operators.map(async ({ plain }) => {
        const ready = await fetch(`${plain}/ready`);
        const metrics = await fetch(`${plain}/metrics`);
        await Promise.all([ready.text(), metrics.text()]);
        return [ready.status, metrics.status];
      }),
    );
    assert.deepEqual(shown, [
      [200, 200],
      [200, 200],
    ]);
  });

  test(`asked at once for two zones of one group, ${rounds} times, allow exactly one`, async () => {
    const counts = new Map<number, number>();
    const winners = new Set<number>();
    for (let round = 0; round < rounds; round += 1) {
      const group = `group-${round}`;
      const zones = await Promise.all([zone(group, `${group}-a`), zone(group, `${group}-b`)]);
      // Each of them is asked first every other time, and for each zone.
      const asked = replicas.map((replica, index) => ({ replica, index, set: zones[index] ?? {} }));
      if (round % 2 === 1) asked.reverse();
      const said = await Promise.all(
        asked.map(async ({ replica, index, set }) =>
          (await isAllowed(replica, set)) ? [index] : [],
        ),
      );
      const allowed = said.flat();
      counts.set(allowed.length, (counts.get(allowed.length) ?? 0) + 1);
      for (const index of allowed) winners.add(index);
    }
    assert.deepEqual([...counts], [[1, rounds]]);
    assert.deepEqual(winners, new Set([0, 1]));
  });

  test('asked for a second zone after the answer, deny it in both', async () => {
    const zones = [await zone('later', 'later-a'), await zone('later', 'later-b')] as const;
    const [first, second] = replicas;
    assert.ok(first && second);
    assert.equal(await isAllowed(first, zones[0]), true);
    assert.equal(await isAllowed(second, zones[1]), false);
    assert.equal(await isAllowed(first, zones[1]), false);
    assert.equal(await isAllowed(second, zones[0]), true);
  });

  test('asked at once for zones of different groups, allow all of them', async () => {
    const names = Array.from({ length: 16 }, (_, index) => `apart-${index}`);
    const zones = await Promise.all(names.map((name) => zone(name, `${name}-a`)));
    const said = await Promise.all(
      zones.map((set, index) => {
        const replica = replicas[index % 2];
        assert.ok(replica);
        return isAllowed(replica, set);
      }),
    );
    assert.deepEqual(
      said,
      names.map(() => true),
    );
  });

  test('answer /live while their event loop turns: one that stands still does not, and the other reviews on', async () => {
    const [still, going] = operators;
    const [, client] = replicas;
    assert.ok(still && going && client);
    const zones = await Promise.all(
      Array.from({ length: 5 }, (_, index) => zone(`still-${index}`, `still-${index}-a`)),
    );
    assert.equal((await fetch(`${still.plain}/live`)).status, 200);
    still.process.kill('SIGSTOP');
    const story: string[] = [];
    const live = fetch(`${still.plain}/live`).then(({ status }) => story.push(`live ${status}`));
    for (const set of zones) story.push(`allowed ${await isAllowed(client, set)}`);
    story.push(`other ${(await fetch(`${going.plain}/live`)).status}`);
    still.process.kill('SIGCONT');
    await live;
    assert.deepEqual(story, [...zones.map(() => 'allowed true'), 'other 200', 'live 200']);
  });
});

/** The Roles of the peer's manifests without any rule about ConfigMaps, Leases and Events. */
const peerRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch', 'get', 'delete'] },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['list', 'watch', 'get', 'patch'] },
  { apiGroups: ['apps'], resources: ['statefulsets/status'], verbs: ['update'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['create', 'get', 'update'] },
];

test('a single replica under a Role without ConfigMaps prepares scale-downs, and says once what is missing', async () => {
  const clock = systemClock();
  const pods = new PodFleetServer(new PodFleet(clock), clock);
  const user = { name: 'peer', groups: ['system:authenticated'] };
  const stage = await WebhookStage.open(user);
  stage.cluster.authorizer.restrict([
    { user: user.name, namespace, rules: peerRules },
    {
      user: user.name,
      rules: [
        {
          apiGroups: ['admissionregistration.k8s.io'],
          resources: ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
          verbs: ['list', 'patch', 'watch'],
        },
      ],
    },
  ]);
  const operator = await stage.operator([], { HTTP_PROXY: (await pods.listen()).href });
  const [client] = await clientsOf(stage, [operator]);
  assert.ok(client);
  const warned = operator.process.line(/the Role does not permit get on the ConfigMap/);
  const zones = [await zoneOn(stage, 'one', 'one-a'), await zoneOn(stage, 'one', 'one-b')] as const;
  assert.equal(await isAllowed(client, zones[0]), true);
  assert.equal(await isAllowed(client, zones[1]), false);
  assert.equal(await isAllowed(client, zones[0]), true);
  assert.match(await warned, /level=warn .*permit getting, creating and updating it/);
  const metrics = await (await fetch(`${operator.plain}/metrics`)).text();
  assert.match(
    metrics,
    /rollout_operator_refused_permissions\{verb="get",resource="configmaps"\} 1/,
  );
  const { items } = await stage.admin.list(resourceTypes.configMaps, { namespace });
  assert.deepEqual(
    items.filter(({ metadata }) => metadata.name === 'rollout-operator-claims'),
    [],
  );
  await client.close();
  await stage.close();
  await pods.close();
});
