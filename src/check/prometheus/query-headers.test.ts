import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonValue } from '#base/json.ts';
import { problemText } from '#base/parsed.ts';
import { SpecFields } from '#base/spec-fields.ts';
import { sentHeaders } from './query-headers.ts';
import { trustIn } from './query-spec.ts';

/** Returns what is read of `headers` of a query with the Secret `creds`, or all that is wrong with them. */
function read(headers: JsonValue, secretRef = 'creds'): unknown {
  const fields = new SpecFields();
  const trust = trustIn({ headers, secretRef }, 'q', fields);
  return fields.problems.length === 0 ? trust.headers : fields.problems.map(problemText);
}

const org = { name: 'X-Scope-OrgID', value: 'tenant-1' };
const name = 'X-Scope-OrgID';

describe('queryHeadersOf()', () => {
  const cases: Record<string, { headers: JsonValue; want: unknown }> = {
    'reads a value, and a key of the Secret': {
      headers: [org, { name: 'X-Api-Key', secretKey: 'api-key' }],
      want: [org, { name: 'X-Api-Key', secretKey: 'api-key' }],
    },
    'takes an empty list for none': { headers: [], want: undefined },
    'takes null for none': { headers: null, want: undefined },
    'refuses what is no list': {
      headers: { 'X-Scope-OrgID': 'a' },
      want: ['q.headers must be a list of headers: got what is no such value'],
    },
    'refuses a header that is a text': {
      headers: ['X-Scope-OrgID: a'],
      want: [
        'q.headers[0] must be a header with name, and value or secretKey: got "X-Scope-OrgID: a"',
      ],
    },
    'refuses a header without a value': {
      headers: [{ name }],
      want: ['q.headers[0] must have either value or secretKey: got nothing'],
    },
    'refuses a header with two values': {
      headers: [{ ...org, secretKey: 'k' }],
      want: ['q.headers[0] must have either value or secretKey: got "k"'],
    },
    'refuses a value with a line break, which would be another header': {
      headers: [{ name, value: 'a\r\nHost: b' }],
      want: [
        'q.headers[0].value must be 1 to 1024 printable characters of ASCII, without blanks around them: got "a\\r\\nHost: b"',
      ],
    },
    'refuses a name with a blank': {
      headers: [{ name: 'X Scope', value: 'a' }],
      want: [
        'q.headers[0].name must be the name of an HTTP header, such as X-Scope-OrgID: got "X Scope"',
      ],
    },
    'refuses credentials, which have a Secret': {
      headers: [{ name: 'Authorization', value: 'Bearer a' }],
      want: [
        'q.headers[0].name must be another header: credentials are in the Secret that secretRef names: got "Authorization"',
      ],
    },
    'refuses the host': {
      headers: [{ name: 'HOST', value: 'a' }],
      want: ['q.headers[0].name must be a header that a query may choose: got "HOST"'],
    },
    'refuses the proof that metadata services of clouds ask for': {
      headers: [{ name: 'Metadata-Flavor', value: 'Google' }],
      want: ['q.headers[0].name must be a header that a query may choose: got "Metadata-Flavor"'],
    },
    'refuses a name in two spellings': {
      headers: [org, { name: 'x-scope-orgid', value: 'b' }],
      want: ['q.headers must have each name once: got "x-scope-orgid"'],
    },
    'refuses more than 16': {
      headers: Array.from({ length: 17 }, (_, at) => ({ name: `X-${at}`, value: 'a' })),
      want: ['q.headers must be at most 16 headers: got 17'],
    },
  };
  for (const [fact, { headers, want }] of Object.entries(cases)) {
    test(`queryHeadersOf() ${fact} [found R-13]`, () => assert.deepEqual(read(headers), want));
  }

  test('queryHeadersOf() refuses a key of a Secret that no field names [found R-13]', () => {
    assert.deepEqual(read([{ name, secretKey: 'k' }], ''), [
      'q.secretRef must be set where a header has a secretKey: got nothing',
    ]);
  });
});

describe('sentHeaders()', () => {
  const headers = [org, { name: 'X-Api-Key', secretKey: 'api-key' }];

  test('sentHeaders() puts values of the Secret in [found R-13]', () => {
    assert.deepEqual(sentHeaders(headers, { 'api-key': 's3cret' }), {
      'x-scope-orgid': 'tenant-1',
      'x-api-key': 's3cret',
    });
  });

  test('sentHeaders() sends nothing while a value is missing [found R-13]', () => {
    assert.equal(sentHeaders(headers, {}), undefined);
  });
});
