/** A Secret that a user wrote by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Instant, instant, type Millis, millis, minutes } from '#base/units.ts';
import { RotatingCertificate } from '#certificate/self-signed/rotating-certificate.ts';
import { SecretStore } from '#certificate/self-signed/secret-store.ts';
import { type IssuedPair, issueSelfSigned } from '#certificate/x509/issue.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { FakeTransport } from '#support/api-server/fake-transport.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';

const year = minutes(365 * 24 * 60);
/** 2026-11-22. */
const today = instant(1_795_305_600_000);

interface Ran {
  /** Why the start failed; the rotation goes on all the same, as one does that had started before. */
  readonly problem: string;
  readonly reads: number;
  readonly writes: number;
}

/** Runs the rotation for a second, or until it writes, over a Secret that holds a certificate made at `now`. */
async function rotated(
  now: Instant,
  expiration: Millis,
  until: 'a second' | 'a write' = 'a second',
): Promise<Ran> {
  const clock = new FakeClock(today);
  const written = Promise.withResolvers<void>();
  const issuance = { now, expiration, organization: 'x', dnsNames: ['a'] };
  const { ca, cert, key }: IssuedPair = await issueSelfSigned(issuance);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const secret = {
    metadata: { name: 's', namespace: 'test', uid: 'u', resourceVersion: '1' },
    type: 'Opaque',
    data: { ca: base64(ca), cert: base64(cert), key: base64(key) },
  };
  const transport = new FakeTransport(({ method }) => {
    if (method !== 'GET') written.resolve();
    return { body: secret };
  });
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
  await clock.advance(1_000);
  if (until === 'a write') await written.promise;
  ending.abort();
  await clock.settle();
  await running;
  const reads = transport.requests.filter(({ method }) => method === 'GET').length;
  return { problem, reads, writes: transport.requests.length - reads };
}

test('a certificate that ends before it begins does not have the Secret read without a pause', async () => {
  const { problem, reads } = await rotated(instant(today + 10 * year), millis(-5 * year));
  assert.ok(reads <= 5, `${reads} reads in a second`);
  assert.match(
    problem,
    /Secret "test\/s" cannot be used: its "cert" must end after it begins: it begins on /,
  );
});

test('a certificate that lasts a second does not have the Secret read 20 times a second', async () => {
  const { reads } = await rotated(today, millis(1_000));
  assert.ok(reads <= 5, `${reads} reads in a second`);
});

test('a certificate that begins tomorrow, and lasts a second, does not have the Secret read 20 times a second', async () => {
  const { reads } = await rotated(instant(today + minutes(24 * 60)), millis(1_000));
  assert.ok(reads <= 5, `${reads} reads in a second`);
});

test('a certificate that begins tomorrow, which no client accepts today, is replaced', async () => {
  const { writes } = await rotated(instant(today + minutes(24 * 60)), year, 'a write');
  assert.ok(writes > 0, 'it is served for a day, and nothing is written');
});
