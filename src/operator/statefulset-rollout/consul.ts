import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { invalid, valid } from '#base/parsed.ts';
import { type Consul, createConsul } from '#check/consul/consul.ts';
import { ConsulWatches } from '#check/consul/consul-watches.ts';
import { ConsulTokens, type OwnToken } from '#check/credentials/consul-tokens.ts';
import { parseToken } from '#check/credentials/parse-consul-token.ts';
import type { ConsulConfig } from '#config/consul-config.ts';
import type { Client } from '#kubernetes/client.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import { tlsOf } from '#kubernetes/transport/server-trust.ts';
import type { TlsSettings } from '#kubernetes/transport/tls-settings.ts';
import type { RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';
import { countedConsul } from './outside-figures.ts';

/** Consul, and the operator's own token. */
export interface OperatorConsul {
  readonly consul: Consul;
  readonly ownToken: OwnToken;
}

/** Returns what asks Consul by `config`. @throws {Error} one sentence, where a file cannot be read that it names */
export function openConsul(
  config: ConsulConfig,
  { clock, env }: { readonly clock: Clock; readonly env: Environment },
): OperatorConsul {
  const { address, isStaleAllowed, keys, token } = config;
  const tls = consulTls(config);
  const consul = createConsul({
    clock,
    env,
    address: new URL(address),
    tls,
    isStaleAllowed,
    keys,
  });
  return { consul, ownToken: () => ownToken(token) };
}

/**
 * Reads the files for each new connection, so that renewed files take effect; one that cannot be read any more leaves it at
 * the last ones.
 */
function consulTls({ authorities, identity }: ConsulConfig): () => TlsSettings {
  if (authorities === undefined && identity === undefined) return tlsOf({});
  const read = (): TlsSettings => ({
    ...(authorities !== undefined && { ca: textOf('CONSUL_CACERT', authorities) }),
    ...(identity !== undefined && {
      cert: textOf('CONSUL_CLIENT_CERT', identity.certificate),
      key: textOf('CONSUL_CLIENT_KEY', identity.key),
    }),
  });
  let last = read();
  return () => {
    try {
      last = read();
    } catch {
      // Half of a renewal: what was read before may still do, and the server says so if not.
    }
    return last;
  };
}

function textOf(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { message } = errorOf(error);
    throw new Error(`Cannot ask Consul: ${variable} must name a PEM file: ${message}`, {
      cause: error,
    });
  }
}

async function ownToken(token: ConsulConfig['token']): ReturnType<OwnToken> {
  if (token?.kind !== 'file') return valid(token?.value);
  try {
    return parseToken(token.value, await readFile(token.value, 'utf8'));
  } catch (error) {
    return invalid(token.value, `must be a file with a token: ${errorOf(error).message}`);
  }
}

/** Returns what watches services for a term: with it the client ends that reads the tokens. Undefined where none is configured. */
export function watchesOf(
  opened: OperatorConsul | undefined,
  term: {
    readonly clock: Clock;
    readonly log: Logger;
    readonly client: Client;
    readonly queue: Pick<WorkQueue, 'add'>;
    readonly rolloutMetrics: RolloutMetrics;
  },
): ConsulWatches | undefined {
  if (opened === undefined) return undefined;
  const { clock, log, client, queue, rolloutMetrics } = term;
  const { ownToken: own } = opened;
  const consul = countedConsul(opened.consul, rolloutMetrics);
  const tokens = new ConsulTokens({ client, clock, own });
  const onChange = (key: string): void => queue.add(key);
  const watches = new ConsulWatches({ clock, log, consul, tokens, onChange });
  rolloutMetrics.watchConsul(() => watches.oldestAge);
  return watches;
}
