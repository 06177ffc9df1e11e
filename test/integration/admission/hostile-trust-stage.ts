import { once } from 'node:events';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Webhook } from '#admission/review/review.ts';
import { handlersOf } from '#admission/review/review-handler.ts';
import { type AdmissionServer, startAdmissionServer } from '#admission/server/admission-server.ts';
import { millis, seconds } from '#base/units.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { noClusterValidation } from '#support/admission/no-cluster-validation.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { systemClock } from '#telemetry/system-clock.ts';

export const clock = systemClock();
const requestTimeout = seconds(10);
const identity = await selfSigned(clock.now());

/** The CA of the server. */
export const ca: string = identity.cert;

/** Serves `webhooks` as the operator does. */
export function serveWebhooks(webhooks: readonly Webhook[]): Promise<AdmissionServer> {
  return startAdmissionServer({
    port: 0,
    host: '127.0.0.1',
    certificate: identity,
    clock,
    log: silentLogger,
    metrics: createHttpServerMetrics(createMetricsRegistry()),
    clusterValidation: noClusterValidation,
    handlers: handlersOf(webhooks, { clock, log: silentLogger, requestTimeout }),
    requestTimeout,
    drain: millis(0),
  });
}

/** An API server that answers nothing while it is open, and how many requests wait for it. */
export class SlowServer {
  readonly waiting: ((error: Error) => void)[] = [];
  readonly client: Client;
  /** Told of each request that waits. */
  onRequest: () => void = () => undefined;

  constructor() {
    const request = (): Promise<never> =>
      new Promise((_, reject) => {
        this.waiting.push(reject);
        this.onRequest();
      });
    const transport: Transport = { request, stream: request, close: () => Promise.resolve() };
    this.client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  }

  end(): void {
    for (const reject of this.waiting) reject(new Error('the test is over'));
  }
}

/** A TLS connection to `port` of 127.0.0.1. */
export async function connection(port: number): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', ca, servername: 'localhost' });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

/** The bytes of a request that posts `body`. */
export function posting(path: string, body: string): string {
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
  return `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of the heap that are in use, without garbage. */
export function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
