import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../judge/story.ts';
import { ingesterGroup, rawStatefulSet } from '../objects/objects.ts';
import { T0 } from '../objects/views.ts';
import { setFacts } from './facts.ts';
import { History, latestView, viewAt } from './history.ts';

const zoneA = setFacts(rawStatefulSet());

function historyOf(story: Story): History {
  const history = new History();
  for (const commit of story.commits) history.apply(commit);
  return history;
}

test('unavailableSlots() counts a pod that is missing, one not ready and one terminating', () => {
  const story = new Story(ingesterGroup({ replicas: 4 }))
    .gone('ingester-zone-a-0')
    .ready('ingester-zone-a-1', false)
    .remove('ingester-zone-a-3');
  const history = historyOf(story);
  const set = setFacts(story.set('ingester-zone-a'));
  assert.deepEqual(history.unavailableSlots(set, latestView(T0)), [0, 1, 3]);
});

test('unavailableSlots() looks back to the revision of the view', () => {
  const story = new Story(ingesterGroup());
  const before = story.revision;
  const history = historyOf(story.gone('ingester-zone-a-0'));
  assert.deepEqual(history.unavailableSlots(zoneA, viewAt(before, T0)), []);
});

test('unavailableSlots() counts slots up to the larger of wanted and present replicas', () => {
  const story = new Story(ingesterGroup()).changeSet('ingester-zone-a', { spec: { replicas: 5 } });
  const set = setFacts(story.set('ingester-zone-a'));
  assert.deepEqual(historyOf(story).unavailableSlots(set, latestView(T0)), [3, 4]);
});

test('unavailableSlots() begins at ordinals.start', () => {
  const story = new Story(ingesterGroup());
  story.changeSet('ingester-zone-a', { spec: { ordinals: { start: 2 } } });
  const set = setFacts(story.set('ingester-zone-a'));
  assert.deepEqual(historyOf(story).unavailableSlots(set, latestView(T0)), [3, 4]);
});

test('members() follows a set that moves to another group', () => {
  const story = new Story(ingesterGroup());
  const before = story.revision;
  story.changeSet('ingester-zone-b', { metadata: { labels: { 'rollout-group': 'other' } } });
  const history = historyOf(story);
  const names = (revision: number): readonly string[] =>
    history.members('group test/ingester', viewAt(revision, T0)).map((set) => set.name);
  assert.deepEqual(names(before), ['ingester-zone-a', 'ingester-zone-b', 'ingester-zone-c']);
  assert.deepEqual(names(before + 1), ['ingester-zone-a', 'ingester-zone-c']);
});

test('isSlotGone() is true once the set is deleted, and once it has shrunk', () => {
  const story = new Story(ingesterGroup());
  story.changeSet('ingester-zone-a', { spec: { replicas: 1 }, status: { replicas: 1 } });
  const history = historyOf(story.setGone('ingester-zone-b'));
  const now = latestView(T0);
  assert.equal(history.isSlotGone('ingester-zone-a-uid', 0, now), false);
  assert.equal(history.isSlotGone('ingester-zone-a-uid', 1, now), true);
  assert.equal(history.isSlotGone('ingester-zone-b-uid', 0, now), true);
});

test('isSlotGone() is true once another set has the name', () => {
  const story = new Story(ingesterGroup());
  story.changeSet('ingester-zone-a', { metadata: { uid: 'a-new-uid' } });
  const history = historyOf(story);
  assert.equal(history.isSlotGone('ingester-zone-a-uid', 0, latestView(T0)), true);
  assert.equal(history.isSlotGone('a-new-uid', 0, latestView(T0)), false);
});
