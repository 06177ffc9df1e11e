/**
 * What is said within a minute when others change the set of a kind that is at rest: the status, the gauge of blocked groups, and the
 * Events about the resource (of a group: about the set).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockedBy } from '../stages/rollout-stage.ts';
import { afterAMinute, atRest, type ChangeName, type RestingName } from './at-rest-stage.ts';

interface Row {
  readonly kind: RestingName;
  /** What happens to its set. */
  readonly change: ChangeName;
  readonly says: string;
  readonly told: readonly string[];
  /** The reason in the gauge of blocked groups. @default none */
  readonly blocked?: string;
}

const rows: readonly Row[] = [
  { kind: 'group', change: 'is deleted with its pods', says: '', told: [] },
  {
    kind: 'group',
    change: 'is deleted without its pods',
    says: '',
    told: ['Normal ZoneNotReady', 'Warning PodWithoutController'],
  },
  { kind: 'group', change: 'is scaled to nothing', says: '', told: ['Normal ZoneNotReady'] },
  { kind: 'group', change: 'is scaled to four', says: '', told: ['Normal ZoneNotReady'] },
  {
    kind: 'group',
    change: 'gets another strategy',
    says: '',
    told: ['Warning WrongUpdateStrategy'],
    blocked: 'WrongUpdateStrategy',
  },
  {
    kind: 'group',
    change: 'gets another partition',
    says: '',
    told: ['Warning WrongUpdateStrategy'],
    blocked: 'WrongUpdateStrategy',
  },
  { kind: 'group', change: 'loses its labels', says: '', told: [] },
  {
    kind: 'group',
    change: 'loses a pod that is not made again',
    says: '',
    told: ['Normal ZoneNotReady'],
    blocked: 'ZoneNotReady',
  },
  {
    kind: 'ZoneAwareUpdate',
    change: 'is deleted with its pods',
    says: 'Progressing False SetNotFound: There is no StatefulSet web in the namespace',
    told: ['Warning SetNotFound'],
  },
  {
    kind: 'ZoneAwareUpdate',
    change: 'is deleted without its pods',
    says: 'Progressing False SetNotFound: There is no StatefulSet web in the namespace',
    told: ['Warning SetNotFound'],
  },
  {
    kind: 'ZoneAwareUpdate',
    change: 'is scaled to nothing',
    says: 'Progressing True Updated: Every pod of web runs web-hash',
    told: ['Normal AwaitingPods'],
  },
  {
    kind: 'ZoneAwareUpdate',
    change: 'is scaled to four',
    says: 'Progressing True Updated: Every pod of web runs web-hash',
    told: ['Normal AwaitingPods'],
  },
  {
    kind: 'ZoneAwareUpdate',
    change: 'gets another strategy',
    says: 'Progressing False WrongUpdateStrategy: web has the update strategy RollingUpdate instead of OnDelete',
    told: ['Warning WrongUpdateStrategy'],
  },
  {
    kind: 'ZoneAwareUpdate',
    change: 'gets another partition',
    says: 'Progressing False WrongUpdateStrategy: web has the update strategy RollingUpdate instead of OnDelete',
    told: ['Warning WrongUpdateStrategy'],
  },
  {
    kind: 'ZoneAwareUpdate',
    change: 'loses its labels',
    says: 'Progressing True Updated: Every pod of web runs web-hash',
    told: [],
  },
  {
    kind: 'ZoneAwareUpdate',
    change: 'loses a pod that is not made again',
    says: 'Progressing True AwaitingPods: 1 pod is away: web-1',
    told: ['Normal AwaitingPods'],
  },
  {
    kind: 'PhasedRollout',
    change: 'is deleted with its pods',
    says: 'ErrorSTSNotFound: There is no StatefulSet db in the namespace (partition 0)',
    told: ['Warning SetNotFound'],
  },
  {
    kind: 'PhasedRollout',
    change: 'is deleted without its pods',
    says: 'ErrorSTSNotFound: There is no StatefulSet db in the namespace (partition 0)',
    told: ['Warning SetNotFound'],
  },
  {
    kind: 'PhasedRollout',
    change: 'is scaled to nothing',
    says: 'Updated: Every pod of db runs its revision (partition 0)',
    told: ['Normal UpdatesBlocked'],
  },
  {
    kind: 'PhasedRollout',
    change: 'is scaled to four',
    says: 'Updated: Every pod of db runs its revision (partition 4)',
    told: [],
  },
  {
    kind: 'PhasedRollout',
    change: 'gets another strategy',
    says: 'ErrorCannotManage: db has the update strategy OnDelete instead of RollingUpdate (partition 0)',
    told: ['Warning CannotManage', 'Warning WrongUpdateStrategy'],
  },
  {
    kind: 'PhasedRollout',
    change: 'gets another partition',
    says: 'Updated: Every pod of db runs its revision (partition 3)',
    told: [],
  },
  {
    kind: 'PhasedRollout',
    change: 'loses its labels',
    says: 'Updated: Every pod of db runs its revision (partition 3)',
    told: [],
  },
  {
    kind: 'PhasedRollout',
    change: 'loses a pod that is not made again',
    says: 'Updated: Every pod of db that is there runs its revision; 1 pod is not available: db-1 (partition 3)',
    told: ['Normal AwaitingAvailability'],
  },
  {
    kind: 'StatefulsetRollout',
    change: 'is deleted with its pods',
    says: 'RolloutDone Ready False SetNotFound: there is no StatefulSet carried any more; another version, percentage or rolloutIdentity makes it again',
    told: ['Warning SetNotFound'],
  },
  {
    kind: 'StatefulsetRollout',
    change: 'is deleted without its pods',
    says: 'RolloutDone Ready False SetNotFound: there is no StatefulSet carried any more; another version, percentage or rolloutIdentity makes it again',
    told: ['Warning SetNotFound'],
  },
  {
    kind: 'StatefulsetRollout',
    change: 'is scaled to nothing',
    says: 'RolloutDone Ready True RolloutDone: 0 of 0 pods at 100 percent are new and ready',
    told: [],
  },
  {
    kind: 'StatefulsetRollout',
    change: 'is scaled to four',
    says: 'RolloutDone Ready True RolloutDone: 4 of 4 pods at 100 percent are new and ready',
    told: [],
  },
  {
    kind: 'StatefulsetRollout',
    change: 'gets another strategy',
    says: 'RolloutDone Ready True RolloutDone: 3 of 3 pods at 100 percent are new and ready',
    told: [],
  },
  {
    kind: 'StatefulsetRollout',
    change: 'gets another partition',
    says: 'RolloutDone Ready True RolloutDone: 3 of 3 pods at 100 percent are new and ready',
    told: [],
  },
  {
    kind: 'StatefulsetRollout',
    change: 'loses its labels',
    says: 'RolloutDone Ready True RolloutDone: 3 of 3 pods at 100 percent are new and ready',
    told: [],
  },
  {
    kind: 'StatefulsetRollout',
    change: 'loses a pod that is not made again',
    says: 'RolloutDone Ready True RolloutDone: 2 of 3 pods are ready now, all but carried-1',
    told: [],
  },
  {
    kind: 'ZoneDisruptionBudget',
    change: 'is deleted with its pods',
    says: 'allowed 1,1,1 healthy 2,2,2 of 2,2,2',
    told: ['Warning UnsupportedController'],
  },
  {
    kind: 'ZoneDisruptionBudget',
    change: 'is deleted without its pods',
    says: 'allowed 1,1,1 healthy 5,5,5 of 5,5,5',
    told: [],
  },
  {
    kind: 'ZoneDisruptionBudget',
    change: 'is scaled to nothing',
    says: 'allowed 1,1,1 healthy 2,2,2 of 2,2,2',
    told: [],
  },
  {
    kind: 'ZoneDisruptionBudget',
    change: 'is scaled to four',
    says: 'allowed 1,1,1 healthy 4,3,3 of 4,3,3',
    told: [],
  },
  {
    kind: 'ZoneDisruptionBudget',
    change: 'gets another strategy',
    says: 'allowed 1,1,1 healthy 5,5,5 of 5,5,5',
    told: [],
  },
  {
    kind: 'ZoneDisruptionBudget',
    change: 'gets another partition',
    says: 'allowed 1,1,1 healthy 5,5,5 of 5,5,5',
    told: [],
  },
  {
    kind: 'ZoneDisruptionBudget',
    change: 'loses its labels',
    says: 'allowed 1,1,1 healthy 5,5,5 of 5,5,5',
    told: [],
  },
  {
    kind: 'ZoneDisruptionBudget',
    change: 'loses a pod that is not made again',
    says: 'allowed 0,0,0 healthy 5,5,4 of 5,5,5',
    told: [],
  },
];

for (const { kind, change, ...row } of rows) {
  test(`[found S-5] a ${kind} at rest says within a minute what is true when its set ${change}`, async () => {
    const resting = await atRest(kind);
    await afterAMinute(resting, kind, change);
    const blocked = await blockedBy(resting.world, resting.operator);
    const shown = { says: resting.says(), told: resting.told(), blocked };
    await resting.world.close();
    assert.deepEqual(shown, { blocked: undefined, ...row });
  });
}
