import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddressedPod } from './parse-addressed-pod.ts';
import { parsePod } from './parse-pod.ts';

const metadata = { namespace: 'demo', name: 'web-0', uid: 'u', resourceVersion: '1' };

test('parseAddressedPod() adds the addresses of the pod and of its node', () => {
  const status = { podIP: '10.1.0.7', hostIP: '10.9.0.1' };
  const { address } = parseAddressedPod({ metadata, status });
  assert.deepEqual(address, { pod: '10.1.0.7', host: '10.9.0.1' });
});

test('parseAddressedPod() is what parsePod() is for a pod without an address', () => {
  assert.deepEqual(parseAddressedPod({ metadata }), parsePod({ metadata }));
});

test('parsePod() keeps no address', () => {
  assert.equal('address' in parsePod({ metadata, status: { podIP: '10.1.0.7' } }), false);
});
