import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Instant, instant, millis } from '#base/units.ts';
import type { PodCall } from '../cluster/answering-pods.ts';
import { DownscaleProof } from './downscale-proof.ts';

function post(pod: string, given: Partial<PodCall> = {}): PodCall {
  const at = instant(0);
  return { pod, method: 'POST', at, took: millis(5), status: 200, preparedAt: at, ...given };
}

function proofOf(prepared: Readonly<Record<string, Instant>> = {}): DownscaleProof {
  return new DownscaleProof((pod) => prepared[pod]);
}

test('shrunk() measures each pod from when it was prepared to the commit that took it', () => {
  const proof = proofOf({ 'db-2': instant(1_000), 'db-3': instant(4_000) });
  proof.shrunk({
    set: 'db',
    zone: 'a',
    from: 5,
    to: 2,
    at: instant(6_500),
    notedAt: instant(6_499),
  });
  assert.deepEqual(proof.departures, [
    { pod: 'db-2', waited: 5_500 },
    { pod: 'db-3', waited: 2_500 },
    { pod: 'db-4', waited: undefined },
  ]);
});

test('called() counts how often a pod was asked, how often it said not yet, and who was slowest', () => {
  const proof = proofOf();
  proof.called(post('db-2', { status: 503, preparedAt: undefined }));
  proof.called(post('db-2'));
  proof.called(post('db-3', { took: millis(900) }));
  proof.called(post('db-0', { method: 'DELETE', took: millis(2_000) }));
  assert.deepEqual(
    [...proof.asked],
    [
      ['db-2', 2],
      ['db-3', 1],
    ],
  );
  assert.deepEqual([...proof.refusals], [['db-2', 1]]);
  assert.deepEqual(proof.slowest, { pod: 'db-3', took: 900 });
});

test('closest is the shortest time between two zones, whatever one zone does by itself', () => {
  const proof = proofOf();
  const shrink = (zone: string, at: number): void =>
    proof.shrunk({ set: zone, zone, from: 2, to: 1, at: instant(at), notedAt: instant(at - 1) });
  shrink('a', 0);
  assert.equal(proof.closest, undefined);
  shrink('a', 100);
  shrink('b', 7_100);
  shrink('c', 13_200);
  assert.equal(proof.closest, 6_101);
  assert.deepEqual(proof.zones, ['a', 'b', 'c']);
});

test('reset() forgets all', () => {
  const proof = proofOf();
  proof.called(post('db-2', { status: 503 }));
  proof.shrunk({ set: 'db', zone: 'a', from: 3, to: 2, at: instant(1), notedAt: instant(1) });
  proof.reset();
  const { departures, asked, refusals, slowest, zones, closest } = proof;
  assert.deepEqual([departures, [...asked], [...refusals], zones], [[], [], [], []]);
  assert.deepEqual([slowest, closest], [undefined, undefined]);
});
