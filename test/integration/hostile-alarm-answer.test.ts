/** Hostile: an endpoint that answers a question for one alarm with 200,000, within the length that is read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCloudWatch } from '#check/cloud-watch.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { AwsServer, answeringText } from '#testing/aws-server.ts';

test('an answer with 200,000 alarms to a question for one is unreadable, and stalls nobody for a second', async () => {
  const server = new AwsServer();
  const endpoint = await server.listen();
  const alarms = Array(200_000).fill('{"AlarmName":"x","StateValue":"OK"}').join(',');
  server.obstacles.push(answeringText(200, `{"MetricAlarms":[${alarms}]}`));
  const source = openCloudWatch({
    clock: systemClock(),
    env: { AWS_REGION: 'eu-west-1' },
    log: { warn: () => undefined },
    endpoint,
    credentials: { accessKeyId: server.keys.id, secretAccessKey: server.keys.secret },
  });
  let last = performance.now();
  let stall = 0;
  const timer = setInterval(() => {
    stall = Math.max(stall, performance.now() - last);
    last = performance.now();
  }, 5);
  try {
    const read = await source.describe(['x'], AbortSignal.timeout(30_000));
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(
      read.kind === 'error' ? read.reason : 'read',
      'Unreadable',
      JSON.stringify(read).slice(0, 200),
    );
    assert.ok(stall < 1_000, `${Math.round(stall)} ms without a turn`);
  } finally {
    clearInterval(timer);
    await source.close();
    await server.close();
  }
});
