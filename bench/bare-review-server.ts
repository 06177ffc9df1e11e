/**
 * What Node gives away for nothing but TLS and HTTP: reads each body and answers the same bytes without a look at it, in
 * as many threads as the webhook server has. Tells how fast the machine is just then. Prints its certificate and its
 * port as one line of JSON.
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { helperCount } from '#admission/threads/helper-count.ts';
import type { KeyPair } from '#certificate/certificate-source.ts';
import { selfSigned } from '#embedded-cluster/self-signed.ts';
import { systemClock } from '#telemetry/system-clock.ts';

const helpers = helperCount(process.platform, availableParallelism());

interface Setting extends KeyPair {
  readonly port: number;
  readonly answer: string;
}

async function serve({ port, answer, cert, key }: Setting): Promise<number> {
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      Buffer.concat(chunks);
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(answer),
      });
      response.end(answer);
    });
  });
  server.listen({ port, host: '127.0.0.1', reusePort: helpers > 0 });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

if (isMainThread) {
  const [answer = ''] = process.argv.slice(2);
  const { cert, key } = await selfSigned(systemClock().now());
  const port = await serve({ port: 0, answer, cert, key });
  const setting: Setting = { port, answer, cert, key };
  const workers = Array.from(
    { length: helpers },
    () => new Worker(new URL(import.meta.url), { workerData: setting }),
  );
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  process.stdout.write(`${JSON.stringify({ port, ca: cert })}\n`);
  // Whoever started this process has gone.
  process.stdin.on('end', () => process.exit()).resume();
} else {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
  parentPort?.postMessage(await serve(workerData as Setting));
}
