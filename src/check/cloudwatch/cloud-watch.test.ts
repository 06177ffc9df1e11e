import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { millis } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import {
  type AwsObstacle,
  AwsServer,
  answeringText,
  awsError,
  broken,
  endless,
  expiredToken,
  silent,
  throttling,
} from '#support/external-services/aws-server.ts';
import type { AlarmSource, AlarmsRead } from './alarm.ts';
import { type CloudWatchOptions, openCloudWatch } from './cloud-watch.ts';

describe('openCloudWatch()', () => {
  let server: AwsServer;
  let endpoint: string;
  let clock: FakeClock;
  const open: AlarmSource[] = [];
  const warned: string[] = [];

  beforeEach(async () => {
    server = new AwsServer();
    endpoint = await server.listen();
    clock = new FakeClock();
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.close()));
    await server.close();
  });

  function cloudWatch(options: Partial<CloudWatchOptions> = {}): AlarmSource {
    const source = openCloudWatch({
      clock,
      log: { warn: (_, fields) => warned.push(JSON.stringify(fields)) },
      env: { AWS_REGION: 'eu-west-1' },
      endpoint,
      credentials: { accessKeyId: server.keys.id, secretAccessKey: server.keys.secret },
      ...options,
    });
    open.push(source);
    return source;
  }

  function ask(source: AlarmSource, ...names: readonly string[]): Promise<AlarmsRead> {
    return source.describe(names, new AbortController().signal);
  }

  test('reads composite and metric alarms in one call', async () => {
    server.alarms.push(
      { name: 'all', kind: 'composite', state: 'ALARM', reason: 'errors', since: 1_700_000_000 },
      { name: 'cpu', kind: 'metric', state: 'OK', reason: 'below', since: 1_700_000_001.5 },
      { name: 'other', kind: 'metric', state: 'ALARM' },
    );
    assert.deepEqual(await ask(cloudWatch(), 'all', 'cpu', 'none'), {
      kind: 'alarms',
      region: 'eu-west-1',
      alarms: [
        { name: 'all', state: 'ALARM', reason: 'errors', since: 1_700_000_000_000 },
        { name: 'cpu', state: 'OK', reason: 'below', since: 1_700_000_001_500 },
      ],
    });
    assert.equal(server.received.length, 1);
  });

  test('reads the 100 alarms of a call, of which the server would give 50', async () => {
    const names = Array.from({ length: 100 }, (_, at) => `alarm-${at}`);
    server.alarms.push(...names.map((name) => ({ name, kind: 'metric', state: 'OK' }) as const));
    const read = await ask(cloudWatch(), ...names);
    assert.ok(read.kind === 'alarms');
    assert.equal(read.alarms.length, 100);
    assert.equal(server.received.length, 1);
  });

  test('reads all pages, three at most', async () => {
    for (const name of ['a', 'b', 'c', 'd'])
      server.alarms.push({ name, kind: 'metric', state: 'OK' });
    server.pageSize = 2;
    const read = await ask(cloudWatch(), 'a', 'b', 'c', 'd');
    assert.ok(read.kind === 'alarms');
    assert.deepEqual(
      read.alarms.map(({ name }) => name),
      ['a', 'b', 'c', 'd'],
    );
    server.pageSize = 1;
    assert.deepEqual(await ask(cloudWatch(), 'a', 'b', 'c', 'd'), {
      kind: 'error',
      reason: 'Unreadable',
      message: 'Cannot ask CloudWatch: its answer has more than 3 pages',
    });
  });

  test('takes the region from AWS_DEFAULT_REGION where AWS_REGION is empty', async () => {
    const env = { AWS_REGION: '', AWS_DEFAULT_REGION: 'us-west-2' };
    const read = await ask(cloudWatch({ env }), 'a');
    assert.deepEqual(read, { kind: 'alarms', region: 'us-west-2', alarms: [] });
    assert.match(String(server.received[0]?.headers.authorization), /\/us-west-2\/monitoring\//);
  });

  test('tries again what fails in passing', async () => {
    server.obstacles.push(broken, answeringText(503, ''));
    assert.equal((await ask(cloudWatch(), 'a')).kind, 'alarms');
    assert.equal(server.received.length, 3);
  });

  const failures: Readonly<
    Record<
      string,
      { readonly obstacle: AwsObstacle; readonly reason: string; readonly why: RegExp }
    >
  > = {
    throttling: {
      obstacle: throttling,
      reason: 'Throttled',
      why: /it is asked too often: Throttling: Rate exceeded$/,
    },
    'a status of too many requests': {
      obstacle: answeringText(429, '{}'),
      reason: 'Throttled',
      why: /it is asked too often/,
    },
    'expired credentials': {
      obstacle: expiredToken,
      reason: 'NoCredentials',
      why: /the credentials have expired: ExpiredTokenException: The security token included/,
    },
    'a permission that is missing': {
      obstacle: awsError(
        'AccessDenied',
        'User is not authorized to perform: cloudwatch:DescribeAlarms',
        403,
      ),
      reason: 'Refused',
      why: /it answers 403: AccessDenied: User is not authorized to perform: cloudwatch:DescribeAlarms$/,
    },
    'a signature that does not fit': {
      obstacle: awsError(
        'SignatureDoesNotMatch',
        'The request signature we calculated does not match\n\nx-amz-security-token:SECRET',
        403,
      ),
      reason: 'Refused',
      why: /it answers 403: SignatureDoesNotMatch: The request signature we calculated does not match$/,
    },
    'an error of the server': {
      obstacle: answeringText(500, 'oops'),
      reason: 'Refused',
      why: /it answers 500$/,
    },
    'a redirect': { obstacle: answeringText(302, ''), reason: 'Refused', why: /it answers 302$/ },
    'a page for people': {
      obstacle: answeringText(200, '<html>'),
      reason: 'Unreadable',
      why: /its answer is not from CloudWatch: Unexpected token/,
    },
    'an empty answer': {
      obstacle: answeringText(200, ''),
      reason: 'Unreadable',
      why: /its answer is not from CloudWatch: answer must have CompositeAlarms or MetricAlarms$/,
    },
    'a list that is none': {
      obstacle: answeringText(200, '{"MetricAlarms":"x"}'),
      reason: 'Unreadable',
      why: /MetricAlarms must be a list$/,
    },
    'an alarm without a state': {
      obstacle: answeringText(200, '{"MetricAlarms":[{"AlarmName":"a"}]}'),
      reason: 'Unreadable',
      why: /MetricAlarms\[0\] must be an alarm with a name and a state$/,
    },
    'a time that is none': {
      obstacle: answeringText(
        200,
        '{"MetricAlarms":[{"AlarmName":"a","StateTransitionedTimestamp":{}}]}',
      ),
      reason: 'Unreadable',
      why: /its answer is not from CloudWatch/,
    },
    'connections that break': {
      obstacle: broken,
      reason: 'Unreachable',
      why: /no answer of 127\.0\.0\.1:\d+: /,
    },
    'an answer that is too long': {
      obstacle: answeringText(200, ' '.repeat(70_000)),
      reason: 'TooLong',
      why: /the answer is longer than 65536 bytes$/,
    },
  };
  for (const [name, { obstacle, reason, why }] of Object.entries(failures)) {
    test(`says what is wrong with ${name}, and nothing of secrets`, async () => {
      server.obstacles.push(obstacle);
      const source = cloudWatch({ longestAnswer: 65_536, attempts: 1 });
      const read = await ask(source, 'a');
      assert.ok(read.kind === 'error');
      assert.equal(read.reason, reason);
      assert.match(read.message, /^Cannot ask CloudWatch: /);
      assert.match(read.message, why);
      assert.doesNotMatch(read.message, /SECRET|wJalrXUtnFEMI/);
      assert.equal((await ask(source, 'a')).kind, 'alarms', 'and asks again');
    });
  }

  for (const [name, obstacle] of Object.entries({ headers: silent, body: endless })) {
    test(`waits no longer than its time for the ${name} of an answer`, async () => {
      const came = Promise.withResolvers<void>();
      server.obstacles.push((response) => {
        obstacle(response);
        came.resolve();
      });
      const read = ask(cloudWatch({ timeout: millis(3_000) }), 'a');
      await came.promise;
      await clock.advance(3_000);
      assert.deepEqual(await read, {
        kind: 'error',
        reason: 'TimedOut',
        message: `Cannot ask CloudWatch: no whole answer of ${new URL(endpoint).host} in time`,
      });
    });
  }

  test('gives up at once, and asks again with another client', async () => {
    const came = Promise.withResolvers<void>();
    server.obstacles.push(() => came.resolve());
    const source = cloudWatch();
    const ending = new AbortController();
    const read = source.describe(['a'], ending.signal);
    await came.promise;
    ending.abort();
    const message = 'Cannot ask CloudWatch: the question was given up';
    assert.deepEqual(await read, { kind: 'error', reason: 'GivenUp', message });
    assert.equal((await ask(source, 'a')).kind, 'alarms');
  });

  const settings: Readonly<Record<string, readonly [Partial<CloudWatchOptions>, RegExp]>> = {
    'an endpoint that is no URL': [{ endpoint: 'nonsense' }, /Invalid URL/],
    'a region that is none': [
      { env: { AWS_REGION: 'no region!' }, endpoint: 'http://127.0.0.1:1' },
      /Region not accepted/,
    ],
  };
  for (const [name, [options, why]] of Object.entries(settings)) {
    test(`says that ${name} cannot be asked`, async () => {
      const read = await ask(cloudWatch(options), 'a');
      assert.ok(read.kind === 'error');
      assert.equal(read.reason, 'BadConfiguration');
      assert.match(read.message, why);
    });
  }
});
