/**
 * The webhook server of a bench, in a process of its own, with the logger and the metrics of the default flags. Prints
 * its certificate and its port as one line of JSON.
 */
import { startAdmissionServer } from '#admission/admission-server.ts';
import { ConcurrencyLimit } from '#admission/concurrency-limit.ts';
import { noDownscale } from '#admission/no-downscale.ts';
import { handlersOf } from '#admission/review-handler.ts';
import { seconds } from '#base/units.ts';
import { standardErrorSink } from '#command/log-sink.ts';
import { selfSigned } from '#embedded-cluster/self-signed.ts';
import type { Client } from '#kubernetes/client.ts';
import { createHttpServerMetrics } from '#telemetry/http-server-metrics.ts';
import { createLogger } from '#telemetry/line-logger.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { noClusterValidation } from '#testing/no-cluster-validation.ts';

const clock = systemClock();
const requestTimeout = seconds(10);
const sink = standardErrorSink();
const format = { format: 'logfmt', level: 'debug' } as const;
const log = createLogger({ ...format, clock, sink });
const certificate = await selfSigned(clock.now());
/** Updates of whole sets ask nobody. */
const client = new Proxy({} as Client, {
  get: () => () => Promise.reject(new Error('no API server in this bench')),
});
const webhook = noDownscale({ client, clock, log, limit: new ConcurrencyLimit(200) });
const server = await startAdmissionServer({
  port: 0,
  host: '127.0.0.1',
  certificate,
  clock,
  log,
  metrics: createHttpServerMetrics(createMetricsRegistry()),
  clusterValidation: noClusterValidation,
  handlers: handlersOf([webhook], { clock, log, requestTimeout }),
  requestTimeout,
});
process.stdout.write(`${JSON.stringify({ port: server.port, ca: certificate.cert })}\n`);
// The process that started this one has gone.
process.stdin.on('end', () => process.exit()).resume();
