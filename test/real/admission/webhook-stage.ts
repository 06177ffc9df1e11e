import assert from 'node:assert/strict';
import { webhookConfigurations } from '#admission/webhook-configuration/webhook-configurations.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { usualNames } from '#operator/permissions/permissions.ts';
import { parseZoneEntry } from '#statefulset/last-downscale.ts';
import { refusedCalls } from '../../real-cluster/audit/audit.ts';
import type { RoleName } from '../../real-cluster/control-plane/operator-account.ts';
import type { RealEnv } from '../../real-cluster/real-env.ts';
import type { Answer, OperatorHandle } from '../../scenarios/env.ts';
import { missing } from '../../scenarios/env.ts';
import { setName } from '../../scenarios/group.ts';

const hooks = ['no-downscale', 'prepare-downscale', 'pod-eviction', 'zpdb-validation'] as const;

/** A namespace with a group, webhook configurations and an operator that serves them. */
export class WebhookStage {
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

  /** Has pods of zone a prepared before they go, and lets zone b not shrink. */
  async guard(): Promise<void> {
    await this.label('a', {
      labels: { 'grafana.com/prepare-downscale': 'true' },
      annotations: {
        'grafana.com/prepare-downscale-http-port': '80',
        'grafana.com/prepare-downscale-http-path': 'ingester/prepare-shutdown',
      },
    });
    await this.label('b', { labels: { 'grafana.com/no-downscale': 'true' } });
  }

  /** Creates the Service and the configurations, and waits until all carry a CA. */
  async configure(): Promise<void> {
    const { admin, namespace } = this.env;
    const spec = { type: 'ExternalName', externalName: 'localhost' };
    const service = { metadata: { name: 'rollout-operator' }, spec };
    await admin.create(resourceTypes.services, { namespace }, { body: service });
    for (const body of webhookConfigurations(this.#place)) {
      const kind = body['kind'] === 'MutatingWebhookConfiguration' ? 'mutating' : 'validating';
      await admin.create(webhookTypes[kind], {}, { body });
    }
    await this.untilCalled();
  }

  /** Until the API server calls them: it learns of a configuration a moment after it is written. */
  async untilCalled(): Promise<void> {
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
    const type = webhookTypes[hook === 'prepare-downscale' ? 'mutating' : 'validating'];
    const stored = await this.env.admin.get(type, { name: `${hook}-${this.env.namespace}` });
    return textAt(objectsAt(stored, 'webhooks')[0], 'clientConfig', 'caBundle');
  }

  async setPolicy(failurePolicy: 'Fail' | 'Ignore'): Promise<void> {
    const operations = [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: failurePolicy }];
    for (const hook of hooks) {
      const type = webhookTypes[hook === 'prepare-downscale' ? 'mutating' : 'validating'];
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

/** Status and message of an answer. */
export function told({ status, body }: Answer): string {
  const text = isJsonObject(body) ? textAt(body, 'message') : '';
  return `${status} ${text}`.trim();
}
