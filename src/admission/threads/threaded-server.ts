import { once } from 'node:events';
import { createServer } from 'node:net';
import type { KeyPair } from '#certificate/certificate-source.ts';
import type { LineLoggerOptions } from '#telemetry/line-logger.ts';
import { listenError } from '#telemetry/listen-error.ts';
import { bodyRoom } from '../admission-listener.ts';
import {
  type AdmissionServer,
  type AdmissionServerOptions,
  startAdmissionServer,
} from '../admission-server.ts';
import { enter } from './account-book.ts';
import { HelperThread } from './helper-thread.ts';

/** Threads beside this one that answer reviews. */
export interface Helpers {
  /** How many; 0 where there are none. */
  readonly count: number;
  /** Takes the lines that they log. */
  readonly write: (line: string) => void;
  readonly log: Pick<LineLoggerOptions, 'format' | 'level'>;
}

/**
 * Starts the server of the webhooks in this thread, and in helpers that share its port and so its connections. TLS,
 * HTTP and most reviews are done where they arrive; what a helper cannot answer at sight is answered here (ADR 6).
 *
 * @throws {Error} one sentence, when the port is in use or cannot be listened on, or the certificate is none
 */
export async function startThreadedServer(
  options: AdmissionServerOptions,
  helpers: Helpers,
): Promise<AdmissionServer> {
  await assertFree(options);
  const room = Math.ceil(bodyRoom / (helpers.count + 1));
  const server = await startAdmissionServer({ ...options, isPortShared: true, bodyRoom: room });
  const threads = Array.from({ length: helpers.count }, () => startHelper(options, helpers));
  const { certificate, clusterValidation, requestTimeout, host, drain, background } = options;
  const shared = new ThreadedServer(server, threads, background);
  const { log } = helpers;
  const { port } = server;
  const given = {
    port,
    ...(host !== undefined && { host }),
    certificate,
    log,
    clusterValidation,
    requestTimeout,
    ...(drain !== undefined && { drain }),
    bodyRoom: room,
  };
  try {
    await Promise.all(threads.map((thread) => thread.serve(given)));
    return shared;
  } catch (error) {
    await shared.close();
    throw error;
  }
}

function startHelper(
  { clock, endpoints, metrics }: AdmissionServerOptions,
  { write }: Helpers,
): HelperThread {
  return new HelperThread({ clock, endpoints, enter: (account) => enter(account, metrics, write) });
}

/** Threads share the port with whoever asks to, even with another program: that nobody else has it is seen before. */
async function assertFree({ port, host }: AdmissionServerOptions): Promise<void> {
  const probe = createServer();
  try {
    probe.listen({ port, ...(host !== undefined && { host }) });
    await once(probe, 'listening');
  } catch (error) {
    throw listenError({ serves: 'webhooks', port }, error);
  }
  const closed = once(probe, 'close');
  probe.close();
  await closed;
}

class ThreadedServer implements AdmissionServer {
  readonly failed: Promise<never>;
  readonly #server: AdmissionServer;
  readonly #threads: readonly HelperThread[];
  readonly #background: AdmissionServerOptions['background'];

  constructor(
    server: AdmissionServer,
    threads: readonly HelperThread[],
    background: AdmissionServerOptions['background'],
  ) {
    this.#server = server;
    this.#threads = threads;
    this.#background = background;
    this.failed = Promise.race([server.failed, ...threads.map((thread) => thread.failed)]);
    this.failed.catch(() => undefined);
  }

  get port(): number {
    return this.#server.port;
  }

  async setCertificate(certificate: KeyPair): Promise<void> {
    await this.#server.setCertificate(certificate);
    await Promise.all(this.#threads.map((thread) => thread.setCertificate(certificate)));
  }

  async close(): Promise<void> {
    const helped = this.#threads.map((thread) => thread.close());
    await Promise.all([...helped, this.#server.close()]);
    // The server waited for what it knew of: a review that a helper asked for may have left more to do since.
    await this.#background?.();
  }
}
