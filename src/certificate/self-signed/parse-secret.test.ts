import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { after, instant, minutes } from '#base/units.ts';
import { issueSelfSigned } from '../x509/issue.ts';
import { parseSecret } from './parse-secret.ts';

const now = instant(Date.UTC(2026, 0, 1));
const issuance = {
  now,
  expiration: minutes(24 * 60),
  organization: 'Grafana Labs',
  dnsNames: ['rollout-operator.test.svc'],
};
const [one, two] = await Promise.all([issueSelfSigned(issuance), issueSelfSigned(issuance)]);
const nine = await Promise.all(Array.from({ length: 9 }, () => issueSelfSigned(issuance)));
const day = 24 * 60;
const inverted = await issueSelfSigned({
  ...issuance,
  now: after(now, minutes(10 * day)),
  expiration: minutes(-10 * day),
});

function secret(data: Readonly<Record<string, string>>, type = 'Opaque'): JsonObject {
  const encoded: Record<string, string> = {};
  for (const [key, text] of Object.entries(data)) {
    encoded[key] = Buffer.from(text).toString('base64');
  }
  return { type, data: encoded };
}

const whole = { ca: one.ca, cert: one.cert, key: one.key };

const refusals: Readonly<Record<string, { readonly given: JsonObject; readonly want: RegExp }>> = {
  '[admission 86] without "ca"': {
    given: secret({ cert: one.cert, key: one.key }),
    want: /^Secret "test\/s" has data, but lacks "ca"; delete it, or take its data away, to have a new certificate made, or name another with -server-tls\.self-signed-cert\.secret-name$/,
  },
  'of another owner, with other members': {
    given: secret({ 'tls.crt': one.cert, 'tls.key': one.key }, 'kubernetes.io/tls'),
    want: /^Secret "test\/s" has data, but lacks "ca", "cert", "key"; delete it/,
  },
  'of another owner, still empty': {
    given: { type: 'kubernetes.io/service-account-token' },
    want: /^Secret "test\/s" is of type "kubernetes.io\/service-account-token", so it belongs to another program; delete it/,
  },
  '[admission 87] with the key of another certificate': {
    given: secret({ ...whole, key: two.key }),
    want: /^Secret "test\/s" cannot be used: its "key" must be the key of the certificate in "cert": it is another; delete it/,
  },
  'with a key that is none': {
    given: secret({ ...whole, key: 'garbage' }),
    want: /^Secret "test\/s" cannot be used: its "key" must be a PEM private key: /,
  },
  'with a certificate that is none': {
    given: secret({ ...whole, cert: 'garbage' }),
    want: /^Secret "test\/s" cannot be used: its "cert" must hold a PEM certificate: found none; delete it/,
  },
  'with a certificate that is cut off inside': {
    given: secret({ ...whole, cert: one.cert.replace(/\n.{20}/, '\n') }),
    want: /^Secret "test\/s" cannot be used: its "cert" must hold PEM certificates: /,
  },
  'with a CA that did not sign the certificate': {
    given: secret({ ...whole, ca: two.ca }),
    want: /^Secret "test\/s" cannot be used: its "ca" must hold the CA of the certificate in "cert": none of its 1 signed it; delete it/,
  },
  'with nine CAs': {
    given: secret({ ...whole, ca: nine.map(({ ca }) => ca).join('') }),
    want: /^Secret "test\/s" cannot be used: its "ca" must hold at most 8 CAs: found 9; delete it/,
  },
  'with a chain of nine': {
    given: secret({ ...whole, cert: one.cert.repeat(9) }),
    want: /^Secret "test\/s" cannot be used: its "cert" must hold a chain of at most 8 certificates: found 9; delete it/,
  },
  'with a certificate that ends before it begins': {
    given: secret({ ...inverted }),
    want: /^Secret "test\/s" cannot be used: its "cert" must end after it begins: it begins on Jan 12 00:00:00 2026 GMT and ends on Jan  1 00:00:00 2026 GMT; delete it/,
  },
  'with data that is no object of texts': {
    given: { type: 'Opaque', data: { ca: 1, cert: null, key: [] } },
    want: /^Secret "test\/s" has data, but lacks "ca", "cert", "key"; delete it/,
  },
};

describe('parseSecret()', () => {
  for (const [fact, { given, want }] of Object.entries(refusals)) {
    test(`refuses a Secret ${fact}`, () => {
      const state = parseSecret('test/s', given);
      assert.equal(state.kind, 'refused');
      assert.match(state.kind === 'refused' ? state.message : '', want);
    });
  }

  test('[admission 85] takes a Secret without data as one to fill', () => {
    assert.deepEqual(parseSecret('test/s', { type: 'Opaque' }), { kind: 'empty' });
    assert.deepEqual(parseSecret('test/s', { data: {} }), { kind: 'empty' });
  });

  test('[admission 84] reads what it needs to know of a pair', () => {
    const state = parseSecret('test/s', secret(whole));
    assert.equal(state.kind, 'valid');
    if (state.kind !== 'valid') return;
    const { current, next, authorities } = state.content;
    assert.equal(current.cert, one.cert);
    assert.equal(current.key, one.key);
    assert.deepEqual(current.dnsNames, ['rollout-operator.test.svc']);
    assert.equal(current.notBefore, Date.UTC(2025, 11, 31, 23, 55));
    assert.equal(current.notAfter, Date.UTC(2026, 0, 2));
    assert.equal(current.authority.pem, one.ca);
    assert.equal(next, undefined);
    assert.deepEqual(authorities, [current.authority]);
  });

  test('D-28 reads the next pair, its time and both CAs', () => {
    const rotation = {
      ...whole,
      ca: one.ca + two.ca,
      'next-cert': two.cert,
      'next-key': two.key,
      'next-from': '2026-01-01T20:00:00Z',
    };
    const state = parseSecret('test/s', secret(rotation));
    assert.equal(state.kind, 'valid');
    if (state.kind !== 'valid') return;
    const { next, authorities } = state.content;
    assert.equal(next?.leaf.cert, two.cert);
    assert.equal(next.leaf.authority.pem, two.ca);
    assert.equal(next.from, Date.UTC(2026, 0, 1, 20));
    assert.deepEqual(
      authorities.map(({ pem }) => pem),
      [one.ca, two.ca],
    );
  });

  test('counts a next pair that no CA vouches for as none', () => {
    const rotation = { ...whole, 'next-cert': two.cert, 'next-key': two.key };
    const state = parseSecret('test/s', secret(rotation));
    assert.equal(state.kind === 'valid' && state.content.next, undefined);
  });

  test('lets a next pair without a readable time begin at 5/6 of the life', () => {
    const rotation = {
      ...whole,
      ca: one.ca + two.ca,
      'next-cert': two.cert,
      'next-key': two.key,
      'next-from': 'tomorrow',
    };
    const state = parseSecret('test/s', secret(rotation));
    const life = 24 * 60 * 60_000 + 300_000;
    assert.equal(
      state.kind === 'valid' && state.content.next?.from,
      Date.UTC(2025, 11, 31, 23, 55) + (life * 5) / 6,
    );
  });

  test('takes eight CAs and a chain of eight, and checks each against each at most', (t) => {
    const { mock } = t.mock.method(X509Certificate.prototype, 'verify');
    const [, ...others] = nine;
    const ca = others.map((other) => other.ca).join('');
    const cert = one.cert.repeat(8);
    assert.equal(parseSecret('test/s', secret({ ...whole, ca, cert })).kind, 'refused');
    assert.equal(mock.callCount(), 64);
    const known = `${one.ca}${others
      .slice(1)
      .map((other) => other.ca)
      .join('')}`;
    assert.equal(parseSecret('test/s', secret({ ...whole, ca: known, cert })).kind, 'valid');
  });

  test('checks no signature of a CA by another name', async (t) => {
    const other = await issueSelfSigned({ ...issuance, organization: 'Somebody else' });
    const { mock } = t.mock.method(X509Certificate.prototype, 'verify');
    const state = parseSecret('test/s', secret({ ...whole, ca: `${other.ca}${one.ca}` }));
    assert.equal(state.kind, 'valid');
    assert.equal(mock.callCount(), 1);
  });

  test('names each CA once', () => {
    const state = parseSecret('test/s', secret({ ...whole, ca: `${one.ca}${one.ca}` }));
    assert.equal(state.kind === 'valid' && state.content.authorities.length, 1);
  });
});
