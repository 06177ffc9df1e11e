/** A Secret that somebody wrote by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Instant, instant, type Millis, millis, minutes } from '#base/units.ts';
import { type IssuedPair, issueSelfSigned } from '#certificate/issue.ts';
import { RotatingCertificate } from '#certificate/rotating-certificate.ts';
import { SecretStore } from '#certificate/secret-store.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { FakeTransport } from '#testing/fake-transport.ts';
import { silentLogger } from '#testing/silent-logger.ts';
import { clock } from './hostile-trust-stage.ts';

const year = minutes(365 * 24 * 60);

interface Ran {
  /** Why the start failed; the rotation goes on all the same, as one does that had started before. */
  readonly problem: string;
  readonly reads: number;
  readonly writes: number;
}

/** Runs the rotation for a second over a Secret that holds a certificate made at `now`. */
async function rotated(now: Instant, expiration: Millis): Promise<Ran> {
  const issuance = { now, expiration, organization: 'x', dnsNames: ['a'] };
  const { ca, cert, key }: IssuedPair = await issueSelfSigned(issuance);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const secret = {
    metadata: { name: 's', namespace: 'test', uid: 'u', resourceVersion: '1' },
    type: 'Opaque',
    data: { ca: base64(ca), cert: base64(cert), key: base64(key) },
  };
  const transport = new FakeTransport(() => ({ body: secret }));
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  const rotation = new RotatingCertificate({
    store: new SecretStore(client, { namespace: 'test', name: 's' }),
    bundles: {
      publication: { kind: 'managed', since: new Map() },
      want: () => undefined,
      onChange: () => undefined,
    },
    clock,
    log: silentLogger,
    metrics: { setExpiry: () => undefined, setWaiting: () => undefined },
    issue: issueSelfSigned,
    dnsName: 'a',
    organization: 'x',
    expiration: year,
  });
  const ending = new AbortController();
  const problem = await rotation.start(ending.signal).then(() => '', String);
  const running = rotation.run(ending.signal);
  await sleep(1_000);
  ending.abort();
  await running;
  const reads = transport.requests.filter(({ method }) => method === 'GET').length;
  return { problem, reads, writes: transport.requests.length - reads };
}

test('a certificate that ends before it begins does not have the Secret read without a pause', async () => {
  const { problem, reads } = await rotated(instant(clock.now() + 10 * year), millis(-5 * year));
  assert.ok(reads <= 5, `${reads} reads in a second`);
  assert.match(
    problem,
    /Secret "test\/s" cannot be used: its "cert" must end after it begins: it begins on /,
  );
});

test('a certificate that lasts a second does not have the Secret read 20 times a second', async () => {
  const { reads } = await rotated(clock.now(), millis(1_000));
  assert.ok(reads <= 5, `${reads} reads in a second`);
});

test('a certificate that begins tomorrow, and lasts a second, does not have the Secret read 20 times a second', async () => {
  const { reads } = await rotated(instant(clock.now() + minutes(24 * 60)), millis(1_000));
  assert.ok(reads <= 5, `${reads} reads in a second`);
});

test('a certificate that begins tomorrow, which no client accepts today, is replaced', async () => {
  const { writes } = await rotated(instant(clock.now() + minutes(24 * 60)), year);
  assert.ok(writes > 0, 'it is served for a day, and nothing is written');
});
