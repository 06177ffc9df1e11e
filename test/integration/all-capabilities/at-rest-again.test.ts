/** What a kind at rest says once that is undone which others did to its set: it comes back by itself, where its page says so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#support/world/world.ts';
import { NAMESPACE } from '#support/world/world-group.ts';
import { blockedBy } from '../stages/rollout-stage.ts';
import { createDb, patchAny } from './all-stage.ts';
import { createWeb } from './all-zones-stage.ts';
import { afterAMinute, atRest, type ChangeName, type RestingName } from './at-rest-stage.ts';

interface Row {
  readonly kind: RestingName;
  readonly change: ChangeName;
  /** Undoes it. */
  readonly undo: (world: World) => Promise<void>;
  readonly says: string;
}

const updated = 'Progressing True Updated: Every pod of web runs web-hash';
const done = 'RolloutDone Ready True RolloutDone: 3 of 3 pods at 100 percent are new and ready';

function onDelete(set: string): Row['undo'] {
  const updateStrategy = { type: 'OnDelete', rollingUpdate: null };
  return (world) => patchAny(world, set, { spec: { updateStrategy } });
}

const rows: Readonly<Record<string, Row>> = {
  'a ZoneAwareUpdate, once its set is there again': {
    kind: 'ZoneAwareUpdate',
    change: 'is deleted with its pods',
    undo: createWeb,
    says: updated,
  },
  'a ZoneAwareUpdate, once its set has the strategy OnDelete again': {
    kind: 'ZoneAwareUpdate',
    change: 'gets another strategy',
    undo: onDelete('web'),
    says: updated,
  },
  'a PhasedRollout, once its set is there again': {
    kind: 'PhasedRollout',
    change: 'is deleted with its pods',
    undo: createDb,
    says: 'Updated: Every pod of db runs its revision (partition 3)',
  },
  'a PhasedRollout, once its set has the strategy RollingUpdate again': {
    kind: 'PhasedRollout',
    change: 'gets another strategy',
    undo: (world) => patchAny(world, 'db', { spec: { updateStrategy: { type: 'RollingUpdate' } } }),
    says: 'Updated: Every pod of db runs its revision (partition 3)',
  },
  'a StatefulsetRollout, once another identity asks for its set': {
    kind: 'StatefulsetRollout',
    change: 'is deleted with its pods',
    undo: async (world) => {
      const key = { namespace: NAMESPACE, name: 'sr' };
      const body = { kind: 'merge', document: { spec: { rolloutIdentity: 'again' } } } as const;
      await world.run(world.admin.patch(resourceTypes.statefulsetRollouts, key, { body }));
    },
    says: done,
  },
  'a StatefulsetRollout, once its set has three replicas again': {
    kind: 'StatefulsetRollout',
    change: 'is scaled to nothing',
    undo: (world) => patchAny(world, 'carried', { spec: { replicas: 3 } }),
    says: done,
  },
  'a group, once its set has the strategy OnDelete again': {
    kind: 'group',
    change: 'gets another strategy',
    undo: onDelete('ingester-zone-b'),
    says: '',
  },
};

for (const [who, { kind, change, undo, says }] of Object.entries(rows)) {
  test(`[found S-5] ${who}, says within a minute what it said before`, async () => {
    const resting = await atRest(kind);
    const { world, operator } = resting;
    const before = resting.says();
    await afterAMinute(resting, kind, change);
    await undo(world);
    await world.clock.advance(minutes(1));
    const shown = [resting.says(), await blockedBy(world, operator)];
    await world.close();
    assert.deepEqual([before, ...shown], [says, says, undefined]);
  });
}
