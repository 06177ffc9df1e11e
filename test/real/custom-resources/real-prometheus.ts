/** Debian's Prometheus as a server of its own, over TLS and behind a password. */
import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyAndCertificate } from '#cluster/transport/self-signed.ts';
import { freePorts } from '#support/free-ports.ts';
import { type Programs } from '../../real-cluster/control-plane/programs.ts';

/** Whether no Prometheus is installed. */
export const isPrometheusMissing = spawnSync('prometheus', ['--version']).error !== undefined;
/** Who may ask: `ann`, by {@link password}. */
export const password = 'correct horse';
/** Of the password, by bcrypt, which is all that the server takes. */
const hash = '$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2';

/** Starts one that scrapes what serves metrics at `scraped` each second, and resolves with its URL when it answers. */
export async function startPrometheus(
  programs: Programs,
  identity: KeyAndCertificate,
  scraped: readonly number[] = [],
): Promise<string> {
  const { folder } = programs;
  await mkdir(join(folder, 'data'));
  await writeFile(join(folder, 'tls.crt'), identity.cert);
  await writeFile(join(folder, 'tls.key'), identity.key, { mode: 0o600 });
  const targets = scraped.map((port) => `127.0.0.1:${port}`).join(', ');
  const job = `  - {job_name: exporter, scrape_interval: 1s, static_configs: [{targets: [${targets}]}]}\n`;
  const jobs = scraped.length === 0 ? ' []\n' : `\n${job}`;
  await writeFile(join(folder, 'prometheus.yml'), `scrape_configs:${jobs}`);
  const web = `tls_server_config: {cert_file: tls.crt, key_file: tls.key}\nbasic_auth_users: {ann: ${hash}}\n`;
  await writeFile(join(folder, 'web.yml'), web);
  const [port = 0] = await freePorts(1);
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  await programs.start({
    name: 'prometheus',
    path: 'prometheus',
    args: [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--web.config.file=${join(folder, 'web.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    onLine: (line) => {
      if (line.includes('Server is ready to receive web requests')) resolve();
    },
  });
  await ready;
  return `https://127.0.0.1:${port}`;
}
