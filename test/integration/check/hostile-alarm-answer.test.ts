/** Hostile: an endpoint that answers a question for one alarm with thousands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AlarmsRead } from '#check/cloudwatch/alarm.ts';
import { openCloudWatch } from '#check/cloudwatch/cloud-watch.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { AwsServer, answeringText } from '#support/external-services/aws-server.ts';

/** What is read where a question for `names` is answered with `count` alarms. */
async function readOf(names: readonly string[], count: number): Promise<AlarmsRead> {
  const server = new AwsServer();
  const endpoint = await server.listen();
  const alarms = Array(count).fill('{"AlarmName":"x","StateValue":"OK"}').join(',');
  server.obstacles.push(answeringText(200, `{"MetricAlarms":[${alarms}]}`));
  const source = openCloudWatch({
    clock: new FakeClock(),
    env: { AWS_REGION: 'eu-west-1' },
    log: { warn: () => undefined },
    endpoint,
    credentials: { accessKeyId: server.keys.id, secretAccessKey: server.keys.secret },
  });
  try {
    return await source.describe(names, new AbortController().signal);
  } finally {
    await source.close();
    await server.close();
  }
}

function reasonOf(read: AlarmsRead): string {
  return read.kind === 'error' ? `${read.reason}: ${read.message}` : 'read';
}

test('of an answer with 200,000 alarms to a question for one 288 KiB are read, and no more', async () => {
  assert.match(
    reasonOf(await readOf(['x'], 200_000)),
    /^TooLong: .*the answer is longer than 294912 bytes$/,
  );
});

test('an answer with more alarms than a page has is unreadable', async () => {
  const why = 'Cannot ask CloudWatch: its answer has 5000 alarms on a page of 100';
  assert.equal(reasonOf(await readOf(['x'], 5_000)), `Unreadable: ${why}`);
});

test('a question for 100 alarms has room for 3 MiB', async () => {
  const names = Array.from({ length: 100 }, (_, at) => `alarm-${at}`);
  assert.match(reasonOf(await readOf(names, 90_000)), /^Unreadable: /);
});
