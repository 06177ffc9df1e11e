/** A cluster in this process whose API server calls the webhooks of operators that are processes of their own. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { webhookConfigurations } from '#admission/webhook-configuration/webhook-configurations.ts';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import type { User } from '#cluster/cluster.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import { zoneAwarePodDisruptionBudgetDefinition } from '#disruption-budget/api.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { setObject } from '#support/admission/admission-requests.ts';
import { freePort } from '#support/free-ports.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { OperatorProcess } from './operator-program.ts';
import { bundled } from './webhook-bundles.ts';

const namespace = 'test';

/** An operator that serves webhooks. */
export interface ServingOperator {
  readonly process: OperatorProcess;
  /** Of the webhooks. */
  readonly port: number;
  /** Of `/ready` and `/metrics`. */
  readonly plain: string;
}

/** See above. */
export class WebhookStage {
  readonly cluster: EmbeddedCluster;
  readonly admin: Client;
  /** Where the API is, and who may do everything there. */
  readonly access: { readonly url: string; readonly token: string };
  readonly #folder: string;
  readonly #kubeconfig: string;
  readonly #operators: OperatorProcess[] = [];

  private constructor(cluster: EmbeddedCluster, folder: string, access: WebhookStage['access']) {
    this.cluster = cluster;
    this.access = access;
    this.#folder = folder;
    this.#kubeconfig = join(folder, 'kubeconfig');
    const plain = { clock: cluster.clock, timeout: millis(0), userAgent: 'test' };
    this.admin = createClient({ ...plain, transport: cluster.transport() });
  }

  /**
   * Starts the cluster, with the namespace of the operator and a Service that leads to localhost by its name (D-31).
   *
   * @param user whom operators act as. @default one who may do everything
   */
  static async open(user?: User): Promise<WebhookStage> {
    const cluster = await createCluster({ clock: systemClock(), seed: 1 });
    const folder = await mkdtemp(join(tmpdir(), 'webhook-stage-'));
    const listener = await cluster.listen();
    const kubeconfig = listener.kubeconfig(user);
    const token = /token: (\S+)/.exec(kubeconfig)?.[1] ?? '';
    const stage = new WebhookStage(cluster, folder, { url: listener.url, token });
    await writeFile(stage.#kubeconfig, kubeconfig, { mode: 0o600 });
    const { admin } = stage;
    await admin.create(resourceTypes.namespaces, {}, { body: { metadata: { name: namespace } } });
    const spec = { type: 'ExternalName', externalName: 'localhost' };
    const service = { metadata: { name: 'rollout-operator' }, spec };
    await admin.create(resourceTypes.services, { namespace }, { body: service });
    return stage;
  }

  /** A path in a folder that goes with the stage. */
  path(name: string): string {
    return join(this.#folder, name);
  }

  /** Starts the real program with TLS on, and waits until it is ready. */
  async operator(
    flags: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
    file?: string,
  ): Promise<ServingOperator> {
    const plainPort = await freePort();
    const process = this.launch([...flags, `-server.port=${plainPort}`], env, file);
    const line = await process.line(/msg="webhooks served"/);
    await process.line(/msg="caches synced"/);
    const port = Number(/ port=(\d+)/.exec(line)?.[1]);
    return { process, port, plain: `http://127.0.0.1:${plainPort}` };
  }

  /** Starts the real program with TLS on. @param flags may begin with a command */
  launch(
    flags: readonly string[],
    env: Readonly<Record<string, string>> = {},
    file?: string,
  ): OperatorProcess {
    const common = [`-kubernetes.config-file=${this.#kubeconfig}`, '-kubernetes.namespace=test'];
    const tls = ['-server-tls.enabled=true', '-server-tls.port=0', '-server.port=0'];
    const command = flags.slice(0, flags[0]?.startsWith('-') === false ? 1 : 0);
    const given = flags.slice(command.length);
    const process = new OperatorProcess([...command, ...common, ...tls, ...given], env, file);
    this.#operators.push(process);
    return process;
  }

  /** Creates the shipped webhook configurations, leading to `port`, and waits until they carry the CA. */
  async configure(port: number): Promise<void> {
    // The embedded cluster evaluates no conditions.
    const bodies = webhookConfigurations({ namespace, port, isConditional: false });
    const names = bodies.map((body) => textAt(body, 'metadata', 'name'));
    const trusted = bundled(this.cluster.eventLog, names);
    for (const body of bodies) {
      const isMutating = body['kind'] === 'MutatingWebhookConfiguration';
      await this.admin.create(webhookTypes[isMutating ? 'mutating' : 'validating'], {}, { body });
    }
    await trusted;
  }

  /** Installs the definition of budgets, and waits until they are served. */
  async installBudgets(): Promise<void> {
    const served = new Promise<void>((resolve) => {
      this.cluster.eventLog.onCommit(({ resource, after }) => {
        if (!resource.startsWith('customresourcedefinitions.')) return;
        const conditions = objectsAt(after, 'status', 'conditions');
        if (conditions.some((each) => textAt(each, 'type') === 'Established')) resolve();
      });
    });
    const body = zoneAwarePodDisruptionBudgetDefinition;
    await this.admin.create(resourceTypes.customResourceDefinitions, {}, { body });
    await served;
  }

  /** Takes the webhook configurations away again. */
  async unconfigure(): Promise<void> {
    for (const [kind, name] of [
      ['validating', 'no-downscale-test'],
      ['validating', 'pod-eviction-test'],
      ['validating', 'zpdb-validation-test'],
      ['mutating', 'prepare-downscale-test'],
    ] as const) {
      await this.admin
        .delete(webhookTypes[kind], { name }, { preconditions: {} })
        .catch(() => undefined);
    }
  }

  /** The CAs that the configuration of no-downscale carries now. */
  async bundle(): Promise<string> {
    const type = webhookTypes.validating;
    const stored = await this.admin.get(type, { name: 'no-downscale-test' });
    const [webhook] = objectsAt(stored, 'webhooks');
    return Buffer.from(textAt(webhook, 'clientConfig', 'caBundle'), 'base64').toString();
  }

  /** A new set of three replicas. */
  async set(options: Parameters<typeof setObject>[0] & { readonly name: string }): Promise<void> {
    const body = setObject(options);
    await this.admin.create(resourceTypes.statefulSets, { namespace }, { body });
  }

  /** Scales the set `name` as kubectl does. */
  async scale(name: string, replicas: number): Promise<unknown> {
    const body = { kind: 'merge', document: { spec: { replicas } } } as const;
    const key = { namespace, name };
    return this.admin.patch(resourceTypes.statefulSets, key, { body, subresource: 'scale' });
  }

  /** The stored set `name`. */
  stored(name: string): Promise<JsonObject> {
    return this.admin.get(resourceTypes.statefulSets, { namespace, name });
  }

  /** Ends all operators, then the cluster. */
  async close(): Promise<void> {
    for (const operator of this.#operators) operator.kill('SIGKILL');
    await Promise.all(this.#operators.map((operator) => operator.exitCode()));
    await this.cluster.close();
    await rm(this.#folder, { recursive: true });
  }
}
