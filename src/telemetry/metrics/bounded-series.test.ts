import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { test } from 'node:test';
import { boundedSeries, methodLabel } from './bounded-series.ts';

type Labels = 'path' | 'method';

function bounded(most: number): (path: string, method?: string) => readonly string[] {
  const bound = boundedSeries<Labels>({ outside: ['path'], most });
  return (path, method = 'GET') => {
    const shown = bound({ path, method });
    return [shown.path, shown.method];
  };
}

test('boundedSeries() keeps the first labels, also when they come again after too many', () => {
  const bound = bounded(2);
  assert.deepEqual(
    ['/a', '/b', '/c', '/a', '/b'].map((path) => bound(path)[0]),
    ['/a', '/b', 'other', '/a', '/b'],
  );
});

test('boundedSeries() counts sets of labels, and keeps what is chosen here', () => {
  const bound = bounded(2);
  bound('/a', 'GET');
  bound('/a', 'POST');
  assert.deepEqual(bound('/a', 'DELETE'), ['other', 'DELETE']);
});

test('boundedSeries() shows a value of 256 characters, and no longer one', () => {
  const bound = bounded(9);
  assert.deepEqual(bound('x'.repeat(256)), ['x'.repeat(256), 'GET']);
  assert.deepEqual(bound('x'.repeat(257)), ['other', 'GET']);
});

test('boundedSeries() changes nothing in the labels that it was given', () => {
  const labels = { path: 'x'.repeat(300), method: 'GET' };
  boundedSeries<Labels>({ outside: ['path'], most: 1 })(labels);
  assert.equal(labels.path.length, 300);
});

test('methodLabel() makes 8 labels of all methods that Node parses', () => {
  assert.ok(METHODS.length > 30);
  assert.deepEqual(
    [...new Set(METHODS.map(methodLabel))].toSorted(),
    ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'other'].toSorted(),
  );
});
