import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { OwnedObject } from './owner-graph.ts';
import { type OwnerState, planCollection } from './plan-collection.ts';

function plan(
  states: readonly OwnerState[],
  more: Partial<OwnedObject> & { readonly hasDependents?: boolean } = {},
): string {
  const owners = states.map((state, index) => ({
    owner: { apiVersion: 'v1', kind: 'ConfigMap', name: `o${index}`, uid: `u${index}` },
    state,
  }));
  const object: OwnedObject = {
    namespace: 'demo',
    name: 'dependent',
    uid: 'uid',
    resourceVersion: '1',
    type: resourceTypes.configMaps,
    owners: owners.map(({ owner }) => owner),
    isDeleting: false,
    finalizers: [],
    ...more,
  };
  const decision = planCollection(object, owners, more.hasDependents ?? false);
  if (decision.kind === 'delete') return `delete ${decision.policy}`;
  return decision.kind === 'keep' ? 'keep' : `drop ${decision.uids.join(' ')}`;
}

const cases: Record<string, { readonly got: string; readonly want: string }> = {
  '[cluster 48] keeps what has an owner': { got: plan(['present']), want: 'keep' },
  '[cluster 48] keeps what never had one': { got: plan([]), want: 'keep' },
  '[cluster 48] deletes what has lost its owner': {
    got: plan(['gone']),
    want: 'delete Background',
  },
  '[cluster 48] deletes only when every owner is gone': {
    got: plan(['gone', 'gone']),
    want: 'delete Background',
  },
  '[cluster 48] drops the reference to a gone owner while another stays': {
    got: plan(['gone', 'present']),
    want: 'drop u0',
  },
  '[cluster 48] deletes what a waiting owner waits for': {
    got: plan(['waiting']),
    want: 'delete Background',
  },
  '[cluster 48] waits in turn for its own dependents': {
    got: plan(['waiting'], { hasDependents: true }),
    want: 'delete Foreground',
  },
  'leaves what is being deleted alone': { got: plan(['gone'], { isDeleting: true }), want: 'keep' },
};

for (const [fact, { got, want }] of Object.entries(cases)) {
  test(`planCollection() ${fact}`, () => {
    assert.equal(got, want);
  });
}
