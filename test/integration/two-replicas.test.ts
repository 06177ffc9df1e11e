/** Two operators that are processes of their own, and both answer webhooks: one zone of a group at a time (issue 13). */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { textAt } from '#embedded-cluster/controllers/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { prepared, reviewDocument, setObject } from '#testing/admission-requests.ts';
import { PodFleet } from '#testing/pod-fleet.ts';
import { PodFleetServer } from '#testing/pod-fleet-server.ts';
import { WebhookClient } from '#testing/webhook-client.ts';
import { type ServingOperator, WebhookStage } from './webhook-stage.ts';

const namespace = 'test';
const rounds = 200;

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
    const name = 'rollout-operator-self-signed-certificate';
    const stored = await stage.admin.get(resourceTypes.secrets, { namespace, name });
    const ca = Buffer.from(textAt(stored, 'data', 'ca'), 'base64').toString();
    const servername = 'rollout-operator.test.svc';
    replicas = operators.map(({ port }) => new WebhookClient(port, ca, { servername }));
  });

  after(async () => {
    for (const replica of replicas) await replica.close();
    await stage.close();
    await pods.close();
  });

  /** A set of three replicas in `group`, as it is stored. */
  async function zone(group: string, name: string): Promise<JsonObject> {
    const labels = { ...prepared.labels, 'rollout-group': group };
    const body = setObject({ ...prepared, name, labels });
    const stored = await stage.admin.create(resourceTypes.statefulSets, { namespace }, { body });
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
