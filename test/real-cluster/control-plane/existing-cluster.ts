/** A control plane that runs already: an API server and controllers, without nodes of its own. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Clock } from '#base/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { staticCredentials, withCredentials } from '#kubernetes/connect/bearer-token.ts';
import type { ConnectionSettings } from '#kubernetes/connect/connection.ts';
import { kubeconfigSettings } from '#kubernetes/connect/kubeconfig.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { createHttpTransport } from '#kubernetes/transport/http-transport.ts';
import type { TlsSettings } from '#kubernetes/transport/tls-settings.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import type { ControlPlane } from './control-plane.ts';
import { Programs } from './programs.ts';

/** Which cluster. */
export interface ExistingCluster {
  /** Of the kubeconfig. */
  readonly path: string;
  readonly context: string;
}

/** The label of the nodes that the scenarios bring along. */
export const STAND_IN_LABEL = 'rollout-operator.example/stand-in';

/**
 * The cluster that `TEST_KUBECONFIG` names, undefined where it is not set.
 *
 * @throws {Error} one sentence, unless the context was named on the command line and the file has it
 */
export async function chosenCluster(
  env: Readonly<Record<string, string | undefined>>,
  context: string | undefined,
): Promise<ExistingCluster | undefined> {
  const path = env['TEST_KUBECONFIG'] ?? '';
  if (path === '') {
    if (context === undefined) return undefined;
    throw new Error(`--context names "${context}", but TEST_KUBECONFIG names no kubeconfig`);
  }
  const names = contextsIn(await readKubeconfig(path));
  const quoted = names.map((name) => `"${name}"`).join(', ');
  if (context === undefined) {
    throw new Error(
      `TEST_KUBECONFIG is set: name the context to run on with --context, one of ${quoted}`,
    );
  }
  if (!names.includes(context)) {
    throw new Error(`--context names "${context}", but TEST_KUBECONFIG has ${quoted}`);
  }
  return { path, context };
}

async function readKubeconfig(path: string): Promise<JsonObject> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Error(`TEST_KUBECONFIG names "${path}", which cannot be read`, { cause });
  });
  const file = parse(text) as JsonValue;
  if (!isJsonObject(file))
    throw new Error(`TEST_KUBECONFIG names "${path}", which is no kubeconfig`);
  return file;
}

function contextsIn(file: JsonObject): readonly string[] {
  const { contexts } = file;
  if (!Array.isArray(contexts)) return [];
  return contexts.flatMap((entry) => {
    const name: unknown = isJsonObject(entry) ? entry['name'] : undefined;
    return typeof name === 'string' ? [name] : [];
  });
}

/** Connects to `cluster`. @throws {Error} when it has nodes: the scenarios would take the kubelets' place */
export async function connectExisting(cluster: ExistingCluster): Promise<ControlPlane> {
  const programs = await Programs.create();
  try {
    // The operator's way of reading a kubeconfig knows the current context only.
    const file = await readKubeconfig(cluster.path);
    const path = join(programs.folder, 'existing.kubeconfig');
    const text = JSON.stringify({ ...file, 'current-context': cluster.context });
    await writeFile(path, text, { mode: 0o600 });
    const clock = systemClock();
    const plane = new Existing(programs, clock, await kubeconfigSettings({ path, clock }));
    await refuseNodes(plane.admin, cluster.context);
    return plane;
  } catch (error) {
    await programs.close();
    throw error;
  }
}

async function refuseNodes(admin: Client, context: string): Promise<void> {
  const { items } = await admin.list(resourceTypes.nodes, {});
  const foreign = items.find(({ metadata }) => metadata.labels?.[STAND_IN_LABEL] === undefined);
  if (foreign === undefined) return;
  throw new Error(
    `The cluster of context "${context}" has node "${foreign.metadata.name}": the scenarios bring stand-ins for nodes, and run only on a control plane that has none`,
  );
}

class Existing implements ControlPlane {
  readonly programs: Programs;
  readonly clock: Clock;
  readonly admin: Client;
  readonly #settings: ConnectionSettings;
  readonly #transports: Transport[] = [];

  constructor(programs: Programs, clock: Clock, settings: ConnectionSettings) {
    this.programs = programs;
    this.clock = clock;
    this.#settings = settings;
    const transport = this.connectAsAdmin();
    this.admin = createClient({ transport, clock, timeout: seconds(30), userAgent: 'real-lane' });
  }

  connectAsAdmin(): Transport {
    const { tls, credentials } = this.#settings;
    return withCredentials(this.#open(tls), credentials);
  }

  connect(token: string): Transport {
    const { tls } = this.#settings;
    // Without the administrator's certificate, which would win over the token.
    const trust = (): TlsSettings => {
      const { cert: _, key: __, ...rest } = tls();
      return rest;
    };
    return withCredentials(this.#open(trust), staticCredentials(`Bearer ${token}`));
  }

  kubeconfig(token: string): string {
    const { server, tls } = this.#settings;
    const { ca, isInsecure = false } = tls();
    const trust = isInsecure
      ? { 'insecure-skip-tls-verify': true }
      : { 'certificate-authority-data': Buffer.from(String(ca ?? '')).toString('base64') };
    return `${JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'existing',
      contexts: [{ name: 'existing', context: { cluster: 'existing', user: 'user' } }],
      clusters: [{ name: 'existing', cluster: { server: server.href, ...trust } }],
      users: [{ name: 'user', user: { token } }],
    })}\n`;
  }

  async close(): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport.close()));
    await this.programs.close();
  }

  #open(tls: () => TlsSettings): Transport {
    const { server } = this.#settings;
    const { clock } = this;
    const transport = createHttpTransport({ server, clock, tls, connections: 64 });
    this.#transports.push(transport);
    return transport;
  }
}
