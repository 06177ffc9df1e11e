/**
 * What Node gives away for nothing but TLS and HTTP: reads each body and answers the same bytes without a look at it.
 * Tells how fast the machine is just then. Prints its certificate and its port as one line of JSON.
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { systemClock } from '#telemetry/system-clock.ts';

const [answer = ''] = process.argv.slice(2);
const { cert, key } = await selfSigned(systemClock().now());
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
server.listen({ port: 0, host: '127.0.0.1' });
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
process.stdout.write(`${JSON.stringify({ port, ca: cert })}\n`);
// The process that started this one has gone.
process.stdin.on('end', () => process.exit()).resume();
