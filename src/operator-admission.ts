import type { AdmissionOptions } from '#admission/run-admission.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Config } from '#config/config.ts';
import type { Client } from '#kubernetes/client.ts';

/** What serving webhooks needs besides what the operator has anyway. */
export type AdmissionSettings = Pick<
  AdmissionOptions,
  'registry' | 'httpMetrics' | 'podHttp' | 'certificate' | 'host' | 'onListening'
>;

/** The webhooks of one run. */
export interface Admission {
  /** Resolves once reviews are answered, at once where none are. */
  readonly listening: Promise<void>;
  /** Ends after the drain; where no webhooks are served, with `signal`. */
  readonly run: Promise<void>;
}

interface Settings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly admission?: AdmissionSettings;
}

/** Starts what `settings` ask for. The webhooks stand before readiness, and end with a drain after it is withdrawn (S7). */
export function startAdmission(
  { admission, config, clock, log }: Settings,
  newClient: () => Client,
  signal: AbortSignal,
): Admission {
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  if (admission === undefined) {
    resolve();
    const { promise: run, resolve: end } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => end(), { once: true });
    if (signal.aborted) end();
    return { listening, run };
  }
  const clients = {
    noDownscale: newClient(),
    prepareDownscale: newClient(),
    eviction: newClient(),
    configurations: newClient(),
  };
  const onListening = (port: number): void => {
    admission.onListening?.(port);
    resolve();
  };
  const given = { ...admission, config, clock, log, clients, onListening };
  // Loaded here only: without webhooks the operator is ready sooner.
  const run = import('#admission/run-admission.ts').then(({ runAdmission }) =>
    runAdmission(given, signal),
  );
  // Whoever awaits `run` gets the failure; nobody may wait for what will not listen.
  run.catch(reject);
  listening.catch(() => undefined);
  return { listening, run };
}
