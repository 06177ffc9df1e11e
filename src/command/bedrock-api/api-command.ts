import { readFile } from 'node:fs/promises';
import { aborted } from '#base/async/aborted.ts';
import { FileError } from '#command/bedrock/bedrock-io.ts';
import { told } from '#command/bedrock/bedrock-ports.ts';
import type { DrivePorts } from '#command/bedrock/drive-ports.ts';
import { createLogger } from '#telemetry/log/line-logger.ts';
import { standardErrorSink } from '../process/log-sink.ts';
import { startApiServer } from './api-server.ts';
import { DeployApi } from './deploy-api.ts';
import { type ApiOptions, apiHelp, parseApiOptions } from './parse-api-options.ts';

/**
 * Serves the reference deploy API until it is interrupted (H-21).
 *
 * @param args the arguments after `bedrock api`
 * @returns the exit code: 0 after a signal, 2 for wrong arguments
 * @throws {Error} one sentence, where it cannot start
 */
export async function apiCommand(args: readonly string[], ports: DrivePorts): Promise<0 | 2> {
  const parsed = parseApiOptions(args);
  if (parsed.kind === 'help') return told(ports.out, apiHelp, 0);
  if (parsed.kind === 'invalid') return told(ports.err, `${parsed.sentence}\n`, 2);
  await serve(parsed.options, ports);
  return 0;
}

async function serve(options: ApiOptions, ports: DrivePorts): Promise<void> {
  const { clock, randomIdentity } = ports;
  const token = await secretIn(options.tokenFile);
  const signingKey = Buffer.from(await secretIn(options.signingKeyFile));
  const certificate = await certificateOf(options);
  const interruption = ports.interruption();
  const cluster = await ports.openCluster(options.kubeconfig);
  const sink = standardErrorSink();
  const logger = createLogger({ format: 'logfmt', level: 'info', clock, sink });
  try {
    const publicUrl = options.publicUrl ?? addressOf(options);
    const { client } = cluster;
    const { namespaces } = options;
    const secrets = { token, signingKey };
    const api = new DeployApi({ client, clock, ...secrets, publicUrl, randomIdentity, namespaces });
    const { host, port } = options;
    const server = await startApiServer({ api, clock, logger, host, port, ...certificate });
    logger.info('deploy API serves', { port: server.port, publicUrl });
    await aborted(interruption.signal);
    await server.close();
  } finally {
    await cluster.close();
    interruption.release();
    sink.flush();
  }
}

/** Editors end files with a line break, which is no part of a secret. */
async function secretIn(path: string): Promise<string> {
  const text = (await textOf(path)).replace(/\r?\n$/, '');
  if (text.trim() === '') throw new FileError(`Cannot use ${path}: it is empty`);
  return text;
}

async function certificateOf({ tls }: ApiOptions): Promise<{
  readonly certificate?: { readonly cert: string; readonly key: string };
}> {
  if (tls === undefined) return {};
  return { certificate: { cert: await textOf(tls.cert), key: await textOf(tls.key) } };
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new FileError(`Cannot read ${path}`, { cause: error });
  }
}

function addressOf({ host, port, tls }: ApiOptions): string {
  const shown = host.includes(':') ? `[${host}]` : host;
  return `${tls === undefined ? 'http' : 'https'}://${shown}:${port}`;
}
