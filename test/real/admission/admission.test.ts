/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the assertion */
/** The webhooks of the real program, called by a real API server over verified TLS in their shipped form (D-31). */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { millis } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { freePorts } from '#support/free-ports.ts';
import { budgetOver } from '#support/objects/budgets.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { PodFleetServer } from '#support/pods/pod-fleet-server.ts';
import type { RoleName } from '../../real-cluster/control-plane/operator-account.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { reviewBudgets } from '../../scenarios/budget-reviews.ts';
import type { Answer } from '../../scenarios/env.ts';
import { setName } from '../../scenarios/group.ts';
import { installBudgets } from '../../scenarios/rollouts.ts';
import { told, WebhookStage } from './webhook-stage.ts';

describe('webhooks on a real control plane', () => {
  let lane: RealLane;
  let fleet: PodFleet;
  let pods: PodFleetServer;
  let proxy: string;

  before(async () => {
    lane = await startRealLane();
    fleet = new PodFleet(lane.plane.clock);
    pods = new PodFleetServer(fleet, lane.plane.clock);
    proxy = (await pods.listen()).href;
  });

  after(async () => {
    await lane?.close();
    await pods.close();
  });

  /** Zone a is prepared, zone b may not shrink. */
  async function open(role: RoleName): Promise<WebhookStage> {
    const env = await lane.env({ role, hasWebhooks: true, zones: ['a', 'b'] });
    const [port = 0] = await freePorts(1);
    const stage = new WebhookStage(env, port, proxy);
    await stage.guard();
    return stage;
  }

  for (const role of ['ours', 'peer'] as const satisfies readonly RoleName[]) {
    const whose = role === 'ours' ? 'this operator' : 'the peer';

    test(`start, and refuse and prepare whatever a client does, under the Roles of ${whose}`, {
      timeout: 240_000,
    }, async () => {
      const stage = await open(role);
      const { env } = stage;
      // As it is shipped; the peer's Role is that of an installation without.
      const operator = await stage.start(role === 'ours' ? ['-use-zone-tracker=true'] : []);
      await stage.configure();
      const b = stage.path('b');
      const patch = await env.ask('PATCH', b, { spec: { replicas: 2 } });
      assert.equal(told(patch), stage.refused('b', 2));
      assert.equal(told(await stage.scale('b', 0)), stage.refused('b', 0));
      assert.equal(told(await stage.scale('b', 1, '?dryRun=All')), stage.refused('b', 1));
      const { body: scale } = await env.ask('GET', `${b}/scale`);
      const put = await env.ask('PUT', `${b}/scale`, { ...scale, spec: { replicas: 1 } });
      assert.equal(told(put), stage.refused('b', 1));
      const { body: whole } = await env.ask('GET', b);
      const replaced = { ...whole, spec: { ...whole.spec, replicas: 1 } };
      assert.equal(told(await env.ask('PUT', b, replaced)), stage.refused('b', 1));
      const applied = {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: setName('b') },
        spec: { replicas: 1 },
      };
      const apply = await env.ask('PATCH', `${b}?fieldManager=test&force=true`, applied, {
        'content-type': 'application/apply-patch+yaml',
      });
      assert.equal(told(apply), stage.refused('b', 1));
      fleet.calls.length = 0;
      assert.equal((await stage.scale('a', 1, '?dryRun=All')).status, 200);
      assert.deepEqual(fleet.story(), []);
      assert.equal(told(await stage.scale('a', 1)), '200');
      const prepared = [`POST ${setName('a')}-1`, `POST ${setName('a')}-2`];
      assert.deepEqual([...new Set(fleet.story())].toSorted(), prepared);
      await env.until('zone a shrinks', () => stage.replicas('a') === 1);
      assert.equal((await stage.scale('b', 4)).status, 200);
      assert.match(await stage.lastDownscale('a', role), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      await operator.stop();
      await stage.noForbidden();
      await env.close();
    });
  }

  test('let evictions pass but of pods that a budget keeps, and try them out [zpdb 48, 54]', {
    timeout: 240_000,
  }, async () => {
    const stage = await open('peer');
    const { env } = stage;
    const { admin, namespace } = env;
    const evict = (pod: string): Promise<Answer> =>
      env.ask('POST', `/api/v1/namespaces/${namespace}/pods/${pod}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: pod },
      });
    await installBudgets(env);
    const operator = await stage.start();
    await stage.configure();
    await admin.create(
      resourceTypes.zoneAwarePodDisruptionBudgets,
      { namespace },
      { body: budgetOver('a', { name: setName('a') }) },
    );
    const pod = `${setName('a')}-0`;
    const refusal = `403 admission webhook "pod-eviction-${namespace}.grafana.com" denied the request: max unavailable = 0 (ZoneAwarePodDisruptionBudget a)`;
    const dry = `/api/v1/namespaces/${namespace}/pods/${pod}/eviction?dryRun=All`;
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod } };
    // The API server learns of a configuration a moment after it is written, and calls it once it has a CA.
    for (let tries = 0; tries < 300; tries += 1) {
      if (told(await env.ask('POST', dry, eviction)) === refusal) break;
      await env.pass(millis(100));
    }
    assert.equal(told(await evict(pod)), refusal);
    assert.equal((await evict(`${setName('b')}-0`)).status, 201);
    await operator.stop();
    await stage.noForbidden();
    await env.close();
  });

  test('refuse budgets that say nothing that can be kept, in the words of the peer [zpdb 28, 29]', {
    timeout: 240_000,
  }, async () => {
    const stage = await open('ours');
    const { env } = stage;
    await installBudgets(env);
    const operator = await stage.start();
    await stage.configure();
    await reviewBudgets((method, path, ...rest) => env.ask(method, path, ...rest), env.namespace);
    await operator.stop();
    await stage.noForbidden();
    await env.close();
  });

  test('let a change be made or not, as their policy says, while the operator is down', {
    timeout: 240_000,
  }, async () => {
    const stage = await open('ours');
    const { env } = stage;
    const operator = await stage.start();
    await stage.configure();
    await operator.stop();
    const name = `no-downscale-${env.namespace}.grafana.com`;
    const answer = told(await stage.scale('b', 2));
    const calling = `500 Internal error occurred: failed calling webhook "prepare-downscale-${env.namespace}.grafana.com"`;
    assert.ok(answer.startsWith(calling), answer);
    assert.equal(stage.replicas('b'), 3);
    await stage.setPolicy('Ignore');
    for (let tries = 0; tries < 100; tries += 1) {
      if ((await stage.scale('b', 2)).status === 200) break;
      await env.pass(millis(100));
    }
    await env.until('zone b shrinks', () => stage.replicas('b') === 2);
    await stage.scale('b', 3);
    const again = await stage.start();
    await env.until('zone b is back', () => stage.replicas('b') === 3);
    assert.match(
      told(await stage.scale('b', 2)),
      new RegExp(`^400 admission webhook "${name}" denied`),
    );
    await again.stop();
    await env.close();
  });

  test('are trusted without a pause while their certificate is renewed (D-28)', {
    timeout: 240_000,
  }, async () => {
    const stage = await open('ours');
    const { env } = stage;
    const operator = await stage.start(['-server-tls.self-signed-cert.expiration=24s']);
    await stage.configure();
    const changes = (): number =>
      env.log.filter(({ msg }) => msg === 'webhook certificate changed').length;
    const answers = new Map<string, number>();
    while (changes() < 2) {
      const answer = told(await stage.scale('b', 2));
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
    assert.deepEqual([...answers.keys()], [stage.refused('b', 2)]);
    const [count = 0] = answers.values();
    assert.ok(count > 100, `${count} requests`);
    await operator.stop();
    await env.close();
  });
});
