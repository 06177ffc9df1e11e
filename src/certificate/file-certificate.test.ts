import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { LogFields, Logger } from '#base/logger.ts';
import { instant, minutes, seconds } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { openFileCertificate } from './file-certificate.ts';
import type { KeyPair } from './x509/certificate-source.ts';
import { issueSelfSigned } from './x509/issue.ts';

const T0 = Date.UTC(2026, 0, 1);
const [one, two] = await Promise.all([issued(60), issued(120)]);

function issued(life: number): Promise<KeyPair> {
  return issueSelfSigned({
    now: instant(T0),
    expiration: minutes(life),
    organization: 'o',
    dnsNames: ['a.svc'],
  });
}

class Lines implements Logger {
  readonly lines: string[] = [];
  debug(): void {
    // Of no interest here.
  }
  info(message: string): void {
    this.lines.push(message);
  }
  warn(message: string, { why }: LogFields = {}): void {
    this.lines.push(`${message}: ${String(why)}`);
  }
  error(message: string): void {
    this.lines.push(message);
  }
  with(): Logger {
    return this;
  }
  flush(): void {
    // Nothing is kept back.
  }
}

/** Two files in memory, and what is served from them. */
async function stage(first: Readonly<Record<string, string>>) {
  const clock = new FakeClock(T0);
  const files = new Map(Object.entries(first));
  const log = new Lines();
  const expiries: number[] = [];
  const certificate = await openFileCertificate({
    certFile: 'tls.crt',
    keyFile: 'tls.key',
    clock,
    log,
    metrics: { setExpiry: (at) => void expiries.push(at) },
    read: async (path) => {
      const text = files.get(path);
      if (text === undefined) throw new Error(`ENOENT: ${path}`);
      return text;
    },
  });
  const changes: KeyPair[] = [];
  certificate.source.onChange(() => changes.push(certificate.source.current()));
  const ending = new AbortController();
  const ended = certificate.run(ending.signal);
  const stop = async (): Promise<void> => {
    ending.abort();
    await ended;
  };
  return { clock, files, log, expiries, changes, certificate, stop };
}

const whole = { 'tls.crt': one.cert, 'tls.key': one.key };

describe('openFileCertificate()', () => {
  test('[admission 92] serves what the files hold', async () => {
    const { certificate, expiries, stop } = await stage(whole);
    await certificate.ready;
    assert.deepEqual(certificate.source.current().cert, one.cert);
    assert.deepEqual(certificate.source.current().key, one.key);
    assert.deepEqual(expiries, [T0 + 3_600_000]);
    await stop();
  });

  test('serves a changed pair after the next look, and tells once', async () => {
    const { clock, files, changes, log, expiries, stop } = await stage(whole);
    files.set('tls.crt', two.cert).set('tls.key', two.key);
    await clock.advance(seconds(30));
    assert.deepEqual(changes, [{ cert: two.cert, key: two.key }]);
    assert.deepEqual(log.lines, ['certificate files read again']);
    assert.deepEqual(expiries, [T0 + 3_600_000, T0 + 7_200_000]);
    await stop();
  });

  test('does not take a pair of which only one half is new', async () => {
    const { clock, files, changes, log, certificate, stop } = await stage(whole);
    files.set('tls.crt', two.cert);
    await clock.advance(seconds(30));
    assert.deepEqual(changes, []);
    assert.equal(certificate.source.current().cert, one.cert);
    assert.deepEqual(log.lines, [
      'the certificate files cannot be used; what was read before is served: Cannot serve with the certificate files: tls.key must be the key of the certificate in tls.crt: it is another',
    ]);
    files.set('tls.key', two.key);
    await clock.advance(seconds(10));
    assert.deepEqual(changes, [{ cert: two.cert, key: two.key }]);
    await stop();
  });

  for (const [fact, text] of Object.entries({
    empty: '',
    'half-written': one.cert.slice(0, 300),
    'not PEM': 'garbage',
  })) {
    test(`keeps what it serves while the certificate is ${fact}`, async () => {
      const { clock, files, changes, stop } = await stage(whole);
      files.set('tls.crt', text);
      await clock.advance(seconds(30));
      assert.deepEqual(changes, []);
      await stop();
    });
  }

  test('keeps what it serves while a file is missing', async () => {
    const { clock, files, changes, log, stop } = await stage(whole);
    files.delete('tls.key');
    await clock.advance(seconds(60));
    assert.deepEqual(changes, []);
    assert.equal(log.lines.length, 1);
    assert.match(log.lines[0] ?? '', /tls\.key must be a readable file: ENOENT/);
    await stop();
  });

  test('says once that what it serves has expired, and goes on', async () => {
    const { clock, log, certificate, stop } = await stage(whole);
    await clock.advance(minutes(62));
    assert.equal(log.lines.length, 1);
    assert.match(log.lines[0] ?? '', /the certificate in tls\.crt has expired$/);
    assert.equal(certificate.source.current().cert, one.cert);
    await stop();
  });

  test('refuses to start with an expired certificate', async () => {
    const expired = await issued(-10);
    await assert.rejects(stage({ 'tls.crt': expired.cert, 'tls.key': expired.key }), {
      message: 'Cannot serve with the certificate in tls.crt as it has expired',
    });
  });

  test('refuses to start without a usable pair, with one sentence', async () => {
    await assert.rejects(stage({ 'tls.crt': one.cert }), {
      message:
        'Cannot serve with the certificate files: tls.key must be a readable file: ENOENT: tls.key',
    });
    await assert.rejects(stage({ ...whole, 'tls.key': two.key }), {
      message:
        'Cannot serve with the certificate files: tls.key must be the key of the certificate in tls.crt: it is another',
    });
  });

  test('follows the symbolic links of a mounted Secret', async () => {
    const root = await mkdtemp(join(tmpdir(), 'certificate-'));
    const write = async (folder: string, { cert, key }: KeyPair): Promise<void> => {
      await mkdir(join(root, folder));
      await writeFile(join(root, folder, 'tls.crt'), cert);
      await writeFile(join(root, folder, 'tls.key'), key);
    };
    await write('..1', one);
    await symlink('..1', join(root, '..data'));
    const [certFile, keyFile] = [join(root, '..data/tls.crt'), join(root, '..data/tls.key')];
    const clock = new FakeClock(T0);
    const metrics = { setExpiry: () => undefined };
    const log = new Lines();
    const certificate = await openFileCertificate({ certFile, keyFile, clock, log, metrics });
    const changed = new Promise<void>((resolve) => certificate.source.onChange(resolve));
    const ending = new AbortController();
    const ended = certificate.run(ending.signal);
    await write('..2', two);
    await symlink('..2', join(root, '..next'));
    await rename(join(root, '..next'), join(root, '..data'));
    await clock.advance(seconds(10));
    await changed;
    assert.deepEqual(certificate.source.current(), { cert: two.cert, key: two.key });
    ending.abort();
    await clock.advance(seconds(10));
    await ended;
    await rm(root, { recursive: true });
  });
});
