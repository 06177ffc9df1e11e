import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { isJsonObject, jsonIn } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { staticCredentials } from '#kubernetes/connect/bearer-token.ts';
import { openTransport } from '#kubernetes/connect/connection.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { tlsOf } from '#kubernetes/transport/server-trust.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { settingsOf } from '../process/manager-connection.ts';
import { signalled } from '../process/signals.ts';
import { FileError, randomIdentity, readInput, writeFiles } from './bedrock-io.ts';
import type { ApiAccess, ApiAddress, ClusterAccess, DrivePorts } from './drive-ports.ts';
import { ToldServers } from './told-servers.ts';

const timeout = seconds(30);

/** Returns the outside as it is. */
export function realPorts(): DrivePorts {
  const servers = new ToldServers();
  return {
    readInput,
    writeFiles,
    randomIdentity,
    out: (text) => void process.stdout.write(servers.without(text)),
    err: (text) => void process.stderr.write(servers.without(text)),
    clock: systemClock(),
    openCluster: (kubeconfig) => openCluster(kubeconfig, servers),
    openApi: (address) => openApi(address, servers),
    confirm: process.stdin.isTTY && process.stderr.isTTY ? confirm : undefined,
    interruption: () => signalled(() => undefined),
  };
}

/** Connects to the cluster of a kubeconfig. @throws {Error} one sentence */
async function openCluster(
  kubeconfig: string | undefined,
  servers: ToldServers,
): Promise<ClusterAccess> {
  const clock = systemClock();
  const named = kubeconfig ?? process.env['KUBECONFIG'];
  const settings = await settingsOf({ kubeconfig: named === '' ? undefined : named }, clock);
  const network = openTransport(settings, { clock, env: process.env });
  const transport = servers.tell(network, settings.credentials);
  const client = createClient({ transport, clock, timeout, userAgent: 'rollout-operator-bedrock' });
  return { client, namespace: settings.namespace ?? 'default', close: () => transport.close() };
}

async function openApi(
  { url, tokenFile, authorityFile }: ApiAddress,
  servers: ToldServers,
): Promise<ApiAccess> {
  const clock = systemClock();
  const token = (await textOf(tokenFile)).trim();
  const authorities = authorityFile === undefined ? undefined : await textOf(authorityFile);
  const tls = tlsOf(authorities === undefined ? {} : { authorities });
  const network = openTransport({ server: url, tls }, { clock, env: process.env });
  const transport = servers.tell(network, staticCredentials(`Bearer ${token}`));
  return {
    call: async ({ method, path, body }, signal) => {
      const headers = { 'content-type': 'application/json' };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await transport.request({ method, path, headers, ...sent, signal, timeout });
      const read = jsonIn(Buffer.from(answer.body).toString());
      return { status: answer.status, body: isJsonObject(read) ? read : {} };
    },
    close: () => transport.close(),
  };
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new FileError(`Cannot read ${path}`, { cause: error });
  }
}

async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal });
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
