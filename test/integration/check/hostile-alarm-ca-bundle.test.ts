/** Hostile: CloudWatch behind an authority of the company, which AWS_CA_BUNDLE names as the SDK of the peer has it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCloudWatch } from '#check/cloudwatch/cloud-watch.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { systemClock } from '#telemetry/system-clock.ts';

const source = join(import.meta.dirname, 'ask-alarm.ts');

test('a file of authorities that cannot be read is what is wrong with the reading', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-ca-'));
  const text = join(folder, 'none.pem');
  writeFileSync(text, 'no certificate');
  try {
    for (const [file, why] of [
      [join(folder, 'missing.pem'), 'ENOENT: no such file or directory'],
      [folder, 'EISDIR: illegal operation on a directory'],
      [text, 'it has no certificates'],
    ] as const) {
      const clock = new FakeClock();
      const env = { AWS_REGION: 'eu-west-1', AWS_CA_BUNDLE: file };
      const endpoint = 'https://localhost:1';
      const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
      const log = { warn: () => undefined };
      const alarms = openCloudWatch({ clock, env, endpoint, credentials, log });
      const read = await alarms.describe(['a'], new AbortController().signal);
      await alarms.close();
      assert.ok(read.kind === 'error');
      assert.equal(read.reason, 'BadConfiguration');
      const start = `Cannot ask CloudWatch: the authorities in the file "${file}" of AWS_CA_BUNDLE cannot be read: ${why}`;
      assert.ok(read.message.startsWith(start), read.message);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

for (const variable of ['NODE_EXTRA_CA_CERTS', 'AWS_CA_BUNDLE']) {
  test(`${variable} names the authorities that CloudWatch is trusted by`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hostile-ca-'));
    const { cert, key } = await selfSigned(systemClock().now());
    const server = createServer({ cert, key }, (request, response) => {
      request.resume();
      const body = { CompositeAlarms: [{ AlarmName: 'a', StateValue: 'OK' }], MetricAlarms: [] };
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify(body));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const file = join(folder, 'ca.pem');
    writeFileSync(file, cert);
    try {
      const child = spawn(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', source, 'a', '1', '5000'],
        {
          env: {
            HOME: folder,
            AWS_REGION: 'eu-west-1',
            AWS_ACCESS_KEY_ID: 'a',
            AWS_SECRET_ACCESS_KEY: 'b',
            AWS_ENDPOINT_URL_CLOUDWATCH: `https://localhost:${(server.address() as AddressInfo).port}`,
            [variable]: file,
          },
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      const text = (await child.stdout.toArray()).join('');
      assert.match(text, /"verdict":"passes"/, text);
    } finally {
      server.close();
      server.closeAllConnections();
      rmSync(folder, { recursive: true });
    }
  });
}
