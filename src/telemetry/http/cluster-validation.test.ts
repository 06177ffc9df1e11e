import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClusterValidation, isForThisCluster } from './cluster-validation.ts';

const strict: ClusterValidation = {
  isEnabled: true,
  isSoft: false,
  cluster: 'x',
  excludedPaths: ['admission/no-downscale', 'admission/prepare-downscale'],
  excludedUserAgents: [/^curl\//],
};

const checks: Record<
  string,
  readonly [request: Partial<Parameters<typeof isForThisCluster>[1]>, want: boolean]
> = {
  'passes the namespace': [{ cluster: 'x' }, true],
  'refuses another cluster': [{ cluster: 'y' }, false],
  'refuses no cluster': [{ cluster: '' }, false],
  'refuses the namespace in another case': [{ cluster: 'X' }, false],
  'exempts /metrics': [{ path: '/metrics' }, true],
  'exempts /ready': [{ path: '/ready' }, true],
  'exempts /live': [{ path: '/live' }, true],
  'exempts all below /debug/pprof': [{ path: '/debug/pprof/heap' }, true],
  'exempts an excluded path': [{ path: '/admission/no-downscale' }, true],
  'refuses a webhook that is not excluded': [{ path: '/admission/pod-eviction' }, false],
  'exempts an excluded user agent': [{ userAgent: 'curl/8.1' }, true],
  'refuses a user agent that only holds an excluded one': [{ userAgent: 'my curl/8.1' }, false],
};
for (const [fact, [given, want]] of Object.entries(checks)) {
  test(`isForThisCluster() ${fact} (ME-40)`, () => {
    const asked = { path: '/a', userAgent: 'tester', cluster: '', ...given };
    assert.equal(isForThisCluster(strict, asked), want);
  });
}

test('isForThisCluster() passes everything while it is off', () => {
  const off = { ...strict, isEnabled: false };
  assert.equal(isForThisCluster(off, { path: '/a', userAgent: '', cluster: 'y' }), true);
});
