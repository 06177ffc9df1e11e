import type { AdmissionOptions } from '#admission/run-admission.ts';
import { aborted } from '#base/async/aborted.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Config } from '#config/config.ts';
import type { EvictionBudgets } from '#disruption-budget/eviction/eviction-budgets.ts';
import type { Client } from '#kubernetes/client.ts';
import type { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { withMissingFile } from '#telemetry/missing-file.ts';
import type { Tracing } from '#telemetry/tracing/tracing.ts';
import type { OpenedCertificate } from './manager/certificate.ts';
import { serviceOf } from './permissions/permissions.ts';

/** What serving webhooks needs besides what the operator has anyway. */
export interface AdmissionSettings
  extends Pick<
    AdmissionOptions,
    'registry' | 'httpMetrics' | 'podHttp' | 'host' | 'further' | 'onListening'
  > {
  /** The pod of this process, as its template says it. @default nothing is written to it */
  readonly podName?: string | undefined;
  /** The pod of this process, unless its template gives it another host name. @default it is not looked at */
  readonly hostname?: string | undefined;
}

/** The webhooks of one run. */
export interface Admission {
  /** Resolves once reviews are answered and the API server trusts the answers, at once where there are none. */
  readonly ready: Promise<void>;
  /** Ends after the drain; where no webhooks are served, with `signal`. */
  readonly run: Promise<void>;
}

interface Settings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  readonly budgetMetrics: BudgetMetrics;
  readonly evictionBudgets: EvictionBudgets;
  /** Called with what says whether evictions can have been answered before this process was trusted with them. */
  readonly onTrust?: (isFirst: () => boolean) => void;
  /** Names this process; new at every start. */
  readonly identity: string;
  readonly admission?: AdmissionSettings;
  /** Absent while nothing is traced. */
  readonly tracing?: Tracing;
}

/** Starts what `settings` ask for. The webhooks are served before readiness, and end with a drain after it is withdrawn. */
export function startAdmission(
  { admission, ...settings }: Settings,
  newClient: () => Client,
  signal: AbortSignal,
): Admission {
  if (admission === undefined) return { ready: Promise.resolve(), run: aborted(signal) };
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  const run = serve({ ...settings, admission, newClient, onReady: resolve }, signal);
  // The failure reaches those that await `run`; there may be no caller left.
  run.then(resolve, reject);
  ready.catch(() => undefined);
  return { ready, run };
}

interface Serving extends Settings {
  readonly admission: AdmissionSettings;
  readonly newClient: () => Client;
  readonly onReady: () => void;
}

async function serve(serving: Serving, signal: AbortSignal): Promise<void> {
  // Loaded here only: without webhooks the operator is ready sooner.
  const [{ openCertificate }, { runAdmission }] = await Promise.all([
    import('./manager/certificate.ts').catch(withMissingFile),
    import('#admission/run-admission.ts').catch(withMissingFile),
  ]);
  const { admission, config, clock, log, metrics, identity, newClient, tracing } = serving;
  const { budgetMetrics, evictionBudgets } = serving;
  const { registry } = admission;
  const client = newClient();
  let certificate: OpenedCertificate;
  try {
    certificate = await openCertificate({ config, client, clock, log, registry }, signal);
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  if (certificate.isFirstTrusted !== undefined) serving.onTrust?.(certificate.isFirstTrusted);
  const failed = new AbortController();
  const ending = AbortSignal.any([signal, failed.signal]);
  const onListening = (port: number): void => {
    admission.onListening?.(port);
    void certificate.ready.then(serving.onReady);
  };
  const clients = {
    noDownscale: newClient(),
    prepareDownscale: newClient(),
    eviction: newClient(),
    configurations: newClient(),
  };
  const { source } = certificate;
  const traced = tracing === undefined ? {} : { tracing };
  const budgets = { evictionBudgets, budgetMetrics };
  const ports = { config, clock, log, clients, identity, ...budgets, ...traced };
  const onClaimsRefused = (verb: string, isRefused: boolean): void =>
    metrics.setPermissionRefused(verb, 'configmaps', isRefused);
  const given = { ...admission, ...ports, certificate: source, onListening, onClaimsRefused };
  const running = [certificate.run(ending), runAdmission(given, ending)];
  for (const each of running) each.catch(() => failed.abort());
  try {
    await Promise.all(running);
  } finally {
    // What fails ends the other one, and its drain is waited for.
    await Promise.allSettled(running);
  }
}

/**
 * Has reviews come to this replica, from when it is ready until `signal` aborts; does nothing where no webhooks are served, or the
 * namespace of this process is unknown. Nothing waits for it but the end of the process.
 */
export async function routeReviews(
  { admission, config, clock, log }: Pick<Settings, 'admission' | 'config' | 'clock' | 'log'>,
  client: Client,
  signal: AbortSignal,
): Promise<void> {
  const { namespace } = config.kubernetes;
  if (admission === undefined || namespace === '') return;
  const { runRouting } = await import('#admission/routing/run-routing.ts').catch(withMissingFile);
  const { registry, podName, hostname } = admission;
  const service = serviceOf(config.tls);
  await runRouting({ client, clock, log, registry, namespace, service, podName, hostname }, signal);
}
