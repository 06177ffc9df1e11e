import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonArray, JsonValue } from '#base/json.ts';
import { problemText } from '#base/parsed.ts';
import { type AdditionalQuerySpec, type PhasedRolloutSpec, parsePhasedRollout } from '../api.ts';
import { gateQueries } from './gate-queries.ts';

const first = {
  expr: 'up',
  url: 'http://prometheus:9090',
  secretRef: 'creds',
  insecureSkipVerify: true,
};

/** What is read of a spec with these additional queries, or what is wrong with it. */
function specWith(additionalQueries: JsonValue): PhasedRolloutSpec | string {
  const check = { query: first, additionalQueries };
  const parsed = parsePhasedRollout({ spec: { targetRef: 'web', check } });
  return parsed.kind === 'valid' ? parsed.value : problemText(parsed.problem);
}

function read(queries: JsonArray): readonly AdditionalQuerySpec[] | undefined {
  const spec = specWith(queries);
  assert.ok(typeof spec === 'object', JSON.stringify(spec));
  return spec.additionalQueries;
}

const path = 'spec.check.additionalQueries';

describe('additionalQueriesOf()', () => {
  test('additionalQueriesOf() asks without a URL as the first query is asked', () => {
    assert.deepEqual(read([{ name: 'latency', expr: 'latency', thresholdRange: { max: 1 } }]), [
      { ...first, name: 'latency', expr: 'latency', bounds: { max: 1 } },
    ]);
  });

  test('additionalQueriesOf() gives the credentials of the first query to no other server', () => {
    assert.deepEqual(read([{ name: 'b', expr: 'up', url: 'http://other' }]), [
      {
        name: 'b',
        expr: 'up',
        url: 'http://other',
        insecureSkipVerify: false,
        secretRef: undefined,
      },
    ]);
  });

  test('additionalQueriesOf() takes an empty list, and null, for none', () => {
    for (const none of [[], null]) {
      const spec = specWith(none);
      assert.ok(typeof spec === 'object');
      assert.equal(spec.additionalQueries, undefined);
    }
  });

  const refused: Record<string, { queries: JsonValue; want: string }> = {
    'what is no list': { queries: 'up', want: `${path} must be a list of queries: got "up"` },
    'a text for a query': {
      queries: ['up'],
      want: `${path}[0] must be a query with name and expr: got "up"`,
    },
    'two of a name': {
      queries: [
        { name: 'a', expr: 'up' },
        { name: 'a', expr: 'down' },
      ],
      want: `${path}[1].name must be the name of no other query of the check, the first of which is "query": got "a"`,
    },
    'the name of the first query': {
      queries: [{ name: 'query', expr: 'up' }],
      want: `${path}[0].name must be the name of no other query of the check, the first of which is "query": got "query"`,
    },
    'a Secret for a server that is not named': {
      queries: [{ name: 'a', expr: 'up', secretRef: 's' }],
      want: `${path}[0].url must be set where secretRef, headers or insecureSkipVerify is: got nothing`,
    },
    'more than are asked at once': {
      queries: Array.from({ length: 17 }, (_, at) => ({ name: `q${at}`, expr: 'up' })),
      want: `${path} must be a list of at most 16 queries: got 17`,
    },
    'a query that asks nothing': {
      queries: [{ name: 'a' }],
      want: `${path}[0].expr must be a text that is not empty: got nothing`,
    },
  };
  for (const [what, { queries, want }] of Object.entries(refused)) {
    test(`additionalQueriesOf() refuses ${what}`, () => assert.equal(specWith(queries), want));
  }
});

describe('gateQueries()', () => {
  test('gateQueries() asks all queries, each by its own Secret', () => {
    const spec = specWith([
      { name: 'same', expr: 'a' },
      { name: 'other', expr: 'b', url: 'http://other', secretRef: 'theirs' },
    ]);
    assert.ok(typeof spec === 'object');
    const { queries, secrets } = gateQueries(spec);
    assert.deepEqual(
      queries.map(({ name, secretRef, candidate }) => [name, candidate.url, secretRef]),
      [
        ['query', 'http://prometheus:9090', 'creds'],
        ['same', 'http://prometheus:9090', 'creds'],
        ['other', 'http://other', 'theirs'],
      ],
    );
    assert.deepEqual(secrets, ['creds', 'theirs']);
  });

  test('gateQueries() names the field of the URL that nothing can be asked at', () => {
    const spec = specWith([{ name: 'a', expr: 'a', url: 'http://h:port' }]);
    assert.ok(typeof spec === 'object');
    assert.match(
      gateQueries(spec).urlProblem ?? '',
      /^spec\.check\.additionalQueries\[0\]\.url is not a URL/,
    );
  });

  test('gateQueries() is another question with another query', () => {
    const [one, other] = [specWith([]), specWith([{ name: 'a', expr: 'a' }])];
    assert.ok(typeof one === 'object' && typeof other === 'object');
    assert.notEqual(gateQueries(one).id, gateQueries(other).id);
  });
});
