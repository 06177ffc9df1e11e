/** Hostile: one alarm name that CloudWatch refuses, in addition to those of others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '#base/units.ts';
import { Alarms } from '#check/cloudwatch/alarms.ts';
import { openCloudWatch } from '#check/cloudwatch/cloud-watch.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { AwsServer, answeringText, awsError } from '#support/external-services/aws-server.ts';

const bad = 'of-another-team';
const goods = ['good-0', 'good-1'];

function openAlarms(endpoint: string, { keys }: AwsServer): { alarms: Alarms; clock: FakeClock } {
  const clock = new FakeClock();
  const source = openCloudWatch({
    clock,
    log: { warn: () => undefined },
    env: { AWS_REGION: 'eu-west-1' },
    endpoint,
    attempts: 1,
    credentials: { accessKeyId: keys.id, secretAccessKey: keys.secret },
  });
  return { alarms: new Alarms({ clock, source }), clock };
}

/** What is answered to a question for each of `names`, asked together in a new round. */
async function verdictsOf(
  { alarms, clock }: ReturnType<typeof openAlarms>,
  names: readonly string[],
): Promise<readonly string[]> {
  const { signal } = new AbortController();
  await clock.advance(10_000);
  const notBefore = clock.monotonic();
  const asked = Promise.all(names.map((name) => alarms.ask(name, { signal, notBefore })));
  await clock.advance(100);
  return (await asked).map(({ verdict }) => verdict);
}

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
    const opened = openAlarms(await server.listen(), server);
    server.alarms.push(...goods.map((name) => ({ name, kind: 'composite', state: 'OK' }) as const));
    server.refusedNames.set(bad, refuse);
    const names = [...goods, bad];
    const callsOf = async (): Promise<readonly (readonly string[])[]> => {
      const before = server.calls.length;
      assert.deepEqual(await verdictsOf(opened, names), ['passes', 'passes', 'unknown']);
      return server.calls.slice(before).map(({ AlarmNames }) => AlarmNames ?? []);
    };
    try {
      assert.deepEqual(sorted(await callsOf()), sorted([names, ...names.map((name) => [name])]));
      for (const _ of [1, 2, 3]) assert.deepEqual(sorted(await callsOf()), sorted([goods, [bad]]));
    } finally {
      await opened.alarms.close();
      await server.close();
    }
  });
}

test('an alarm that is refused no more is asked for with the others after 10 minutes', async () => {
  const server = new AwsServer();
  const opened = openAlarms(await server.listen(), server);
  server.refusedNames.set(bad, refusals['the service finds invalid']);
  try {
    await verdictsOf(opened, [...goods, bad]);
    server.refusedNames.clear();
    const before = server.calls.length;
    await opened.clock.advance(minutes(10));
    await verdictsOf(opened, [...goods, bad]);
    assert.deepEqual(
      server.calls.slice(before).map(({ AlarmNames }) => AlarmNames),
      [[...goods, bad]],
    );
  } finally {
    await opened.alarms.close();
    await server.close();
  }
});

const failures = {
  'an error of the server': answeringText(500, 'oops'),
  'credentials that are refused': awsError('UnrecognizedClientException', 'is invalid', 403),
};

for (const [what, obstacle] of Object.entries(failures)) {
  test(`${what} makes no call for each name`, async () => {
    const server = new AwsServer();
    const opened = openAlarms(await server.listen(), server);
    server.obstacles.push(obstacle, obstacle, obstacle);
    try {
      const verdicts = await verdictsOf(opened, goods);
      assert.deepEqual(verdicts, ['unknown', 'unknown']);
      assert.equal(server.calls.length, 1);
    } finally {
      await opened.alarms.close();
      await server.close();
    }
  });
}

function sorted(calls: readonly (readonly string[])[]): readonly string[] {
  return calls.map((names) => names.join()).toSorted();
}
