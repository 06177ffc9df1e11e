import type { IncomingMessage } from 'node:http';
import { assertNever } from '#base/assert-never.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { minutes } from '#base/units.ts';
import type { ManagerConfig } from '#config/manager-config.ts';
import { ScrapeAccess } from '#kubernetes/authorization/scrape-access.ts';
import type { Client } from '#kubernetes/client.ts';
import type { WholeResponse } from '#telemetry/http/http-response.ts';
import { type HttpServer, startHttpServer } from '#telemetry/http/http-server.ts';
import type { HttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { probeApp } from '#telemetry/http/probe-app.ts';
import { scrapeApp } from '#telemetry/http/scrape-app.ts';
import type { MetricsRegistry } from '#telemetry/metrics.ts';
import { withMissingFile } from '#telemetry/missing-file.ts';

/** What the servers of this program share under the names of managers of controller-runtime. */
export interface ManagerServerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricsRegistry;
  readonly httpMetrics: HttpServerMetrics;
  readonly isReady: () => boolean;
}

/** The life of a certificate that is recreated at each start, and that is never verified. */
const tenYears = minutes(10 * 365 * 24 * 60);

/** It is not said here which cluster a request is for. */
export const clusterValidation = Object.freeze({
  isEnabled: false,
  isSoft: false,
  cluster: '',
  excludedPaths: [],
  excludedUserAgents: [],
});

/** Serves the probes; undefined where none are wanted. @throws {Error} one sentence, when the port cannot be listened on */
export async function startProbes(
  { probes }: Pick<ManagerConfig, 'probes'>,
  options: ManagerServerOptions,
): Promise<HttpServer | undefined> {
  if (probes === undefined) return undefined;
  const { clock, httpMetrics: metrics } = options;
  const appOf = (_usual: unknown, isReady: () => boolean): ReturnType<typeof probeApp> =>
    probeApp({ clock, metrics, isReady });
  return startHttpServer({ ...plainOptions(options, probes), appOf });
}

/**
 * Serves `/metrics`: over plain HTTP to every client, or over HTTPS with a certificate that no CA has signed, to those whom the API
 * server lets get it. Undefined where it is not wanted.
 *
 * @throws {Error} one sentence, when the port cannot be listened on
 */
export async function startScrapes(
  { metrics: address }: Pick<ManagerConfig, 'metrics'>,
  options: ManagerServerOptions & { readonly client: Client },
): Promise<HttpServer | undefined> {
  if (address === undefined) return undefined;
  const { clock, client, log } = options;
  if (!address.isSecure) {
    const open = (): Promise<undefined> => Promise.resolve(undefined);
    return startHttpServer({
      ...plainOptions(options, address),
      appOf: (usual) => scrapeApp(usual, open),
    });
  }
  // Loaded here only: it brings the library of certificates with it.
  const { issueSelfSigned } = await import('#certificate/x509/issue.ts').catch(withMissingFile);
  const certificate = await issueSelfSigned({
    dnsNames: ['localhost'],
    organization: 'rollout-operator',
    expiration: tenYears,
    now: clock.now(),
  });
  const access = new ScrapeAccess(client, clock);
  const gate = (request: IncomingMessage): Promise<WholeResponse | undefined> =>
    refusalOf(access, request, log);
  return startHttpServer({
    ...plainOptions(options, address),
    certificate: { cert: certificate.cert, key: certificate.key },
    appOf: (usual) => scrapeApp(usual, gate),
  });
}

async function refusalOf(
  access: ScrapeAccess,
  { headers }: IncomingMessage,
  log: Logger,
): Promise<WholeResponse | undefined> {
  const answer = await access.ask(headers.authorization ?? '');
  switch (answer.kind) {
    case 'allowed':
      return undefined;
    case 'unauthenticated':
      return { status: 401, body: 'Unauthorized\n' };
    case 'forbidden':
      return { status: 403, body: `${JSON.stringify(answer.user)} may not get /metrics\n` };
    case 'unknown':
      log.warn('a scrape is refused, as it cannot be found out who asks', { why: answer.reason });
      return { status: 500, body: 'It cannot be found out who asks\n' };
    default:
      return assertNever(answer);
  }
}

function plainOptions(
  { clock, log, registry, httpMetrics, isReady }: ManagerServerOptions,
  { host, port }: { readonly host: string | undefined; readonly port: number },
): Parameters<typeof startHttpServer>[0] {
  const answering = { clock, logger: log, registry, metrics: httpMetrics, isReady };
  return { ...answering, clusterValidation, port, ...(host !== undefined && { host }) };
}
