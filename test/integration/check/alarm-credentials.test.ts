import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Finding } from '#check/answer.ts';
import {
  AwsServer,
  expiredToken,
  silent,
  throttling,
} from '#support/external-services/aws-server.ts';
import { bundleInto } from '../../../scripts/build.ts';

const source = join(import.meta.dirname, 'ask-alarm.ts');
const patient = 20_000;

/** A process of its own for each: the SDK reads the environment of the process, and keeps what it found. */
describe('credentials for alarms', () => {
  let folder: string;
  let bundled: string;
  let server: AwsServer;
  let url: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'alarms-'));
    await bundleInto(join(folder, 'build'), { entry: 'test/integration/check/ask-alarm.ts' });
    bundled = join(folder, 'build', 'rollout-operator.mjs');
  });

  after(() => rmSync(folder, { recursive: true }));

  beforeEach(async () => {
    server = new AwsServer();
    server.alarms.push({ name: 'a', kind: 'composite', state: 'OK' });
    url = await server.listen();
  });

  afterEach(() => server.close());

  /** What a process finds that has no other environment than this. */
  async function ask(
    env: Readonly<Record<string, string>>,
    { program = source, times = 1, timeout = patient } = {},
  ): Promise<readonly Finding[]> {
    const args = ['--disable-warning=ExperimentalWarning', program, 'a', `${times}`, `${timeout}`];
    const child = spawn(process.execPath, args, {
      env: { HOME: folder, AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL_CLOUDWATCH: url, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, errors] = await Promise.all(
      [child.stdout, child.stderr].map(async (stream) => (await stream.toArray()).join('')),
    );
    assert.equal(errors, '');
    return (out ?? '')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Finding);
  }

  const keysIn = (): Readonly<Record<string, string>> => ({
    AWS_ACCESS_KEY_ID: server.keys.id,
    AWS_SECRET_ACCESS_KEY: server.keys.secret,
    ...(server.keys.token !== undefined && { AWS_SESSION_TOKEN: server.keys.token }),
  });

  function webIdentity(): Readonly<Record<string, string>> {
    server.keys = { id: 'ASIAOFTHEROLE', secret: 'secret-of-the-role', token: 'session' };
    const file = join(folder, 'web-identity');
    writeFileSync(file, server.webIdentity);
    return {
      AWS_WEB_IDENTITY_TOKEN_FILE: file,
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/operator',
      AWS_ENDPOINT_URL_STS: url,
    };
  }

  function container(): Readonly<Record<string, string>> {
    server.keys = { id: 'ASIAOFTHEPOD', secret: 'secret-of-the-pod', token: 'session' };
    const file = join(folder, 'container');
    writeFileSync(file, server.containerToken);
    return {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file,
    };
  }

  const verdicts = (findings: readonly Finding[]): readonly string[] =>
    findings.map(({ verdict }) => verdict);

  for (const kind of ['the sources', 'a bundle'] as const) {
    const program = (): string => (kind === 'a bundle' ? bundled : source);

    test(`are taken from the environment by ${kind}`, async () => {
      const env = keysIn();
      assert.deepEqual(verdicts(await ask(env, { program: program() })), ['passes']);
    });

    test(`are taken from the file of a web identity by ${kind}`, async () => {
      const env = webIdentity();
      assert.deepEqual(verdicts(await ask(env, { program: program(), times: 2 })), [
        'passes',
        'passes',
      ]);
      const [sts, ...others] = server.received.filter(({ headers }) => !headers['x-amz-target']);
      assert.equal(others.length, 0, 'and kept');
      const form = new URLSearchParams(sts?.body);
      assert.equal(form.get('RoleArn'), 'arn:aws:iam::123456789012:role/operator');
    });

    test(`are taken from the endpoint of a container by ${kind}`, async () => {
      const env = container();
      assert.deepEqual(verdicts(await ask(env, { program: program() })), ['passes']);
      assert.equal(server.received[0]?.target, '/v1/credentials');
    });
  }

  test('are taken from the environment with a token of a session', async () => {
    server.keys = { id: 'ASIA', secret: 'secret', token: 'session' };
    assert.deepEqual(verdicts(await ask(keysIn())), ['passes']);
  });

  test('are not taken where they are wrong', async () => {
    const env = { ...keysIn(), AWS_SECRET_ACCESS_KEY: 'another' };
    const [finding] = await ask(env);
    assert.deepEqual(finding?.because, {
      reason: 'Refused',
      message:
        'Cannot ask CloudWatch: it answers 403: UnrecognizedClientException: The security token included in the request is invalid.',
    });
    assert.equal(finding.verdict, 'unknown');
  });

  test('are looked for in vain', async () => {
    const [finding] = await ask({ AWS_EC2_METADATA_DISABLED: 'true' });
    assert.equal(finding?.because.reason, 'NoCredentials');
    assert.match(finding.because.message, /^Cannot ask CloudWatch: there are no credentials: /);
  });

  test('are fetched again once they have expired', async () => {
    const env = webIdentity();
    server.obstacles.push(expiredToken);
    const [first, second] = await ask(env, { times: 2 });
    assert.equal(first?.verdict, 'unknown');
    assert.match(first.because.message, /the credentials have expired/);
    assert.equal(second?.verdict, 'passes');
    assert.equal(server.received.filter(({ headers }) => !headers['x-amz-target']).length, 2);
  });

  test('are refused by STS', async () => {
    const env = webIdentity();
    server.webIdentity = 'that of another pod';
    const [finding] = await ask(env);
    assert.equal(finding?.verdict, 'unknown');
    assert.match(finding.because.message, /No OpenIDConnect provider found in your account/);
    assert.equal(server.calls.length, 0);
  });

  test('are fetched again after STS has said nothing', async () => {
    const env = webIdentity();
    server.credentialObstacles.push(silent);
    const [first, second] = await ask(env, { times: 2, timeout: 2_000 });
    assert.equal(first?.because.reason, 'TimedOut');
    assert.equal(second?.verdict, 'passes');
  });

  test('are fetched again after the endpoint of a container has said nothing', async () => {
    const env = container();
    server.credentialObstacles.push(silent);
    assert.deepEqual(verdicts(await ask(env)), ['passes']);
    assert.equal(server.received.filter(({ method }) => method === 'GET').length, 2);
  });

  test('are of no use without a region', async () => {
    const [finding] = await ask({ ...keysIn(), AWS_REGION: '' });
    assert.deepEqual(finding?.because, {
      reason: 'BadConfiguration',
      message: 'Cannot ask CloudWatch: no region is configured: set AWS_REGION',
    });
  });

  test('are used again after throttling', async () => {
    server.obstacles.push(throttling);
    assert.deepEqual(verdicts(await ask(keysIn())), ['passes']);
    assert.equal(server.calls.length, 2);
  });

  test('are asked with once only where AWS_MAX_ATTEMPTS says so', async () => {
    server.obstacles.push(throttling);
    const [finding] = await ask({ ...keysIn(), AWS_MAX_ATTEMPTS: '1' });
    assert.equal(finding?.because.reason, 'Throttled');
    assert.equal(server.calls.length, 1);
  });

  test('lead nowhere in a bundle that lost the file of the SDK', async () => {
    const without = join(folder, 'without');
    cpSync(dirname(bundled), without, { recursive: true });
    const [sdk = ''] = readdirSync(without).filter((file) => /^aws-sdk-.*\.mjs$/.test(file));
    rmSync(join(without, sdk));
    const [finding] = await ask(keysIn(), { program: join(without, basename(bundled)) });
    assert.deepEqual(finding?.because, {
      reason: 'BadConfiguration',
      message: `Cannot ask CloudWatch: the file ${join(without, sdk)} is missing: keep all files of the build in the folder of the program, and restart it after a new build`,
    });
  });
});
