import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import { type FactDetail, factLine, factText, operatorUser } from './facts.ts';

const because = { reason: 'PodOutdated', message: 'db-0 runs db-1a' };

const cases: Record<string, { fact: FactDetail; want: string }> = {
  'says who deleted a pod and why': {
    fact: { kind: 'deleted', pod: 'db-0', by: operatorUser, because },
    want: 'db-0  deleted by the operator: db-0 runs db-1a (PodOutdated)',
  },
  'names a person that deleted a pod': {
    fact: { kind: 'deleted', pod: 'db-0', by: 'system:admin', because: undefined },
    want: 'db-0  deleted by system:admin',
  },
  'names a controller without its account': {
    fact: {
      kind: 'deleted',
      pod: 'db-0',
      by: 'system:serviceaccount:kube-system:statefulset-controller',
      because: undefined,
    },
    want: 'db-0  deleted by statefulset-controller',
  },
  'says who scaled a set and why': {
    fact: { kind: 'scaled', set: 'db', from: 6, to: 4, by: operatorUser, because },
    want: 'from 6 to 4 replicas, by the operator: db-0 runs db-1a (PodOutdated)',
  },
  'shortens a revision to its hash': {
    fact: { kind: 'ready', pod: 'db-0', revision: 'db-6f7c9d' },
    want: 'db-0  ready on 6f7c9d',
  },
  'gives the reason of a hold': {
    fact: { kind: 'waits', because: { reason: 'ZoneNotReady', message: 'db is not ready' } },
    want: 'waits: db is not ready (ZoneNotReady)',
  },
  'names the image that cannot be pulled': {
    fact: { kind: 'broken', pod: 'db-0', trouble: 'ImagePullBackOff', image: 'db:broken' },
    want: 'db-0  ImagePullBackOff: db:broken',
  },
  'says what a set wants': {
    fact: { kind: 'wanted', revision: 'db-6f7c9d', image: 'db:2' },
    want: 'wants revision 6f7c9d (db:2)',
  },
  'says that a zone is done': {
    fact: { kind: 'updated', pods: 6, revision: 'db-6f7c9d' },
    want: 'done: all 6 pods run 6f7c9d',
  },
  'says that a zone is installed': {
    fact: { kind: 'installed', pods: 6 },
    want: 'all 6 pods are ready',
  },
  'says that a pod fell ill': {
    fact: { kind: 'unready', pod: 'db-0' },
    want: 'db-0  no longer ready',
  },
};

for (const [title, { fact, want }] of Object.entries(cases)) {
  test(`factText() ${title}`, () => {
    assert.equal(factText(fact), want);
  });
}

test('factLine() begins with the time and the zone', () => {
  const fact = { at: millis(3_214), zone: 'zone-a', kind: 'unready', pod: 'db-0' } as const;
  assert.equal(factLine(fact), '  3.21 s  zone-a  db-0  no longer ready');
});
