import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import { goDuration, resourcePath, withQuery } from './resource-path.ts';
import { resourceTypes } from './resource-type.ts';

const durations: Record<string, { readonly span: number; readonly want: string }> = {
  'writes minutes as client-go does': { span: 300_000, want: '5m0s' },
  'writes hours': { span: 5_400_000, want: '1h30m0s' },
  'writes seconds': { span: 10_000, want: '10s' },
  'writes fractions': { span: 1_500, want: '1.5s' },
  'writes a negative span as none': { span: -1, want: '0s' },
};

for (const [fact, { span, want }] of Object.entries(durations)) {
  test(`goDuration() ${fact}`, () => {
    assert.equal(goDuration(millis(span)), want);
  });
}

test('withQuery() leaves a path alone when there is nothing to add', () => {
  assert.equal(withQuery('/api', new URLSearchParams()), '/api');
});

test('withQuery() adds to a query that is there', () => {
  assert.equal(withQuery('/api?a=1', new URLSearchParams({ b: '2' })), '/api?a=1&b=2');
});

for (const name of ['', '.', '..']) {
  test(`resourcePath() refuses the name ${JSON.stringify(name)}, and a namespace of it`, () => {
    const message = `Cannot make a path as a name must be neither empty nor "." nor "..": current value is "${name}"`;
    assert.throws(() => resourcePath(resourceTypes.pods, { namespace: 'demo', name }), { message });
    assert.throws(() => resourcePath(resourceTypes.pods, { namespace: name }), { message });
  });
}

test('resourcePath() takes a name with dots for one segment', () => {
  const path = resourcePath(resourceTypes.pods, { namespace: 'demo', name: 'a..b' });
  assert.equal(path, '/api/v1/namespaces/demo/pods/a..b');
});
