import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routeLabel, routeLabeler } from './http-route.ts';

test('routeLabel() makes labels of the templates of the peers (ME-14)', () => {
  const templates = [
    '/metrics',
    '/debug/pprof',
    '/admission/no-downscale',
    '/admission/pod-eviction',
  ];
  assert.deepEqual(templates.map(routeLabel), [
    'metrics',
    'debug_pprof',
    'admission_no_downscale',
    'admission_pod_eviction',
  ]);
});

test('routeLabeler() labels what is below a template ending in a star, and nothing beside it', () => {
  const routeOf = routeLabeler(['/debug/pprof/*']);
  assert.deepEqual(['/debug/pprof', '/debug/pprof/heap', '/debug/pprofx'].map(routeOf), [
    'debug_pprof',
    'debug_pprof',
    'other',
  ]);
});
