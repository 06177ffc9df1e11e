/**
 * The webhook server of a bench, in a process of its own, with the logger and the metrics of the default flags. Prints
 * its certificate and its port as one line of JSON.
 */

import { noDownscale } from '#admission/downscale/no-downscale.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import { handlersOf } from '#admission/review/review-handler.ts';
import { reviewCounter } from '#admission/review/review-metrics.ts';
import { startAdmissionServer } from '#admission/server/admission-server.ts';
import { seconds } from '#base/units.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { standardErrorSink } from '#command/process/log-sink.ts';
import type { Client } from '#kubernetes/client.ts';
import { noClusterValidation } from '#support/admission/no-cluster-validation.ts';
import { routeLabel } from '#telemetry/http/http-route.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createLogger } from '#telemetry/log/line-logger.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';

const clock = systemClock();
const requestTimeout = seconds(10);
const sink = standardErrorSink();
const format = { format: 'logfmt', level: 'debug' } as const;
const log = createLogger({ ...format, clock, sink });
const certificate = await selfSigned(clock.now());
/** Updates of whole sets ask nothing. */
const client = new Proxy({} as Client, {
  get: () => () => Promise.reject(new Error('no API server in this bench')),
});
const webhook = noDownscale({ client, clock, log, limit: new ConcurrencyLimit(200) });
const registry = createMetricsRegistry();
const countReview = reviewCounter(registry, [routeLabel(webhook.path)]);
const server = await startAdmissionServer({
  port: 0,
  host: '127.0.0.1',
  certificate,
  clock,
  log,
  metrics: createHttpServerMetrics(registry),
  clusterValidation: noClusterValidation,
  handlers: handlersOf([webhook], { clock, log, requestTimeout, countReview }),
  requestTimeout,
});
process.stdout.write(`${JSON.stringify({ port: server.port, ca: certificate.cert })}\n`);
// The process that started this one has gone.
process.stdin.on('end', () => process.exit()).resume();
