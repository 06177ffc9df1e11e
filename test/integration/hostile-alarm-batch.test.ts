/** Hostile: one alarm name that CloudWatch refuses, beside those of others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import { Alarms } from '#check/alarms.ts';
import { openCloudWatch } from '#check/cloud-watch.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { AwsServer, awsError } from '#testing/aws-server.ts';

const refusals = {
  'its Role does not cover': awsError(
    'AccessDenied',
    'User is not authorized to perform: cloudwatch:DescribeAlarms on resource: arn:aws:cloudwatch:eu-west-1:1:alarm:of-another-team',
    403,
  ),
  'the service finds invalid': awsError('ValidationError', '1 validation error detected', 400),
};

for (const [what, refuse] of Object.entries(refusals)) {
  test(`an alarm that ${what} does not take the answers for the alarms of others`, async () => {
    const server = new AwsServer();
    const endpoint = await server.listen();
    server.alarms.push({ name: 'good', kind: 'composite', state: 'OK' });
    const clock = systemClock();
    const source = openCloudWatch({
      clock,
      log: { warn: () => undefined },
      env: { AWS_REGION: 'eu-west-1' },
      endpoint,
      attempts: 1,
      credentials: { accessKeyId: server.keys.id, secretAccessKey: server.keys.secret },
    });
    // Any call that names it is refused as a whole, as CloudWatch has it; the peer makes one call for each alarm.
    const picky = {
      describe: (names: readonly string[], signal: AbortSignal) => {
        if (names.includes('of-another-team')) server.obstacles.push(refuse);
        return source.describe(names, signal);
      },
      close: () => source.close(),
    };
    const alarms = new Alarms({ clock, source: picky, period: millis(300), gather: millis(20) });
    const verdicts: string[] = [];
    try {
      const signal = AbortSignal.timeout(minutes(1));
      for (let round = 0; round < 3; round += 1) {
        const [, good] = await Promise.all([
          alarms.ask('of-another-team', { signal }),
          alarms.ask('good', { signal, notBefore: clock.monotonic() }),
        ]);
        verdicts.push(good.verdict);
        await clock.sleep(seconds(0.35));
      }
      assert.ok(verdicts.includes('passes'), `the alarm "good" is ${verdicts.join(', ')}`);
    } finally {
      await alarms.close();
      await server.close();
    }
  });
}
