/** Hostile: a helper for credentials that hangs, and a file of credentials that is renewed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { AwsServer } from '#testing/aws-server.ts';

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

  /** Pids of what was started as a helper, and lives. */
  function helpers(file: string): readonly number[] {
    const pids = readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number);
    return pids.filter((pid) => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    });
  }

  test('a credential_process that hangs runs once at a time, and not once more with each question', async () => {
    const noted = join(folder, 'pids');
    writeFileSync(noted, '');
    const helper = join(folder, 'helper.sh');
    writeFileSync(helper, `echo $$ >> ${noted}\nexec sleep 300\n`);
    const config = join(folder, 'config');
    writeFileSync(config, `[default]\ncredential_process = /bin/sh ${helper}\n`);
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', source, 'a', '6', '1500'],
      {
        env: {
          PATH: process.env['PATH'] ?? '',
          HOME: folder,
          AWS_CONFIG_FILE: config,
          AWS_REGION: 'eu-west-1',
          AWS_ENDPOINT_URL_CLOUDWATCH: url,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    try {
      let lines = 0;
      await new Promise<void>((resolve) => {
        child.stdout.on('data', (chunk: Buffer) => {
          lines += chunk.toString().split('\n').length - 1;
          if (lines >= 6) resolve();
        });
        child.on('exit', () => resolve());
      });
      const alive = helpers(noted);
      assert.ok(alive.length <= 1, `${alive.length} helpers live after 6 questions`);
    } finally {
      child.kill('SIGKILL');
      for (const pid of helpers(noted)) process.kill(pid, 'SIGKILL');
    }
  });

  test('a credential_process that hangs does not keep a program alive that has ended', async () => {
    const noted = join(folder, 'pids-of-end');
    writeFileSync(noted, '');
    const helper = join(folder, 'helper-of-end.sh');
    writeFileSync(helper, `echo $$ >> ${noted}\nexec sleep 300\n`);
    const config = join(folder, 'config-of-end');
    writeFileSync(config, `[default]\ncredential_process = /bin/sh ${helper}\n`);
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', source, 'a', '1', '1000'],
      {
        env: {
          PATH: process.env['PATH'] ?? '',
          HOME: folder,
          AWS_CONFIG_FILE: config,
          AWS_REGION: 'eu-west-1',
          AWS_ENDPOINT_URL_CLOUDWATCH: url,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    try {
      const exited = new Promise((resolve) => child.on('exit', () => resolve('ended')));
      await new Promise((resolve) => child.stdout.once('data', resolve));
      const late = new Promise((resolve) => setTimeout(resolve, 10_000, 'alive').unref());
      assert.equal(await Promise.race([exited, late]), 'ended', '10 s after the last answer');
    } finally {
      child.kill('SIGKILL');
      for (const pid of helpers(noted)) process.kill(pid, 'SIGKILL');
    }
  });

  test('a file of credentials that was renewed is read again once those in it were refused', async () => {
    const file = join(folder, 'credentials');
    const write = (id: string, secret: string): void =>
      writeFileSync(file, `[default]\naws_access_key_id=${id}\naws_secret_access_key=${secret}\n`);
    write('AKIAEXPIRED', 'old');
    const program = join(folder, 'renewed.ts');
    const root = join(import.meta.dirname, '../..');
    writeFileSync(
      program,
      `import { writeFileSync } from 'node:fs';
import { millis } from '${root}/src/base/units.ts';
import { Alarms } from '${root}/src/check/alarms.ts';
import { openCloudWatch } from '${root}/src/check/cloud-watch.ts';
import { systemClock } from '${root}/src/telemetry/system-clock.ts';
const clock = systemClock();
const source = openCloudWatch({ clock, env: process.env, log: { warn: () => {} } });
const alarms = new Alarms({ clock, source, period: millis(0), gather: millis(0), timeout: millis(8000) });
const ask = () => alarms.ask('a', { signal: new AbortController().signal });
console.log(JSON.stringify(await ask()));
writeFileSync(${JSON.stringify(file)}, '[default]\\naws_access_key_id=${server.keys.id}\\naws_secret_access_key=${server.keys.secret}\\n');
await new Promise((r) => setTimeout(r, 500));
console.log(JSON.stringify(await ask()));
console.log(JSON.stringify(await ask()));
await alarms.close();
`,
    );
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
      env: {
        HOME: folder,
        AWS_CONFIG_FILE: join(folder, 'none'),
        AWS_SHARED_CREDENTIALS_FILE: file,
        AWS_REGION: 'eu-west-1',
        AWS_ENDPOINT_URL_CLOUDWATCH: url,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const text = (await child.stdout.toArray()).join('');
    const verdicts = text
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { verdict: string }).verdict);
    assert.deepEqual(verdicts, ['unknown', 'passes', 'passes'], text);
  });
});
