import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { statefulSetView } from '#support/objects/views.ts';
import {
  groupKind,
  groupOwners,
  OwnersOfSets,
  type SetName,
  type SetOwners,
} from './owners-of-sets.ts';

/** A kind that names the sets `named`. */
function kind(name: string, ...named: readonly string[]): SetOwners {
  return {
    kind: name,
    naming: (set) => (named.includes(set.name) ? [`${name} of ${set.name}`] : []),
  };
}

const grouped = statefulSetView({ name: 'a', labels: { 'rollout-group': 'ingester' } });

function withStrategy(updateStrategy: string, labels = grouped.labels): typeof grouped {
  return { ...grouped, labels, spec: { ...grouped.spec, updateStrategy } };
}

describe('groupOwners', () => {
  test('names a set by its label only where its strategy is OnDelete', () => {
    assert.deepEqual(groupOwners.naming(withStrategy('OnDelete')), ['rollout group ingester']);
    assert.deepEqual(groupOwners.naming(withStrategy('RollingUpdate')), []);
    assert.deepEqual(groupOwners.naming(withStrategy('OnDelete', {})), []);
  });

  test('names the group of the empty label, too', () => {
    const set = withStrategy('OnDelete', { 'rollout-group': '' });
    assert.deepEqual(groupOwners.naming(set), ['rollout group ""']);
  });
});

describe('OwnersOfSets', () => {
  const set = withStrategy('OnDelete');

  test('tells each kind what of the others names a set that it names, too', () => {
    const owners = new OwnersOfSets([groupOwners, kind('X', 'a'), kind('Y', 'a'), kind('Z')]);
    assert.deepEqual(owners.besides(groupKind).conflicts(set), ['X of a', 'Y of a']);
    assert.deepEqual(owners.besides('Y').conflicts(set), ['rollout group ingester', 'X of a']);
  });

  test('has no conflict of a kind with itself, nor over a set that who asks does not name', () => {
    const owners = new OwnersOfSets([groupOwners, kind('X', 'a'), kind('Y')]);
    assert.deepEqual(owners.besides('X').conflicts(withStrategy('RollingUpdate')), []);
    assert.deepEqual(owners.besides('Y').conflicts(set), []);
    assert.deepEqual(
      new OwnersOfSets([kind('X', 'a'), kind('X', 'a')]).besides('X').conflicts(set),
      [],
    );
  });

  test('does not know of a kind that is being read, but for that kind itself', () => {
    const owners = new OwnersOfSets([groupOwners, { ...kind('X'), unknown: () => 'X is read' }]);
    assert.equal(owners.besides(groupKind).unknown(), 'X is read');
    assert.equal(owners.besides('X').unknown(), undefined);
  });

  test('wakes for the sets of which any kind tells', () => {
    const woken: SetName[] = [];
    const telling: SetOwners = {
      ...kind('X'),
      onChange: (wake) => wake({ namespace: 'test', name: 'a' }),
    };
    new OwnersOfSets([groupOwners, telling]).onChange((name) => woken.push(name));
    assert.deepEqual(woken, [{ namespace: 'test', name: 'a' }]);
  });
});
