import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { problemText } from '#base/parsed.ts';
import { instant } from '#base/units.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { parseHeaderValue } from './header-value.ts';
import { parseAuthorities, parseCredentials, secretValues } from './parse-credentials.ts';

function secret(data: Readonly<Record<string, string | Buffer>>): JsonObject {
  const encoded = Object.entries(data).map(
    ([key, value]) => [key, Buffer.from(value).toString('base64')] as const,
  );
  return { kind: 'Secret', data: Object.fromEntries(encoded) };
}

function basic(pair: string): string {
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

describe('parseHeaderValue()', () => {
  const cases: Record<string, { data: Readonly<Record<string, string>>; want: string }> = {
    'reads a value byte for byte': { data: { key: 'a b=ä' }, want: 'a b=Ã¤' },
    'refuses a key that is not there, and names it': {
      data: { other: 'a' },
      want: 'Secret "creds", key key must hold 1 to 8192 bytes: found none',
    },
    'refuses an empty value': {
      data: { key: '' },
      want: 'Secret "creds", key key must hold 1 to 8192 bytes: found none',
    },
    'refuses a value that no header can carry': {
      data: { key: 'a\n' },
      want: 'Secret "creds", key key must be one line of printable characters: found a line break',
    },
    'keeps nothing that is too long for a header': {
      data: { key: 'a'.repeat(9_000) },
      want: 'Secret "creds", key key must hold 1 to 8192 bytes: found none',
    },
  };
  for (const [fact, { data, want }] of Object.entries(cases)) {
    test(`parseHeaderValue() ${fact} [found R-13]`, () => {
      const parsed = parseHeaderValue('creds', 'key', secretValues(secret(data)));
      assert.equal(parsed.kind === 'valid' ? parsed.value : problemText(parsed.problem), want);
    });
  }

  test('secretValues() keeps 64 values of a Secret at most [found R-13]', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, 'v']));
    assert.equal(secretValues(secret(many)).size, 64);
    assert.equal(secretValues(undefined).size, 0);
  });
});

describe('parseCredentials()', () => {
  interface Case {
    readonly secret: JsonObject | undefined;
    /** The header; undefined: none. */
    readonly want?: string | undefined;
    readonly problem?: string;
  }
  const cases: Record<string, Case> = {
    'reads a token [phased 46]': { secret: secret({ token: 'abc.d_e=' }), want: 'Bearer abc.d_e=' },
    'reads user and password [phased 46]': {
      secret: secret({ username: 'ann', password: 'p:w' }),
      want: basic('ann:p:w'),
    },
    'reads none from a Secret without any [phased 46]': { secret: secret({}), want: undefined },
    'reads none from a Secret without data': { secret: { kind: 'Secret' }, want: undefined },
    'ignores other keys, also that of an authority': {
      secret: secret({ 'ca.crt': 'x', namespace: 'y', token: 't' }),
      want: 'Bearer t',
    },
    'takes empty values for none': {
      secret: secret({ username: '', password: '', token: 't' }),
      want: 'Bearer t',
    },
    'keeps blanks and what is no ASCII, byte for byte': {
      secret: secret({ token: Buffer.from(' a\tä ') }),
      want: `Bearer ${Buffer.from(' a\tä ').toString('latin1')}`,
    },
    'encodes a line break in a password': {
      secret: secret({ username: 'ann', password: 'pw\n' }),
      want: basic('ann:pw\n'),
    },
    'refuses a Secret that is not there, and names it [phased 47]': {
      secret: undefined,
      problem: 'Secret "creds" must exist: found none',
    },
    'refuses a user without a password [phased 48]': {
      secret: secret({ username: 'ann' }),
      problem:
        'Secret "creds" must have both username and password: found username without password',
    },
    'refuses a password without a user, also beside a token [phased 48]': {
      secret: secret({ password: 'pw', token: 't' }),
      problem:
        'Secret "creds" must have both username and password: found password without username',
    },
    'refuses user, password and token at once [phased 48]': {
      secret: secret({ username: 'ann', password: 'pw', token: 't' }),
      problem: 'Secret "creds" must have either token or username and password: found all three',
    },
    'refuses a token with a line break at its end': {
      secret: secret({ token: 'abc\n' }),
      problem:
        'Secret "creds", key token must be one line of printable characters: found a line break',
    },
    'refuses a token that would add a header': {
      secret: secret({ token: 'abc\r\nx-scope: y' }),
      problem:
        'Secret "creds", key token must be one line of printable characters: found a line break',
    },
    'refuses a token with a control character': {
      secret: secret({ token: 'a\u0000b' }),
      problem:
        'Secret "creds", key token must be one line of printable characters: found a control character',
    },
  };
  for (const [fact, { secret: given, want, problem }] of Object.entries(cases)) {
    test(`parseCredentials() ${fact}`, () => {
      const parsed = parseCredentials('creds', given);
      if (parsed.kind === 'valid') assert.deepEqual([parsed.value, problem], [want, undefined]);
      else assert.equal(`${parsed.problem.path} ${parsed.problem.message}`, problem);
    });
  }
});

describe('parseAuthorities()', async () => {
  const [one, two] = await Promise.all([1, 2].map(() => selfSigned(instant(Date.now()))));
  assert.ok(one !== undefined && two !== undefined);
  const said = (given: JsonObject | undefined): string => {
    const parsed = parseAuthorities('ca', given);
    if (parsed.kind === 'invalid') return `${parsed.problem.path} ${parsed.problem.message}`;
    return `${parsed.value.match(/BEGIN/g)?.length} certificates`;
  };
  const cases: Record<string, { given: JsonObject | undefined; want: string }> = {
    'reads certificates, and what is between them': {
      given: secret({ 'ca.crt': `# one\n${one.cert}\n# two\n${two.cert}\n` }),
      want: '2 certificates',
    },
    'refuses a Secret that is not there': {
      given: undefined,
      want: 'Secret "ca" must exist: found none',
    },
    'refuses a Secret without the key': {
      given: secret({ token: 't' }),
      want: 'Secret "ca", key ca.crt must hold certificates in PEM: found none',
    },
    'refuses a private key': {
      given: secret({ 'ca.crt': one.key }),
      want: 'Secret "ca", key ca.crt must hold certificates in PEM: found none',
    },
    'refuses certificates of which one is broken': {
      given: secret({ 'ca.crt': `${one.cert}\n${two.cert.replace('\nM', '\n=')}` }),
      want: 'Secret "ca", key ca.crt must hold certificates in PEM: number 2 is none',
    },
  };
  for (const [fact, { given, want }] of Object.entries(cases)) {
    test(`parseAuthorities() ${fact}`, () => assert.equal(said(given), want));
  }
});
