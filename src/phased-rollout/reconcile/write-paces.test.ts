import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant, monotonic } from '#base/units.ts';
import { WritePaces } from './write-paces.ts';

const at = { now: instant(1_700_000_000_000), monotonic: monotonic(1_000) };

function partitionOf(from: number, to: number) {
  return {
    kind: 'set-partition',
    set: { namespace: 'demo', name: 'web', uid: 'web-uid' },
    revision: '7',
    from,
    to,
    because: { reason: 'UpdatesBlocked', message: 'blocked' },
  } as const;
}

test('a partition that another client keeps setting back is written at growing intervals, another one at once', () => {
  const paces = new WritePaces();
  const up = partitionOf(0, 3);
  paces.written(up, 'rollout-uid', at);
  paces.written(up, 'rollout-uid', at);
  assert.equal(paces.pauseOf(up, 'rollout-uid', at), undefined);
  paces.written(up, 'rollout-uid', at);
  assert.equal(paces.pauseOf(up, 'rollout-uid', at)?.because.reason, 'PartitionContested');
  assert.equal(paces.pauseOf(partitionOf(3, 2), 'rollout-uid', at), undefined);
});
