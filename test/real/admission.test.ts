/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the assertion */
/** The webhooks of the real program, called by a real API server over verified TLS in their shipped form (D-31). */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { webhookConfigurations } from '#admission/webhook-configurations.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import { objectsAt, textAt } from '#embedded-cluster/controllers/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { usualNames } from '#operator-permissions.ts';
import { parseZoneEntry } from '#statefulset/last-downscale.ts';
import { PodFleet } from '#testing/pod-fleet.ts';
import { PodFleetServer } from '#testing/pod-fleet-server.ts';
import { refusedCalls } from '../real-cluster/audit.ts';
import type { RealEnv } from '../real-cluster/namespace-env.ts';
import type { RoleName } from '../real-cluster/operator-account.ts';
import { freePorts } from '../real-cluster/programs.ts';
import { type RealLane, startRealLane } from '../real-cluster/real-lane.ts';
import type { Answer, OperatorHandle } from '../scenarios/env.ts';
import { missing } from '../scenarios/env.ts';
import { setName } from '../scenarios/group.ts';

const hooks = ['no-downscale', 'prepare-downscale'] as const;

/** A namespace with a group, webhook configurations and an operator that serves them. */
class Stage {
  readonly env: RealEnv;
  readonly port: number;
  readonly #proxy: string;

  constructor(env: RealEnv, port: number, proxy: string) {
    this.env = env;
    this.port = port;
    this.#proxy = proxy;
  }

  get #place(): { readonly namespace: string; readonly port: number } {
    return { namespace: this.env.namespace, port: this.port };
  }

  /** Starts the operator; it is ready when this resolves. */
  start(flags: readonly string[] = []): Promise<OperatorHandle> {
    const tls = ['-server-tls.enabled=true', `-server-tls.port=${this.port}`];
    return this.env.startOperatorWith([...tls, ...flags], { HTTP_PROXY: this.#proxy });
  }

  /** Creates the Service and the configurations, and waits until both carry a CA. */
  async configure(): Promise<void> {
    const { admin, namespace } = this.env;
    const spec = { type: 'ExternalName', externalName: 'localhost' };
    const service = { metadata: { name: 'rollout-operator' }, spec };
    await admin.create(resourceTypes.services, { namespace }, { body: service });
    for (const body of webhookConfigurations(this.#place)) {
      const kind = body['kind'] === 'MutatingWebhookConfiguration' ? 'mutating' : 'validating';
      await admin.create(webhookTypes[kind], {}, { body });
    }
    await this.#untilCalled();
  }

  /** Until the API server calls both: it learns of a configuration a moment after it is written. */
  async #untilCalled(): Promise<void> {
    for (let tries = 0; tries < 300; tries += 1) {
      const bundles = await Promise.all(hooks.map((hook) => this.bundle(hook)));
      const answer = await this.scale('b', 2, '?dryRun=All');
      if (bundles.every((bundle) => bundle !== '') && answer.status === 400) return;
      await this.env.pass(millis(100));
    }
    throw new Error('Waited in vain until the API server calls the webhooks');
  }

  /** What the configuration of `hook` trusts. */
  async bundle(hook: (typeof hooks)[number]): Promise<string> {
    const type = webhookTypes[hook === 'no-downscale' ? 'validating' : 'mutating'];
    const stored = await this.env.admin.get(type, { name: `${hook}-${this.env.namespace}` });
    return textAt(objectsAt(stored, 'webhooks')[0], 'clientConfig', 'caBundle');
  }

  async setPolicy(failurePolicy: 'Fail' | 'Ignore'): Promise<void> {
    const operations = [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: failurePolicy }];
    for (const hook of hooks) {
      const type = webhookTypes[hook === 'no-downscale' ? 'validating' : 'mutating'];
      const name = `${hook}-${this.env.namespace}`;
      await this.env.admin.patch(type, { name }, { body: { kind: 'json', operations } });
    }
  }

  async label(zone: string, metadata: JsonObject): Promise<void> {
    const key = { namespace: this.env.namespace, name: setName(zone) };
    const body = { kind: 'merge', document: { metadata } } as const;
    await this.env.admin.patch(resourceTypes.statefulSets, key, { body });
  }

  path(zone: string): string {
    const { namespace } = this.env;
    return `/apis/apps/v1/namespaces/${namespace}/statefulsets/${setName(zone)}`;
  }

  /** As `kubectl scale`. */
  scale(zone: string, replicas: number, query = ''): Promise<Answer> {
    return this.env.ask('PATCH', `${this.path(zone)}/scale${query}`, { spec: { replicas } });
  }

  replicas(zone: string): unknown {
    const spec = this.env.stored('statefulsets.apps', setName(zone))?.['spec'];
    return isJsonObject(spec) ? spec['replicas'] : undefined;
  }

  /** When zone `zone` was last scaled down: by the ConfigMap of the zone tracker, else by the annotation. */
  async lastDownscale(zone: string, role: RoleName): Promise<string> {
    const { admin, namespace } = this.env;
    if (role === 'peer') {
      const stored = this.env.stored('statefulsets.apps', setName(zone));
      return textAt(stored, 'metadata', 'annotations', 'grafana.com/last-downscale');
    }
    const key = { namespace, name: usualNames.zoneTracker };
    const map = await admin.get(resourceTypes.configMaps, key);
    const entry = parseZoneEntry(textAt(map, 'data', setName(zone)));
    return entry.kind === 'noted' ? (entry.at ?? '') : '';
  }

  /** The refusal by no-downscale of a change to `to` replicas. */
  refused(zone: string, to: number): string {
    const { namespace } = this.env;
    return `400 admission webhook "no-downscale-${namespace}.grafana.com" denied the request: downscale of statefulsets/${setName(zone)} in ${namespace} from 3 to ${to} replicas is not allowed because it has the label 'grafana.com/no-downscale=true'`;
  }

  async noForbidden(): Promise<void> {
    if (missing(this.env, ['history']) !== undefined) return;
    const mayLackLeases = this.env.role === 'peer';
    assert.deepEqual(refusedCalls(await this.env.audit(), { mayLackLeases }), []);
  }
}

function told({ status, body }: Answer): string {
  const text = isJsonObject(body) ? textAt(body, 'message') : '';
  return `${status} ${text}`.trim();
}

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
  async function open(role: RoleName): Promise<Stage> {
    const env = await lane.env({ role, hasWebhooks: true, zones: ['a', 'b'] });
    const [port = 0] = await freePorts(1);
    const stage = new Stage(env, port, proxy);
    await stage.label('a', {
      labels: { 'grafana.com/prepare-downscale': 'true' },
      annotations: {
        'grafana.com/prepare-downscale-http-port': '80',
        'grafana.com/prepare-downscale-http-path': 'ingester/prepare-shutdown',
      },
    });
    await stage.label('b', { labels: { 'grafana.com/no-downscale': 'true' } });
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
