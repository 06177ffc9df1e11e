import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, seconds } from '#base/units.ts';
import { OpenDisruptions } from '#control/write/open-disruptions.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { FakeInformer } from '#support/api-server/fake-informer.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { podView, statefulSetView } from '#support/objects/views.ts';
import { LetGoPods } from './let-go-pods.ts';

test('a pod that a partition was to let go counts as going for 120 s, and no longer where nothing came of it', () => {
  const clock = new ManualClock();
  const none = { clock, indexers: {} };
  const letGo = new LetGoPods({
    clock,
    statefulSets: new FakeInformer({
      ...none,
      type: resourceTypes.statefulSets,
      project: () => statefulSetView({}),
    }),
    pods: new FakeInformer({ ...none, type: resourceTypes.pods, project: () => podView({}) }),
    open: new OpenDisruptions(),
    isOurs: () => true,
  });
  const pod = podView({ name: 'web-2' });
  assert.equal(letGo.isUnderWay(pod.uid), false);
  letGo.sent(pod);
  clock.advance(millis(119_999));
  assert.equal(letGo.isUnderWay(pod.uid), true);
  clock.advance(millis(1));
  assert.equal(letGo.isUnderWay(pod.uid), false);
  letGo.sent(pod);
  clock.advance(seconds(1));
  assert.equal(letGo.isUnderWay(pod.uid), true);
});
