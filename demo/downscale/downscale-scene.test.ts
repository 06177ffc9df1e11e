import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectAt } from '#cluster/json/read-json.ts';
import { DownscaleScene, downscaleTimesAt } from './downscale-scene.ts';

function scene(pods: number | undefined): DownscaleScene {
  return new DownscaleScene({ proxy: 'http://127.0.0.1:1', times: downscaleTimesAt(2), pods });
}

const set = {
  kind: 'StatefulSet',
  metadata: {
    name: 'db',
    labels: { 'rollout-group': 'db' },
    annotations: {
      'grafana.com/min-time-between-zones-downscale': '12h',
      'grafana.com/rollout-delayed-downscale': '13h',
      other: 'kept',
    },
  },
  spec: { replicas: 6 },
};

test('change() makes hours of a set seconds, divided by the speed, and keeps the rest', () => {
  assert.deepEqual(scene(4).change(set), {
    kind: 'StatefulSet',
    metadata: {
      name: 'db',
      labels: { 'rollout-group': 'db' },
      annotations: {
        'grafana.com/min-time-between-zones-downscale': '3s',
        'grafana.com/rollout-delayed-downscale': '2000ms',
        other: 'kept',
      },
    },
    spec: { replicas: 4 },
  });
});

test('change() gives what is mirrored the count of the sets, and leaves everything else alone', () => {
  const template = { kind: 'ReplicaTemplate', spec: { replicas: 6, labelSelector: 'app=db' } };
  assert.deepEqual(objectAt(scene(4).change(template), 'spec'), {
    replicas: 4,
    labelSelector: 'app=db',
  });
  assert.equal(scene(undefined).change(template), template);
  const service = { kind: 'Service', spec: {} };
  assert.equal(scene(4).change(service), service);
});

test('downscaleTimesAt() never lets a pod be later than the operator waits', () => {
  assert.deepEqual(downscaleTimesAt(0.1), {
    delay: 40_000,
    minimumTime: 60_000,
    late: 1_500,
    refusals: 3,
  });
  assert.deepEqual(downscaleTimesAt(10), {
    delay: 400,
    minimumTime: 600,
    late: 150,
    refusals: 1,
  });
});

test('next() names the zones that are not where the autoscaler wants them', () => {
  const zone = (name: string, pods: number): Parameters<DownscaleScene['next']>[0][number] => ({
    set: name,
    zone: name,
    cells: Array.from({ length: pods }, (_, index) => ({
      pod: `${name}-${index}`,
      state: 'ready',
      isUpdated: true,
      trouble: '',
    })),
    current: 'r',
    target: 'r',
    isObserved: true,
    limit: 1,
    unavailable: 0,
    outdated: 0,
  });
  const it = scene(undefined);
  const zones = [zone('a', 3), zone('b', 6), zone('c', 6)];
  assert.equal(it.next(zones), 'nothing: every zone has what is wanted');
  it.want(3);
  assert.equal(it.next(zones), 'b, then c go to 3 pods');
  assert.equal(it.next(zones.slice(0, 2)), 'b goes to 3 pods');
});
