/** Hostile: a helper for credentials that hangs, and a file of credentials that is renewed. */
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { AwsServer, awsError } from '#support/external-services/aws-server.ts';

const source = join(import.meta.dirname, 'ask-alarm.ts');

describe('credentials for alarms, under a hostile environment', () => {
  let folder: string;
  let server: AwsServer;
  let url: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'hostile-alarms-'));
  });
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    server = new AwsServer();
    server.alarms.push({ name: 'a', kind: 'composite', state: 'OK' });
    url = await server.listen();
  });
  afterEach(() => server.close());

  /** Asks `times` for the alarm with no environment but `env`. */
  function asking(
    times: number,
    env: NodeJS.ProcessEnv,
  ): ChildProcessByStdio<null, Readable, null> {
    const args = ['--disable-warning=ExperimentalWarning', source, 'a', `${times}`, '1000'];
    return spawn(process.execPath, args, {
      env: { HOME: folder, AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL_CLOUDWATCH: url, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  test('a credential_process that hangs is started once, whatever asks meanwhile', async () => {
    const noted = join(folder, 'pids');
    writeFileSync(noted, '');
    const helper = join(folder, 'helper.sh');
    writeFileSync(helper, `echo $$ >> ${noted}\nexec sleep 300\n`);
    const config = join(folder, 'config');
    writeFileSync(config, `[default]\ncredential_process = /bin/sh ${helper}\n`);
    const child = asking(4, { PATH: process.env['PATH'] ?? '', AWS_CONFIG_FILE: config });
    const started = (): readonly number[] =>
      readFileSync(noted, 'utf8').split('\n').filter(Boolean).map(Number);
    try {
      let text = '';
      for await (const chunk of child.stdout) {
        text += String(chunk);
        if (text.split('\n').length > 4) break;
      }
      assert.equal(text.match(/"verdict":"unknown"/g)?.length, 4, text);
      assert.equal(started().length, 1);
    } finally {
      child.kill('SIGKILL');
      for (const pid of started()) process.kill(pid, 'SIGKILL');
    }
  });

  test('a file of credentials that was renewed is read again once those in it were refused', async () => {
    const file = join(folder, 'credentials');
    const write = (id: string, secret: string): void =>
      writeFileSync(file, `[default]\naws_access_key_id=${id}\naws_secret_access_key=${secret}\n`);
    write('AKIAEXPIRED', 'old');
    server.obstacles.push((response) => {
      write(server.keys.id, server.keys.secret);
      awsError('UnrecognizedClientException', 'The security token is invalid.', 403)(response);
    });
    const none = join(folder, 'none');
    const child = asking(3, { AWS_CONFIG_FILE: none, AWS_SHARED_CREDENTIALS_FILE: file });
    const text = (await child.stdout.toArray()).join('');
    const verdicts = [...text.matchAll(/"verdict":"(\w+)"/g)].map(([, verdict]) => verdict);
    assert.deepEqual(verdicts, ['unknown', 'passes', 'passes'], text);
  });
});
